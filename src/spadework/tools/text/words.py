"""Where words begin and end."""

from __future__ import annotations

import re

#: Scripts that put no spaces between words: Thai and Lao, Burmese, Khmer, and the East Asian ones.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
#: The letters of these scripts, and of Korean, whose words carry their endings with them: as the
#: inside of a character class. Vowels that are marks are among them.
RUN_SIGNS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1100-\u11ff"
    "\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
RUN = re.compile(f"[{RUN_SIGNS}]+")


def in_spaced_word(char: str) -> bool:
    """Whether a character is of a word in a script with spaces, or `_`. False for ""."""
    if char.isascii():
        return char.isalnum() or char == "_"
    return char.isalnum() and not _UNSPACED.match(char)


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is of whole words and numbers: not "mid" of "middle"."""
    return not _is_joined(text, start) and not _is_joined(text, end)


def _is_joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of a place belong to one word or one number."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if in_spaced_word(left) and in_spaced_word(right):
        return True
    power = at if right == "^" else at - 1 if left == "^" else 0
    if power:  # 10^6, x^(n+1)
        return text[power - 1].isalnum() and not text[power + 1 : power + 2].isspace()
    if left in ".," and right.isdigit():
        return text[at - 2 : at - 1].isdigit()
    return left.isdigit() and right in ".," and text[at + 1 : at + 2].isdigit()

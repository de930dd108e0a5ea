"""Where words begin and end."""

from __future__ import annotations

#: Scripts that put no spaces between words: Thai and Lao, Burmese, Khmer, and the East Asian ones.
_UNSPACED = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u2e80", "\U0010ffff"),
)


def in_spaced_word(char: str) -> bool:
    """Whether a character is a letter, digit or `_` of a script whose words stand between spaces.
    False for "".
    """
    if char.isascii():
        return char.isalnum() or char == "_"
    return char.isalnum() and not any(first <= char <= last for first, last in _UNSPACED)


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` begins and ends where words and numbers do: not "mid" of "middle",
    nor "1" of "1.5" or "1,000".
    """
    return not _joined(text, start) and not _joined(text, end)


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of a place belong to one word or one number."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if in_spaced_word(left) and in_spaced_word(right):
        return True
    if left in ".," and right.isdigit():
        return text[at - 2 : at - 1].isdigit()
    return left.isdigit() and right in ".," and text[at + 1 : at + 2].isdigit()

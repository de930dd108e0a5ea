"""The marks of a text as they are asked for, however a model has spelled them."""

from __future__ import annotations

import re
from collections.abc import Callable

MARK_IDS = r"\[\s*(E\d+(?:\s*[+,;/]\s*E\d+)*)\s*(→|->|⟶)?\s*\]"
#: Code within a sentence.
_IN_CODE = re.compile(r"(`[^`\n]+`)")
#: Marks as they are also written: other brackets, small letters, ranges, an arrow behind each id.
_ARROW = "→|->|⟶"
_ONE = rf"[eE]\d{{1,9}}\s*(?:[-–—]\s*[eE]?\d{{1,9}})?\s*(?:{_ARROW})?"
_LOOSE = re.compile(rf"[\[【]\s*({_ONE}(?:\s*[+,;/&]\s*{_ONE})*)\s*[\]】]")
_RANGE = re.compile(r"[eE](\d+)(\s*[-–—]\s*[eE]?(\d+))?")
#: What joins two marks of one sentence: a comma, or a short word before its end.
_JOINED = re.compile(
    rf"({MARK_IDS})\s*(?:[,;&]|[^\W\d_]{{1,3}}(?=\s*{MARK_IDS}\s*(?:[.!?;]|$)))\s*(?=\[\s*E\d)"
)
MOST_IN_RANGE = 12


def uniform(text: str) -> str:
    """A text with its marks as asked for: one bracket of single ids, in capitals; but for code."""
    return beside_code(text, _uniform)


def beside_code(text: str, change: Callable[[str], str]) -> str:
    """A text of which what is no code within it is changed."""
    parts = _IN_CODE.split(text)
    return "".join(part if n % 2 else change(part) for n, part in enumerate(parts))


def _uniform(text: str) -> str:
    text = _LOOSE.sub(lambda found: _bracket(found[1]), text)
    joined = None
    while joined != text:
        joined, text = text, _JOINED.sub(r"\1 ", text)
    return text


def _bracket(inside: str) -> str:
    """A mark of the ids that stand in a bracket; those of a range one by one."""
    ids: list[int] = []
    for first, _, last in _RANGE.findall(inside):
        low, high = int(first), int(last or first)
        ids += range(low, high + 1) if 0 <= high - low < MOST_IN_RANGE else [low, high]
    arrow = "→" if re.search(_ARROW, inside) else ""
    return f"[{', '.join(f'E{n}' for n in ids)}{arrow}]"

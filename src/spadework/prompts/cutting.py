"""Making a message shorter without breaking it: its text from pages is cut, its marks and its task
stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spadework.prompts import FENCE

#: A marked block. Forged marks inside are broken, so that it ends where it says.
_BLOCK = re.compile(rf"(?<=<{FENCE}>\n).*?(?=\n</{FENCE}>)", re.DOTALL)
#: Where a text is cut, if in its second half: after a line or a sentence, else after a word.
_ENDS = ("\n", ". ", " ")


def shortened(message: str, chars: int) -> str:
    """The message with `chars` characters at most, where that can be: its longest blocks are cut to
    one length, and what stands around them stays. One without blocks is cut before its last
    paragraph, which is the task.
    """
    blocks = [found.group() for found in _BLOCK.finditer(message)]
    around = len(message) - sum(map(len, blocks))
    most = _common_length([len(block) for block in blocks], chars - around)
    cut = iter([_cut(block, most) for block in blocks])
    shorter = _BLOCK.sub(lambda _: next(cut), message)
    return shorter if len(shorter) <= chars or blocks else _around_the_task(message, chars)


def _common_length(lengths: Sequence[int], room: int) -> int:
    """The length to which the longest must be cut so that all together have room."""
    left = max(0, room)
    for n, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - n)
        if length > share:
            return share
        left -= length
    return max(lengths, default=0)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    text = text[:most]
    ends = (text.rfind(end) + len(end.rstrip(" ")) for end in _ENDS if end in text)
    return text[: next((end for end in ends if end > most // 2), most)].rstrip()


def _around_the_task(message: str, chars: int) -> str:
    """A message without blocks, cut before its last paragraph."""
    told, gap, task = message.rpartition("\n\n")
    if not told:
        return _cut(message, chars)
    return _cut(told, max(0, chars - len(gap) - len(task))) + gap + task

"""Shorten requests by dropping the least valuable parts; the frame and the task stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from spadework.prompts import FENCE, Kind, Prompt

#: A tagged block. Forged tags inside are broken, so it ends at the real closing tag.
_BLOCK = re.compile(rf"(?<=<{FENCE}>\n).*?(?=\n</{FENCE}>)", re.DOTALL)
#: Preferred ends of a cut text, in its second half: after a line, a sentence, or a word.
_ENDS = ("\n", ". ", " ")
#: Characters to which long passages are cut before more are dropped. On 61 dev questions (27
#: passages each, 78 facts) at a quarter of the characters, all 78 facts remain, versus 73 with
#: 1,000, 53 with 600, and 16 if all are cut to one length.
ESSENTIAL = 1_500
#: Kinds in the order in which they are dropped.
_ORDER: tuple[Kind, ...] = ("page", "evidence")


class _Piece(NamedTuple):
    """A piece of the message. `kind` is "" for the frame."""

    kind: str
    text: str


def shorten_prompt(prompt: Prompt, chars: int) -> str:
    """Return the user message with at most `chars` characters, if possible.

    Pages come first, then evidence: the lower-ranked half is dropped, long pages are cut to a
    common length of at least ESSENTIAL, then all but the first are dropped. If that is not enough,
    blocks outside parts are cut, then the remaining parts. A message without parts and blocks is
    cut before its last paragraph, the task.
    """
    pieces = _pieces(prompt)
    own = {kind: [n for n, piece in enumerate(pieces) if piece.kind == kind] for kind in _ORDER}
    frame = [n for n, piece in enumerate(pieces) if not piece.kind]
    for kind in _ORDER:
        _leave_out(pieces, own[kind][(len(own[kind]) + 1) // 2 :], chars)
        if kind == "page":
            _cut_blocks(pieces, own[kind], chars, ESSENTIAL)
        _leave_out(pieces, own[kind][1:], chars)
    _cut_blocks(pieces, frame, chars, 0)
    _cut_blocks(pieces, own["page"], chars, 0)
    for kind in _ORDER:
        _leave_out(pieces, own[kind], chars)
    shorter = "".join(piece.text for piece in pieces)
    if len(shorter) <= chars or prompt.parts or _BLOCK.search(prompt.user):
        return shorter
    told, gap, task = prompt.user.rpartition("\n\n")
    if not told:
        return _cut(prompt.user, chars)
    return _cut(told, max(0, chars - len(gap) - len(task))) + gap + task


def _pieces(prompt: Prompt) -> list[_Piece]:
    pieces, at = [], 0
    for part in prompt.parts:
        pieces.append(_Piece("", prompt.user[at : part.start]))
        pieces.append(_Piece(part.kind, prompt.user[part.start : part.end]))
        at = part.end
    return [*pieces, _Piece("", prompt.user[at:])]


def _over(pieces: Sequence[_Piece], chars: int) -> int:
    return sum(len(piece.text) for piece in pieces) - chars


def _leave_out(pieces: list[_Piece], candidates: Sequence[int], chars: int) -> None:
    over = _over(pieces, chars)
    for n in reversed(candidates):
        if over <= 0:
            break
        over -= len(pieces[n].text)
        pieces[n] = pieces[n]._replace(text="")


def _cut_blocks(pieces: list[_Piece], own: Sequence[int], chars: int, least: int) -> None:
    """Cut the longest blocks of these pieces to a common length of at least `least`."""
    lengths = [len(found) for n in own for found in _BLOCK.findall(pieces[n].text)]
    over = _over(pieces, chars)
    if over > 0 and lengths:
        most = max(least, _common_length(lengths, sum(lengths) - over))
        for n in own:
            text = _BLOCK.sub(lambda found: _cut(found.group(), most), pieces[n].text)
            pieces[n] = pieces[n]._replace(text=text)


def _common_length(lengths: Sequence[int], room: int) -> int:
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

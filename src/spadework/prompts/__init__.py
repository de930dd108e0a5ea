"""Prompts of the model roles: one Markdown file per role, rendered with strict variables.

Prompts contain no time, run id or completion order, so the same input gives the same prompt.

Parts that can be dropped to shorten a prompt are in `{% filter part(KIND) %}` blocks, best first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from jinja2 import Environment, StrictUndefined, Template

#: The tag around page text. `fence` makes forged copies harmless.
FENCE = "page_text"

#: Marks a quote's start and end within its context.
QUOTE = "¶"

#: Forged tags may have lookalike brackets, or invisible characters between letters.
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"
_FORGED = re.compile(
    rf"[<＜﹤⟨〈]({_UNSEEN}(?:[/／⁄]{_UNSEEN})?{_UNSEEN.join(FENCE)})", re.IGNORECASE
)


#: The kinds of prompt parts that can be dropped: page texts and earlier quotes.
Kind = Literal["page", "evidence"]

#: Unicode noncharacters that mark the start of a droppable part while a prompt is rendered.
_OPENING: dict[str, Kind] = {"\ufdd0": "page", "\ufdd1": "evidence"}
_CLOSING = "\ufdd2"
_MARKS = re.compile("([\ufdd0-\ufdd2])")
#: A tagged block. Forged closing tags cannot end it, because `fence` broke them.
_BLOCK = re.compile(rf"(?<=<{FENCE}>\n).*?(?=\n</{FENCE}>)", re.DOTALL)
#: Overlong text is cut at the end of a line, sentence or word, if there is one in the second half
#: of the allowed length.
_ENDS = ("\n", ". ", " ")
#: Long passages are cut to this many characters before further passages are dropped. With this
#: value, prompts shortened to a quarter of their length keep all 78 facts needed for 61 development
#: questions. With 1,000 characters, they keep 73 facts; with 600, they keep 53.
ESSENTIAL = 1_500
#: The order in which the kinds of parts are dropped.
_ORDER: tuple[Kind, ...] = ("page", "evidence")


class Part(NamedTuple):
    """A part of the user message that can be dropped to shorten it."""

    kind: Kind
    start: int
    end: int


class Prompt(NamedTuple):
    """The two messages of a request, and the user message's droppable parts."""

    system: str
    user: str
    parts: tuple[Part, ...] = ()


class Fenced(str):
    """Text with our own tags, which must not be escaped."""

    __slots__ = ()


def fence(text: str) -> str:
    """Wrap page text in a tag that no forged tag can close."""
    return Fenced(f"<{FENCE}>\n{_harmless(text)}\n</{FENCE}>")


def plain(text: str) -> str:
    """Return external text on one line, with forged tags disarmed."""
    return _harmless(" ".join(str(text).split()))


def _harmless(text: str) -> str:
    return _FORGED.sub(r"‹\1", str(text))


def describe_entry(entry: Any) -> str:
    """Describe a ledger entry for a prompt. QUOTE marks separate its quote from the context."""
    text, *around = (part.replace(QUOTE, " ") for part in (entry.quote, entry.before, entry.after))
    if any(around):
        text = f"\n{QUOTE}\n".join([around[0], text, around[1]]).strip()
    claim = [f"Its reader says: {plain(entry.claim)}"] if entry.claim else []
    return Fenced("\n".join([f"[{entry.id}] {plain(entry.about)}", fence(text), *claim]))


def part(text: str, kind: Kind) -> str:
    """Mark text that may be dropped if the prompt is too long."""
    opening = next(mark for mark, marked in _OPENING.items() if marked == kind)
    return f"{opening}{text}{_CLOSING}"


def _strip_prompt_marks(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return _MARKS.sub("", value if isinstance(value, Fenced) else _harmless(value))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        finalize=_strip_prompt_marks,
    )
    environment.filters |= {"fenced": fence, "plain": plain, "told": describe_entry, "part": part}
    return environment


def render(role: str, **variables: Any) -> Prompt:
    """Render a role's template, in which a line `---` separates the system and user messages.
    Raises jinja2.UndefinedError for a missing variable.
    """
    system, user = _templates(role)
    text, parts = _split_parts(user.render(variables).strip())
    return Prompt(system.render(variables).strip(), text, parts)


@lru_cache(maxsize=64)
def _templates(role: str) -> tuple[Template, Template]:
    source = (files(__name__) / f"{role}.md").read_text(encoding="utf-8")
    system, _, user = source.partition("\n---\n")
    environment = _environment()
    return environment.from_string(system), environment.from_string(user)


def _split_parts(marked: str) -> tuple[str, tuple[Part, ...]]:
    text, parts = "", []
    opened: tuple[Kind, int] | None = None
    for piece in _MARKS.split(marked):
        if piece in _OPENING:
            opened = _OPENING[piece], len(text)
        elif piece == _CLOSING:
            parts += [Part(*opened, len(text))] if opened else []
            opened = None
        else:
            text += piece
    return text, tuple(parts)


class _Piece(NamedTuple):
    """A piece of the message. `kind` is "" outside droppable parts."""

    kind: str
    text: str


def shorten_prompt(prompt: Prompt, chars: int) -> str:
    """Return the user message, cut to `chars` characters if possible. Page texts are cut first."""
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

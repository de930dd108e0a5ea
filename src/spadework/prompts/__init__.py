"""Prompts of the model roles: one Markdown file per role, rendered with strict variables.

Prompts contain no time, run id or completion order, so that the same work makes the same request.

The parts that may be dropped from an overlong request are in `{% filter part(KIND) %}` blocks, best
first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from jinja2 import Environment, StrictUndefined, Template

#: Tag around page text. `fence` breaks forged copies inside it.
FENCE = "page_text"

#: Marks the start and end of a quote within its context.
QUOTE = "¶"

#: Forged tags: similar brackets, or invisible characters between the letters.
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"
_FORGED = re.compile(
    rf"[<＜﹤⟨〈]({_UNSEEN}(?:[/／⁄]{_UNSEEN})?{_UNSEEN.join(FENCE)})", re.IGNORECASE
)


#: Kinds of droppable parts: a page's text, or an earlier quote.
Kind = Literal["page", "evidence"]

#: Unicode noncharacters that mark a part while a prompt is rendered.
_OPENING: dict[str, Kind] = {"\ufdd0": "page", "\ufdd1": "evidence"}
_CLOSING = "\ufdd2"
_MARKS = re.compile("([\ufdd0-\ufdd2])")


class Part(NamedTuple):
    """A droppable part of the user message."""

    kind: Kind
    start: int
    end: int


class Prompt(NamedTuple):
    """The two messages of a request, and the droppable parts of the user message."""

    system: str
    user: str
    parts: tuple[Part, ...] = ()


class Fenced(str):
    """Text that contains our own tags, which must not be escaped."""

    __slots__ = ()


def fence(text: str) -> str:
    """Wrap page text in the tag, so that no forged tag in the text can close it."""
    return Fenced(f"<{FENCE}>\n{_harmless(text)}\n</{FENCE}>")


def plain(text: str) -> str:
    """Return external text on one line, with forged tags broken."""
    return _harmless(" ".join(str(text).split()))


def _harmless(text: str) -> str:
    return _FORGED.sub(r"‹\1", str(text))


def describe_entry(entry: Any) -> str:
    """Describe a ledger entry by id, page, quote and claim. Any adjacent sentences surround the
    quote, which is then between marks.
    """
    text, *around = (part.replace(QUOTE, " ") for part in (entry.quote, entry.before, entry.after))
    if any(around):
        text = f"\n{QUOTE}\n".join([around[0], text, around[1]]).strip()
    claim = [f"Its reader says: {plain(entry.claim)}"] if entry.claim else []
    return Fenced("\n".join([f"[{entry.id}] {plain(entry.about)}", fence(text), *claim]))


def part(text: str, kind: Kind) -> str:
    """Mark text as a droppable part."""
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
    """Render a role's prompt. Its file holds the system message, a line `---`, and the user
    message. Raises jinja2.UndefinedError for a missing variable.
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

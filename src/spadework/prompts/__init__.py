"""The words of the model roles: one Markdown file a role, rendered with strict variables.

A prompt holds no time, no identifier of the run and no order of completion, so that the same work
makes the same request.

What may be left out where a request is too long stands in a file between `{% filter part(KIND) %}`
and `{% endfilter %}`, best first; all else is the frame and the task.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from jinja2 import Environment, StrictUndefined, Template

#: The tag that encloses text from pages. Its forgeries inside a page are broken by `fenced`.
FENCE = "page_text"

#: What could be read as the mark: other brackets that look alike, and characters that are not seen
#: between its letters.
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"
_FORGED = re.compile(
    rf"[<＜﹤⟨〈]({_UNSEEN}(?:[/／⁄]{_UNSEEN})?{_UNSEEN.join(FENCE)})", re.IGNORECASE
)


#: What may be left out: the text of a page, or a quote that is known.
Kind = Literal["page", "evidence"]

#: Characters that no text holds (Unicode assigns none), around a part while a prompt is rendered.
_OPENING: dict[str, Kind] = {"\ufdd0": "page", "\ufdd1": "evidence"}
_CLOSING = "\ufdd2"
_MARKS = re.compile("([\ufdd0-\ufdd2])")


class Part(NamedTuple):
    """A stretch of the user's message that may be left out."""

    kind: Kind
    start: int
    end: int


class Prompt(NamedTuple):
    """The two messages of a request, and the parts of the second."""

    system: str
    user: str
    parts: tuple[Part, ...] = ()


class Fenced(str):
    """Text with marks of our own."""

    __slots__ = ()


def fence(text: str) -> str:
    """Text from a page inside the marked block, which no forged mark in the text can close."""
    return Fenced(f"<{FENCE}>\n{_harmless(text)}\n</{FENCE}>")


def plain(text: str) -> str:
    """A short text from outside on one line, with nothing that could pass for a mark of ours."""
    return _harmless(" ".join(str(text).split()))


def _harmless(text: str) -> str:
    return _FORGED.sub(r"‹\1", str(text))


def describe_entry(entry: Any) -> str:
    """An entry of the ledger (agents/report) under its id and its page, between the words
    around its quote, with what who read it there says of it.
    """
    lines = "\n".join(
        [
            f"[{entry.id}] {plain(entry.about)}",
            *([f"Before it:\n{fence(entry.before)}"] if entry.before else []),
            fence(entry.quote),
            *([f"After it:\n{fence(entry.after)}"] if entry.after else []),
            *([f"Who read it in its page says: {plain(entry.claim)}"] if entry.claim else []),
        ]
    )
    return Fenced(lines)


def part(text: str, kind: Kind) -> str:
    """The text between the marks of a part."""
    opening = next(mark for mark, marked in _OPENING.items() if marked == kind)
    return f"{opening}{text}{_CLOSING}"


def _strip_prompt_marks(value: Any) -> Any:
    """A value without the marks of parts, which only a prompt's file sets, and forged ones."""
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
    """The prompt of a role. Its file holds the system message, a line `---`, and the user message.
    Raises jinja2.UndefinedError when a variable is missing.
    """
    system, user = _templates(role)
    text, parts = _split_parts(user.render(variables).strip())
    return Prompt(system.render(variables).strip(), text, parts)


@lru_cache(maxsize=64)
def _templates(role: str) -> tuple[Template, Template]:
    """The templates of a role's system message and of its user message."""
    source = (files(__name__) / f"{role}.md").read_text(encoding="utf-8")
    system, _, user = source.partition("\n---\n")
    environment = _environment()
    return environment.from_string(system), environment.from_string(user)


def _split_parts(marked: str) -> tuple[str, tuple[Part, ...]]:
    """A text without its marks, and the parts between them."""
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

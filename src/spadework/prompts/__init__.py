"""The words of the model roles: one Markdown file a role, rendered with strict variables.

A prompt holds no time, no identifier of the run and no order of completion, so that the same work
makes the same request.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined

#: The tag that encloses text from pages. Its forgeries inside a page are broken by `fenced`.
FENCE = "page_text"

#: What could be read as the mark: other brackets that look alike, and characters that are not seen
#: between its letters.
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"
_FORGED = re.compile(
    r"[<＜﹤⟨〈](" + _UNSEEN + r"[/／⁄]?" + _UNSEEN + _UNSEEN.join(FENCE) + ")", re.IGNORECASE
)


class Prompt(NamedTuple):
    """The two messages of a request."""

    system: str
    user: str


def fenced(text: str) -> str:
    """Text from a page inside the marked block, which a forged mark inside the text cannot
    close.
    """
    harmless = _FORGED.sub(r"‹\1", str(text))
    return f"<{FENCE}>\n{harmless}\n</{FENCE}>"


def plain(text: str) -> str:
    """A short text from outside, such as a title, on one line, in which nothing can be taken for a
    mark of the block.
    """
    return _FORGED.sub(r"‹\1", " ".join(str(text).split()))


def told(entry: Any) -> str:
    """An entry of the ledger (agents/told.py) under its id and its page, between the words around
    its quote.
    """
    return "\n".join(
        [
            f"[{entry.id}] {plain(entry.about)}",
            *([f"Before it:\n{fenced(entry.before)}"] if entry.before else []),
            fenced(entry.quote),
            *([f"After it:\n{fenced(entry.after)}"] if entry.after else []),
        ]
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters |= {"fenced": fenced, "plain": plain, "told": told}
    return environment


def render(role: str, **variables: Any) -> Prompt:
    """The prompt of a role. Its file holds the system message, a line `---`, and the user message.

    Raises jinja2.UndefinedError when a variable is missing.
    """
    source = (files(__name__) / f"{role}.md").read_text(encoding="utf-8")
    system, _, user = source.partition("\n---\n")
    templates = _environment()
    return Prompt(
        templates.from_string(system).render(variables).strip(),
        templates.from_string(user).render(variables).strip(),
    )

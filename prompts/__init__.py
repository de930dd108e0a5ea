"""The words of the model roles: one Markdown file a role, rendered with strict variables.

A prompt holds no time, no identifier of the run and no order of completion, so that the same work makes the same request.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined

#: The tag that encloses text from pages. Its forgeries inside a page are broken by `fenced`.
FENCE = "page_text"

_FORGED = re.compile(rf"<(\s*/?\s*{FENCE})", re.IGNORECASE)


class Prompt(NamedTuple):
    """The two messages of a request."""

    system: str
    user: str


def fenced(text: str) -> str:
    """Text from a page inside the marked block, which a forged mark inside the text cannot close."""
    harmless = _FORGED.sub(r"‹\1", text)
    return f"<{FENCE}>\n{harmless}\n</{FENCE}>"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
    environment.filters["fenced"] = fenced
    return environment


def render(role: str, **variables: Any) -> Prompt:
    """The prompt of a role. Its file holds the system message, a line `---`, and the user message.

    Raises jinja2.UndefinedError when a variable is missing.
    """
    source = (files(__name__) / f"{role}.md").read_text(encoding="utf-8")
    system, _, user = source.partition("\n---\n")
    templates = _environment()
    return Prompt(templates.from_string(system).render(variables).strip(), templates.from_string(user).render(variables).strip())

"""The cleaner: takes what is not the page's own matter out of a dirty page. A model names the
blocks to keep, and code cuts.

So nothing can be rewritten. Only a page of which something was chosen that code finds dirty is
judged by a model, and only where that finds it dirty, too, the cleaner is asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import within
from spadework.prompts import render
from spadework.settings import Cleaning
from spadework.tools.text.cleanliness import cleanliness, is_matter
from spadework.tools.text.markdown import Block, blocks
from spadework.values import Problem, Visible

#: By setting: from which cleanliness on a page is left as it is, and how many characters it has at
#: least to be cleaned (S7).
MARKS: dict[Cleaning, tuple[float, int]] = {
    "default": (0.7, 500),
    "fast": (0.8, 1_000),
    "quality": (0.6, 200),
    "technical": (0.7, 500),
}
#: Characters that are judged of what was chosen of a page.
JUDGED_CHARS = 2_000
#: Blocks that are shown, and characters of each; what is not shown stays.
MOST_BLOCKS, BLOCK_CHARS = 150, 300
#: Characters, and share of its matter, that are left of a cleaned page; else the original stays.
LEAST_CHARS, LEAST_MATTER = 200, 0.5

_INSTALLS = re.compile(
    r"\b(?:pip3?|uv|conda|npm|apt(?:-get)?|brew|cargo|poetry|pipx) (?:-m )?(?:pip"
    r" )?(?:install|add|i)\b",
    re.IGNORECASE,
)


class JudgeAnswer(Visible):
    """How clean a page is, 0 to 1."""

    score: float = within(0, 1)


class CleanAnswer(Visible):
    """The numbers of the blocks to keep."""

    keep: list[int]


class Dirty(NamedTuple):
    """A page to be cleaned, the question that it is read for, and what was chosen of it."""

    question: str
    title: str
    text: str
    chosen: str


def is_dirty(text: str, cleaning: Cleaning, least: float | None = None) -> bool:
    """Whether code finds a page so dirty that a model is worth asking. `least` is the cleanliness
    from which on it is not (0..1), None for that of the setting.
    """
    long = cleaning != "off" and len(text) >= MARKS[cleaning][1]
    return long and is_unclean(text, cleaning, least)


def is_unclean(text: str, cleaning: Cleaning, least: float | None = None) -> bool:
    """Whether code finds a piece of a page dirty, however short it is."""
    return cleaning != "off" and cleanliness(text) < _least_of(cleaning, least)


def _least_of(cleaning: Cleaning, least: float | None) -> float:
    return MARKS[cleaning][0] if least is None else least


async def clean(
    model: Model, page: Dirty, cleaning: Cleaning, *, seconds: float, least: float | None = None
) -> tuple[str, list[Problem]]:
    """The text of a dirty page without what is not its matter; as it was where the judge finds it
    clean, which is from `least` on (None: that of the setting), or a model fails.
    """

    async def ask(model: Model) -> str:
        judge = render("judge", title=page.title, text=page.chosen[:JUDGED_CHARS])
        judged = await model.ask("judge", judge, JudgeAnswer, seconds=seconds)
        if judged.score >= _least_of(cleaning, least):
            return page.text
        shown = [page.text[b.start : b.end][:BLOCK_CHARS] for b in blocks(page.text)[:MOST_BLOCKS]]
        cleaner = render(
            "cleaner",
            question=page.question,
            title=page.title,
            blocks=shown,
            technical=cleaning == "technical",
        )
        named = await model.ask("cleaner", cleaner, CleanAnswer, seconds=seconds)
        return keep_blocks(page.text, named.keep)

    return await first_of(model, "cleaner", page.title or "a page", ask, lambda: page.text)


def keep_blocks(text: str, numbers: Collection[int]) -> str:
    """The blocks of these numbers (from 1), code, and what was not shown; all if too much goes."""
    all_blocks = blocks(text)
    chosen = [
        b
        for n, b in enumerate(all_blocks, 1)
        if n in numbers or b.kind == "code" or n > MOST_BLOCKS
    ]
    cut = "\n\n".join(text[b.start : b.end] for b in chosen)
    lost_commands = len(_INSTALLS.findall(cut)) < len(_INSTALLS.findall(text))
    too_much = _matter(text, chosen) < LEAST_MATTER * _matter(text, all_blocks)
    return text if len(cut) < LEAST_CHARS or lost_commands or too_much else cut


def _matter(text: str, some: Collection[Block]) -> int:
    """Characters of the blocks that read like the matter of the page."""
    return sum(b.end - b.start for b in some if is_matter(text, b))

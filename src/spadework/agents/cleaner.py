"""Remove boilerplate from noisy pages. A model picks blocks to keep, so no text is rewritten."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import bounded
from spadework.prompts import render
from spadework.settings import Cleaning
from spadework.tools.text.markdown import Block, blocks
from spadework.tools.text.sentences import cleanliness, is_matter
from spadework.values import Problem, Visible

#: For each cleaning mode, the cleanliness score (0 to 1) from which a page needs no cleaning, and
#: the minimum number of characters in a page to clean.
MARKS: dict[Cleaning, tuple[float, int]] = {
    "default": (0.7, 500),
    "fast": (0.8, 1_000),
    "quality": (0.6, 200),
    "technical": (0.7, 500),
}
JUDGED_CHARS = 2_000
#: The maximum number of blocks shown to the model, and of characters from each. Blocks that are
#: not shown are kept.
MOST_BLOCKS, BLOCK_CHARS = 150, 300
#: The minimum number of characters, and the minimum fraction of the content, that must remain
#: after cleaning.
LEAST_CHARS, LEAST_MATTER = 200, 0.5

_INSTALLS = re.compile(
    r"\b(?:pip3?|uv|conda|npm|apt(?:-get)?|brew|cargo|poetry|pipx) (?:-m )?(?:pip"
    r" )?(?:install|add|i)\b",
    re.IGNORECASE,
)


class JudgeAnswer(Visible):
    """The cleanliness of a page, from 0 to 1."""

    score: float = bounded(0, 1)


class CleanAnswer(Visible):
    """The numbers of the blocks to keep."""

    keep: list[int]


class Dirty(NamedTuple):
    """A page to clean, and the question. The model rates how clean the excerpt `chosen` is."""

    question: str
    title: str
    text: str
    chosen: str


def is_dirty(text: str, cleaning: Cleaning) -> bool:
    """Return whether a page is long and noisy enough to clean."""
    long = cleaning != "off" and len(text) >= MARKS[cleaning][1]
    return long and is_unclean(text, cleaning)


def is_unclean(text: str, cleaning: Cleaning) -> bool:
    """Return whether a text is noisy, whatever its length."""
    return cleaning != "off" and cleanliness(text) < MARKS[cleaning][0]


async def clean(
    model: Model, page: Dirty, cleaning: Cleaning, *, seconds: float
) -> tuple[str, list[Problem]]:
    """Remove boilerplate from the page's text, unless the model fails or finds the text clean."""

    async def ask(model: Model) -> str:
        judge = render("judge", title=page.title, text=page.chosen[:JUDGED_CHARS])
        judged = await model.ask("judge", judge, JudgeAnswer, seconds=seconds)
        if judged.score >= MARKS[cleaning][0]:
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
    """Keep the blocks in `numbers` (counted from 1), all code, and blocks that the model did not
    see. Return the whole text if too much would be lost.
    """
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
    return sum(b.end - b.start for b in some if is_matter(text, b))

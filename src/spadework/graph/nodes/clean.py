"""Let a model remove boilerplate from noisy pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from spadework.agents.cleaner import Dirty, clean, is_dirty, is_unclean
from spadework.agents.llm.client import Model
from spadework.events import Cleaned
from spadework.graph.context import SessionContext
from spadework.graph.effort.model_policy import ANSWER_TOKENS, LOOK_TOKENS, is_fast, payable
from spadework.graph.nodes.distil import distil_pages
from spadework.settings import Role
from spadework.values import Page, Problem, Topic

#: Model calls for cleaning a page: one by the judge and one by the cleaner.
CALLS = 2
#: Maximum share of a run's model calls that cleaning may use.
MOST_SHARE = 1 / 3
ROLES: tuple[Role, ...] = ("judge", "cleaner")


def may_clean(ceiling: int, left: int, cleanings: int, topics: int) -> bool:
    """Return whether another page may be cleaned.

    `left` of `ceiling` model calls remain. `cleanings` pages have been cleaned or are being
    cleaned.
    """
    return CALLS * (cleanings + 1) <= MOST_SHARE * ceiling and left - CALLS >= 2 * topics + 3


async def clean_pages(
    context: SessionContext, question: str, topic: Topic, pages: Sequence[Page], topics: int
) -> tuple[list[Page], list[Problem]]:
    """Clean and rehash the noisy pages if the budget allows. Return all pages and the problems."""
    dirty = [page for page in pages if await _is_dirty(context, page)]
    if not dirty:
        return list(pages), []
    chosen, unsplit = await _choose_text(context, topic, pages)
    settings, seconds = context.settings, context.budget.phase("read")
    wanted = {
        page.content_hash
        for page in dirty
        if (text := chosen.get(page.content_hash, "")) and is_unclean(text, settings.clean)
    }
    going = [page for page in pages if page.content_hash in wanted]
    told = [
        Dirty(
            question,
            page.title,
            await context.pages.get(page.content_hash),
            chosen[page.content_hash],
        )
        for page in going
    ]
    done = await asyncio.gather(
        *(
            _cleaned(context, page, one, seconds, topics)
            for page, one in zip(going, told, strict=True)
        )
    )
    clean = {page.content_hash: made for page, (made, _) in zip(going, done, strict=True)}
    return (
        [clean.get(page.content_hash, page) for page in pages],
        [*unsplit, *(problem for _, problems in done for problem in problems)],
    )


async def _is_dirty(context: SessionContext, page: Page) -> bool:
    if context.model is None or context.quick or page.level < 0 or page.cleaned_by == "model":
        return False
    text = await context.pages.get(page.content_hash)
    settings = context.settings
    return await asyncio.to_thread(is_dirty, text, settings.clean)


async def _choose_text(
    context: SessionContext, topic: Topic, pages: Sequence[Page]
) -> tuple[dict[str, str], list[Problem]]:
    """Return the text that a judging model sees of each page, by content hash, and the problems."""
    found: dict[str, list[str]] = {}
    passages, problems = await distil_pages(context, topic, pages, by_model=True)
    for passage in passages:
        text = await context.pages.get(passage.content_hash)
        found.setdefault(passage.content_hash, []).append(text[passage.start : passage.end])
    chosen = {content_hash: "\n\n".join(texts) for content_hash, texts in found.items()}
    return chosen, problems


async def _cleaned(
    context: SessionContext, page: Page, dirty: Dirty, seconds: float, topics: int
) -> tuple[Page, list[Problem]]:
    model = context.model
    if model is None:
        return page, []
    problems: list[Problem] = []
    key = {"page": page.content_hash, "how": context.settings.clean}

    async def allowed() -> bool:
        ceiling = context.budget.limits.calls
        # Calls for pages still being cleaned might not be charged yet, so they are deducted here.
        left = int(ceiling - context.budget.spent("calls")) - CALLS * context.cleaning
        poor = payable(context) < CALLS * LOOK_TOKENS + topics * ANSWER_TOKENS
        if poor or not may_clean(ceiling, left, context.cleanings, topics):
            return False
        return await is_fast(context, *ROLES)

    async def work() -> str:
        if not await context.journal.moment("may clean", key, bool, allowed, otherwise=True):
            return page.content_hash
        digest, failed = await _shorten(context, model, dirty, page, seconds)
        problems.extend(failed)
        return digest

    # The key omits the topic, so that workers with the same page pay for its cleaning only once.
    digest = await context.journal.once("clean", key, str, work)
    if digest == page.content_hash:
        return page, problems
    chars = len(await context.pages.get(digest))
    return page.model_copy(
        update={"content_hash": digest, "chars": chars, "cleaned_by": "model"}
    ), problems


async def _shorten(
    context: SessionContext, model: Model, dirty: Dirty, page: Page, seconds: float
) -> tuple[str, list[Problem]]:
    settings, began = context.settings, time.monotonic()
    context.cleanings += 1
    context.cleaning += 1
    try:
        shorter, failed = await clean(model, dirty, settings.clean, seconds=seconds)
    finally:
        context.cleaning -= 1
    digest, _ = await context.pages.put(shorter)
    context.record.tell(
        Cleaned(
            url=page.url,
            content_hash=page.content_hash,
            after_hash=digest,
            before=len(dirty.text),
            chars=len(shorter),
            reason=" ".join(problem.reason for problem in failed),
            seconds=round(time.monotonic() - began, 3),
        )
    )
    # Write the event to the record before the journal gets the cleaned page. Once the page is in
    # the journal, a resumed run does not send the event again.
    await context.record.written()
    return digest, failed

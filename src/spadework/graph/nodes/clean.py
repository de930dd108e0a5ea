"""Cleaning of a worker's noisy pages by a model, if there is one; each once per session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from spadework.agents.cleaner import Dirty, clean, is_dirty, is_unclean
from spadework.agents.llm.client import Model
from spadework.events import Cleaned
from spadework.graph.context import SessionContext
from spadework.graph.effort.model_policy import (
    ANSWER_TOKENS,
    LOOK_TOKENS,
    Permission,
    model_permission,
    payable,
)
from spadework.graph.nodes.distil import distil_pages
from spadework.settings import Role
from spadework.values import Page, Problem, Topic

#: Model calls per page: judge and cleaner.
CALLS = 2
#: Maximum share of the model calls used for cleaning.
MOST_SHARE = 1 / 3
#: Roles asked about a page.
ROLES: tuple[Role, ...] = ("judge", "cleaner")


def may_clean(ceiling: int, left: int, cleanings: int, topics: int) -> bool:
    """Return whether another page may be cleaned, with `left` of the `ceiling` of model calls, and
    `cleanings` done or running. Assessing and writing each topic, the summary, verification and the
    editor have priority.
    """
    return CALLS * (cleanings + 1) <= MOST_SHARE * ceiling and left - CALLS >= 2 * topics + 3


async def clean_pages(
    context: SessionContext, question: str, topic: Topic, pages: Sequence[Page], topics: int
) -> tuple[list[Page], list[Problem]]:
    """Return the pages; cleaned ones have a new text and hash. Local documents stay, as do pages
    without noise in the passages for the topic, and all pages if the calls are needed for the
    plan's `topics`.
    """
    dirty = [page for page in pages if await _is_dirty(context, page)]
    if not dirty:
        return list(pages), []
    chosen = await _choose_text(context, topic, pages)
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
        [problem for _, problems in done for problem in problems],
    )


async def _is_dirty(context: SessionContext, page: Page) -> bool:
    """Return whether a model may be asked about a page that code finds noisy."""
    if context.model is None or context.quick or page.level < 0 or page.cleaned_by == "model":
        return False
    text = await context.pages.get(page.content_hash)
    settings = context.settings
    return await asyncio.to_thread(is_dirty, text, settings.clean)


async def _choose_text(
    context: SessionContext, topic: Topic, pages: Sequence[Page]
) -> dict[str, str]:
    """Return the text of each page that a judging model would see for a topic, by content hash."""
    found: dict[str, list[str]] = {}
    for passage in await distil_pages(context, topic, pages, by_model=True):
        text = await context.pages.get(passage.content_hash)
        found.setdefault(passage.content_hash, []).append(text[passage.start : passage.end])
    return {content_hash: "\n\n".join(texts) for content_hash, texts in found.items()}


async def _cleaned(
    context: SessionContext, page: Page, dirty: Dirty, seconds: float, topics: int
) -> tuple[Page, list[Problem]]:
    model = context.model
    if model is None:
        return page, []
    problems: list[Problem] = []
    key = {"page": page.content_hash, "how": context.settings.clean}

    async def allowed() -> Permission:
        """Return whether another page may be cleaned now."""
        ceiling = context.budget.limits.calls
        # Calls of pages being cleaned are not all charged yet.
        left = int(ceiling - context.budget.spent("calls")) - CALLS * context.cleaning
        poor = payable(context) < CALLS * LOOK_TOKENS + topics * ANSWER_TOKENS
        if poor or not may_clean(ceiling, left, context.cleanings, topics):
            return Permission(given=False)
        return await model_permission(context, *ROLES)

    async def work() -> str:
        permission = await context.journal.moment(
            "may clean", key, Permission, allowed, Permission()
        )
        problems.extend(permission.problems)
        if not permission.given:
            return page.content_hash
        digest, failed = await _shorten(context, model, dirty, page, seconds)
        problems.extend(failed)
        return digest

    # Keyed by text alone: the first worker pays, even if the model failed.
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
    """Store and report what a model leaves of a page; return its hash."""
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
    # Once in the journal it is not reported again.
    await context.record.written()
    return digest, failed

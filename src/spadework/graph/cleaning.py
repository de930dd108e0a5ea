"""Cleaning the pages of a worker by a model, where there is one and the page needs it; every page
once in a session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.agents.cleaner import Dirty, clean, is_dirty
from spadework.agents.model import Model
from spadework.graph.desk import Desk
from spadework.settings import Role
from spadework.values import Page, Problem, Value

#: Model calls that a page takes: the judge and the cleaner.
CALLS = 2
#: Share of the ceiling of model calls that cleaning may take at most.
MOST_SHARE = 1 / 3
#: Tokens in a second: a model that reads fewer needs its time for the plan, the assessment and the
#: report.
LEAST_SPEED = 200.0
#: The roles that are asked about a page.
ROLES: tuple[Role, ...] = ("judge", "cleaner")


class Leave(Value):
    """Whether a page may be cleaned, which the pages before it and the clock decide; and what is
    said where not.
    """

    given: bool = True
    problems: tuple[Problem, ...] = ()


def may_clean(ceiling: int, left: int, cleanings: int, topics: int) -> bool:
    """Whether one more page may be cleaned: `left` of the `ceiling` of model calls, with
    `cleanings` pages cleaned or being cleaned so far.

    An assessment and a section a topic, the summary, the check of citations and the editor come
    first.
    """
    return CALLS * (cleanings + 1) <= MOST_SHARE * ceiling and left - CALLS >= 2 * topics + 3


async def cleaned(
    desk: Desk, question: str, pages: Sequence[Page], topics: int
) -> tuple[list[Page], list[Problem]]:
    """The pages, those that were dirty with a text and a hash of their own. Local documents are
    left as they are.

    So are all where the model calls are needed to assess and write the plan's `topics`.
    """
    seconds = desk.budget.phase("read")
    done = await asyncio.gather(
        *(_cleaned(desk, question, page, (seconds, topics)) for page in pages)
    )
    return [page for page, _ in done], [problem for _, problems in done for problem in problems]


async def _cleaned(
    desk: Desk, question: str, page: Page, limits: tuple[float, int]
) -> tuple[Page, list[Problem]]:
    model, cleaning = desk.model, desk.settings.clean
    if model is None or page.level < 0 or cleaning == "off" or page.cleaned_by == "model":
        return page, []
    text = await desk.pages.get(page.content_hash)
    if not await asyncio.to_thread(is_dirty, text, cleaning):
        return page, []
    problems: list[Problem] = []

    key = {"page": page.content_hash, "how": cleaning}

    async def allowed() -> Leave:
        return await _leave(desk, model, limits[1])

    async def work() -> str:
        seconds = limits[0]
        leave = await desk.journal.moment("may clean", key, Leave, allowed, Leave())
        problems.extend(leave.problems)
        if not leave.given:
            return page.content_hash
        desk.cleanings += 1
        desk.cleaning += 1
        try:
            shorter, failed = await clean(
                model, Dirty(question, page.title, text), cleaning, seconds=seconds
            )
        finally:
            desk.cleaning -= 1
        problems.extend(failed)
        digest, _ = await desk.pages.put(shorter)
        return digest

    # By its text alone: whichever worker comes first pays, also where the model failed.
    digest = await desk.journal.once("clean", key, str, work)
    if digest == page.content_hash:
        return page, problems
    chars = len(await desk.pages.get(digest))
    return page.model_copy(
        update={"content_hash": digest, "chars": chars, "cleaned_by": "model"}
    ), problems


async def _leave(desk: Desk, model: Model, topics: int) -> Leave:
    """Whether one more page may be cleaned now."""
    ceiling = desk.budget.limits.calls
    # Calls of pages being cleaned are not all charged yet.
    left = int(ceiling - desk.budget.spent("calls")) - CALLS * desk.cleaning
    if not may_clean(ceiling, left, desk.cleanings, topics):
        return Leave(given=False)
    slow = await _too_slow(model)
    if slow is None:
        return Leave()
    said, desk.cleans = () if not desk.cleans else (slow,), False
    return Leave(given=False, problems=said)


async def _too_slow(model: Model) -> Problem | None:
    """Why the pages of this run are not cleaned by a model that is slow; None for one that is not,
    or that nothing is known of.
    """
    for role in ROLES:
        speed = await model.speed(role)
        if speed is not None and speed < LEAST_SPEED:
            reason = f"It reads about {speed:.0f} tokens a second." if speed else _LATE
            return Problem(stage="cleaner", subject=model.name(role), reason=reason, effect=_EFFECT)
    return None


_LATE = "It did not answer in time."
_EFFECT = "Pages were not cleaned by it: its time is left for the plan, the judging and the report."

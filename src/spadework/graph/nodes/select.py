"""Select the pages to read, with a reason for each hit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass

from spadework.agents.researcher import MOST_HITS, check_hits
from spadework.deadline import BEST_ONLY, SLOWER
from spadework.events import Checked, Selected
from spadework.graph.context import Emit, SessionContext
from spadework.graph.effort.model_policy import is_fast, leaves_enough
from spadework.graph.state import WorkerState
from spadework.tools.extract.expected_type import SLOW, foreseen
from spadework.tools.ranking.selection import ENOUGH, LOCAL, Selection, fits
from spadework.tools.web.urls import canonical_url
from spadework.values import Choice, Fate, Hit, Problem, Task

#: Minimum seconds for screening hits.
LEAST_SECONDS = 3.0
#: How many hits to screen for each page to read, so that rejected hits can be replaced.
SPARE = 1.5
#: Pages are fetched in a browser at this reading level and above.
BROWSER = 2


async def looked_at(
    context: SessionContext, state: WorkerState, hits: list[Hit], emit: Emit
) -> tuple[list[Hit], dict[str, str], list[Problem]]:
    """Return the hits worth reading, the reasons for rejecting others (by URL), and the problems.
    If too few hits pass, the rejected ones are kept too.
    """
    if context.model is None or len(hits) <= ENOUGH or state["task"].round > 1:
        return hits, {}, []
    topic, topics = state["task"].topic, state.get("topics", 1)
    # Worker states saved by earlier versions do not contain the number of tasks.
    tasks = state.get("tasks", topics)

    async def allowed() -> bool:
        took, budget = state.get("plan_seconds", 0.0), context.budget
        if (
            SLOWER * took > _seconds(context)  # Screening would not finish in time.
            or not budget.fits(took)
            or budget.under(BEST_ONLY)
            or not leaves_enough(context, tasks, tasks, topics)
        ):
            return False
        return await is_fast(context, "judge")

    key = {"topic": topic.name, "round": state["task"].round}
    if not await context.journal.moment("may look", key, bool, allowed, otherwise=True):
        return hits, {}, []
    ranked = sorted(hits, key=lambda hit: -hit.rrf)
    likely = ranked[: min(MOST_HITS, int(SPARE * state["task"].pages))]
    judged, problems = await check_hits(
        context.model, state["question"], topic, likely, seconds=_seconds(context)
    )
    against, number, looked = dict(judged), state["task"].round, len(likely)
    emit(Checked(topic=topic.name, hits=looked, round=number, against=against))
    kept = [hit for hit in ranked if hit.url not in against]
    if len(kept) >= ENOUGH:
        return kept, against, problems
    if not kept:  # Rejecting everything would leave nothing to read.
        return hits, {}, problems
    last = {"relevance": 0.0, "rrf": 0.0}
    ranked = [hit.model_copy(update=last) if hit.url in against else hit for hit in ranked]
    return ranked, against, problems


def _seconds(context: SessionContext) -> float:
    return context.budget.step("search", least=LEAST_SECONDS)


async def weigh_hits(
    context: SessionContext, task: Task, hits: Sequence[Hit]
) -> tuple[list[Hit], dict[str, str]]:
    """Return the hits with their selection scores, and the reasons (by URL) why some cannot be
    read. Unreadable hits are dropped if enough others remain.
    """

    async def work() -> dict[str, float]:
        return await asyncio.to_thread(_worths, context, hits)

    # The scores depend on the installed software and on hosts' restrictions. These may change
    # before a replay, so record the scores.
    key = {"topic": task.topic.name, "round": task.round, "hits": [hit.url for hit in hits]}
    worth = await context.journal.moment(
        "foreseen", key, dict[str, float], work, dict[str, float]()
    )
    left = [hit for hit in hits if worth.get(hit.url, 1.0)]
    kept = left if len(left) >= ENOUGH else hits
    refused = {hit.url: word_refusal(hit) for hit in hits if not worth.get(hit.url, 1.0)}
    return [with_worth(hit, worth.get(hit.url, 1.0)) for hit in kept], refused


def word_refusal(hit: Hit) -> str:
    """Return a sentence that says why a hit cannot be read."""
    why = foreseen(hit.url, hit.title).refused
    return f"{why[:1].upper()}{why[1:]}."


def with_worth(hit: Hit, worth: float) -> Hit:
    """Scale a hit's score by `worth`. At 0, the hit comes last."""
    if worth >= 1:
        return hit
    relevance = hit.relevance if worth else 0.0
    return hit.model_copy(update={"rrf": hit.rrf * worth, "relevance": relevance})


def _worths(context: SessionContext, hits: Sequence[Hit]) -> dict[str, float]:
    web = [hit for hit in hits if not hit.url.startswith(LOCAL)]
    level_of = {hit.url: context.reader.level_at(hit.url) for hit in web}
    most = context.browser.max_level
    if any(level >= BROWSER for level in level_of.values()) and context.browser.what_is_missing:
        most = min(most, BROWSER - 1)
    # Pages on these hosts have needed a reading level, such as a browser, that is not available in
    # this run, so such hits get a lower score.
    shut = {url for url, level in level_of.items() if level > most}
    worths = {
        hit.url: foreseen(hit.url, hit.title).worth * (SLOW if hit.url in shut else 1.0)
        for hit in web
    }
    return {url: worth for url, worth in worths.items() if worth < 1}


_READ_BEFORE = "Already read in an earlier round."
_BEST = "Its fused score is among the highest."
_AGAINST = "Its title and snippet suggest that it is not worth reading."
_ALONG = "Fetched for another topic and read for this one too."


@dataclass(frozen=True)
class Choosing:
    """Explains which `hits` are read, and why others are not. `against` maps rejected URLs to
    reasons. `before` (already read) and `taken` (by other topics) are sets of canonical URLs.
    `asked` is the first selection, before hits were dropped from it.
    """

    task: Task
    hits: Sequence[Hit]
    before: AbstractSet[str]
    against: Mapping[str, str]
    asked: Selection
    taken: AbstractSet[str] = frozenset()
    again: bool = False

    def as_event(self, made: Selection) -> Selected:
        """Return the event for the final selection."""
        return Selected(
            topic=self.task.topic.name,
            round=self.task.round,
            again=self.again,
            threshold=self.asked.threshold,
            note=self.asked.note,
            hits=tuple(self._choices(made)),
        )

    def _choices(self, made: Selection) -> Iterator[Choice]:
        for hit in made.chosen:
            along = canonical_url(hit.url) in self.taken
            yield _choice(hit, "chosen", _ALONG if along else _BEST)
        for hit in made.reserve:
            yield _choice(hit, "reserve", self._why_not(hit))
        kept = {hit.url for hit in (*made.chosen, *made.reserve)}
        for hit in self.hits:
            if hit.url in kept:
                continue
            if canonical_url(hit.url) in self.before:
                yield _choice(hit, "left", _READ_BEFORE)
            elif hit.url in self.against:
                yield _choice(hit, "left", self.against[hit.url] or _AGAINST)

    def _why_not(self, hit: Hit) -> str:
        if hit.url in self.against:
            return self.against[hit.url] or _AGAINST
        if not fits(hit, self.asked.threshold):
            return f"The relevance is below {self.asked.threshold:.2f}."
        if hit in self.asked.chosen:
            if canonical_url(hit.url) in self.taken:
                return "Read for another topic."
            return "Time was short, so only the best pages were read."
        if hit.url in self.asked.crowded:
            return "Enough pages from this site were read, so other sites come first."
        return "Other hits have a higher fused score."


def _choice(hit: Hit, fate: Fate, why: str) -> Choice:
    return Choice(
        url=hit.url,
        title=hit.title,
        fate=fate,
        why=why,
        relevance=hit.relevance,
        rrf=round(hit.rrf, 6),
        found_by=hit.found_by,
    )

"""Selection of the pages to read: screening of hits, and the decision on each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from spadework.agents.researcher import MOST_HITS, check_hits
from spadework.deadline import BEST_ONLY, SLOWER
from spadework.events import Checked, Selected
from spadework.graph.context import SessionContext
from spadework.graph.effort.model_policy import Permission, leaves_enough, model_permission
from spadework.graph.emit import Emit
from spadework.graph.state import WorkerState
from spadework.tools.extract.expected_type import SLOW, foreseen
from spadework.tools.ranking.selection import ENOUGH, LOCAL, Selection, fits
from spadework.tools.web.urls import canonical_url
from spadework.values import Choice, Fate, Hit, Problem, Task

#: Minimum seconds for screening even in a short run.
LEAST_SECONDS = 3.0
#: Level from which pages are fetched in a browser.
BROWSER = 2


async def looked_at(
    context: SessionContext, state: WorkerState, hits: list[Hit], emit: Emit
) -> tuple[list[Hit], dict[str, str], list[Problem]]:
    """Return the hits worth reading, reasons against the others by URL, and problems. If too few
    are left, the others stay with relevance and fused score 0, and so come last. Not screened: hits
    so few that all are read and, at deep effort, those of later, specific queries.
    """
    again = context.deep and state["task"].round > 1
    if context.model is None or len(hits) <= ENOUGH or again:
        return hits, {}, []
    topic, topics = state["task"].topic, state.get("topics", 1)
    # Workers saved by earlier versions assume all topics.
    tasks = state.get("tasks", topics)

    async def allowed() -> Permission:
        took, budget = state.get("plan_seconds", 0.0), context.budget
        if (
            SLOWER * took > _seconds(context)  # it would not finish
            or not budget.fits(took)
            or budget.under(BEST_ONLY)
            or not leaves_enough(context, tasks, tasks, topics)
        ):
            return Permission(given=False)
        return await model_permission(context, "judge")

    key = {"topic": topic.name, "round": state["task"].round}
    permission = await context.journal.moment("may look", key, Permission, allowed, Permission())
    if not permission.given:
        return hits, {}, list(permission.problems)
    ranked = sorted(hits, key=lambda hit: -hit.rrf)
    judged, problems = await check_hits(
        context.model, state["question"], topic, ranked, seconds=_seconds(context)
    )
    against = dict(judged)
    number, looked = state["task"].round, min(MOST_HITS, len(ranked))
    emit(Checked(topic=topic.name, hits=looked, round=number, against=against))
    kept = [hit for hit in ranked if hit.url not in against]
    if len(kept) >= ENOUGH:
        return kept, against, problems
    if not kept:  # rejecting everything selects nothing
        return hits, {}, problems
    last = {"relevance": 0.0, "rrf": 0.0}
    ranked = [hit.model_copy(update=last) if hit.url in against else hit for hit in ranked]
    return ranked, against, problems


def _seconds(context: SessionContext) -> float:
    return context.budget.step("search", least=LEAST_SECONDS)


async def weigh_hits(
    context: SessionContext, task: Task, hits: Sequence[Hit]
) -> tuple[list[Hit], dict[str, str]]:
    """Return the hits in order, with the scores used for selection, and why others would be
    refused, by URL; those are dropped if enough others exist.
    """

    async def work() -> dict[str, float]:
        return await asyncio.to_thread(_worths, context, hits)

    # Installed software and host restrictions are as of now.
    key = {"topic": task.topic.name, "round": task.round, "hits": [hit.url for hit in hits]}
    worth = await context.journal.moment(
        "foreseen", key, dict[str, float], work, dict[str, float]()
    )
    left = [hit for hit in hits if worth.get(hit.url, 1.0)]
    kept = left if len(left) >= ENOUGH else hits
    refused = {hit.url: word_refusal(hit) for hit in hits if not worth.get(hit.url, 1.0)}
    return [with_worth(hit, worth.get(hit.url, 1.0)) for hit in kept], refused


def word_refusal(hit: Hit) -> str:
    """Return why a hit's page cannot be read, as a sentence."""
    why = foreseen(hit.url, hit.title).refused
    return f"{why[:1].upper()}{why[1:]}."


def with_worth(hit: Hit, worth: float) -> Hit:
    """Scale a hit's score; at 0 it comes last whatever its words."""
    if worth >= 1:
        return hit
    relevance = hit.relevance if worth else 0.0
    return hit.model_copy(update={"rrf": hit.rrf * worth, "relevance": relevance})


def _worths(context: SessionContext, hits: Sequence[Hit]) -> dict[str, float]:
    web = [hit for hit in hits if not hit.url.startswith(LOCAL)]  # the others have been read
    level_of = {hit.url: context.reader.level_at(hit.url) for hit in web}
    most = context.browser.max_level
    if any(level >= BROWSER for level in level_of.values()) and context.browser.what_is_missing:
        most = min(most, BROWSER - 1)
    # A host that admitted only browsers will refuse others.
    shut = {url for url, level in level_of.items() if level > most}
    worths = {
        hit.url: foreseen(hit.url, hit.title).worth * (SLOW if hit.url in shut else 1.0)
        for hit in web
    }
    return {url: worth for url, worth in worths.items() if worth < 1}


_READ_BEFORE = "It was read in an earlier round."
_BEST = "Its fused score is among the best."
_AGAINST = "It was judged not worth reading before it was fetched."
_ALONG = "It is fetched for another topic, and read along."


@dataclass(frozen=True)
class Choosing:
    """A selection for a task: its `hits`, and reasons against some, by URL. `before` are canonical
    URLs read in earlier rounds, `asked` is the selection before cuts for time and distribution,
    `taken` are canonical URLs assigned to other topics.
    """

    task: Task
    hits: Sequence[Hit]
    before: AbstractSet[str]
    against: Mapping[str, str]
    asked: Selection
    taken: AbstractSet[str] = frozenset()
    again: bool = False

    def as_event(self, made: Selection) -> Selected:
        """Return the event of the selection."""
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
            return f"Its relevance is under {self.asked.threshold:.2f}."
        if hit in self.asked.chosen:
            if canonical_url(hit.url) in self.taken:
                return "It is read for another topic."
            return "Time is short: only the best are read."
        if hit.url in self.asked.crowded:
            return "Enough pages of its site are read; those of others go first."
        return "Others have a higher fused score."


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

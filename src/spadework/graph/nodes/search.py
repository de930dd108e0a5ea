"""Run one task's searches, unless the journal has the answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence, Set as AbstractSet
from typing import Any, NamedTuple

from spadework.events import Notice, Searched, Unanswered
from spadework.graph.context import Emit, SessionContext
from spadework.graph.pages.provider_search import kept_hits, search_one, search_seconds
from spadework.tools.ranking.relevance import query_terms, reciprocal_rank_fusion, relevance_parts
from spadework.tools.ranking.statements import Sketch, resemblance, sketch
from spadework.tools.search.provider import Provider
from spadework.tools.search.result_rows import add_filters
from spadework.tools.web.urls import canonical_url
from spadework.values import Hit, Lead, Problem, Query, Task

#: A snippet with fewer than LEAST_TOLD words is not compared with others. A snippet counts as a
#: copy if its similarity to another one is at least SPREAD.
LEAST_TOLD, SPREAD = 12, 0.3
#: Weight of the original question when lists of hits are fused. Its variants have weight 1.
ORIGINAL_WEIGHT = 2.0
_TOLD = {"url", "title", "snippet", "position", "published_at", "relevance"}


class Answers(NamedTuple):
    """Answers to queries: lists of hits (best first), failures, and the providers that answered."""

    lists: list[list[Hit]]
    problems: list[Problem]
    heard: list[str]


class Telling(NamedTuple):
    """Reports a topic's searches as events. Before planning, `topic` is "" and `round` is 0."""

    emit: Emit
    topic: str = ""
    round: int = 0

    def tell(
        self, provider: str, query: Query, answer: list[Hit] | Problem, seconds: float
    ) -> None:
        """Emit an event for a provider's answer."""
        asked: dict[str, Any] = {
            "topic": self.topic,
            "round": self.round,
            "query": query.text,
            "kind": query.kind,
            "provider": provider,
            "seconds": round(seconds, 3),
        }
        if isinstance(answer, Problem):
            self.emit(Unanswered(**asked, reason=answer.reason))
        else:
            self.emit(Searched(**asked, hits=len(answer), found=leads_of(answer, query)))


def leads_of(hits: Sequence[Hit], query: Query) -> tuple[Lead, ...]:
    """Return a query's hits for an event, each with the components of its relevance."""
    terms = query_terms(query.text)
    return tuple(
        Lead(
            **hit.model_dump(include=_TOLD),
            parts=relevance_parts(hit.title, hit.snippet, hit.position, terms),
        )
        for hit in hits
    )


UNASKED = Answers([], [], [])


async def search_all(
    context: SessionContext, task: Task, emit: Emit, before: AbstractSet[str] = frozenset()
) -> Answers:
    """Search with a task's queries. Canonical URLs in `before` do not count towards hit limits."""
    telling = Telling(emit, task.topic.name, task.round)
    done = await asyncio.gather(*(_everywhere(context, query, telling) for query in task.queries))
    answers = [
        (query, *answer) for query, of in zip(task.queries, done, strict=True) for answer in of
    ]
    lists: list[list[Hit]] = []
    problems: dict[str, Problem] = {}
    heard = dict[str, None]()
    for query, provider, found in answers:
        if isinstance(found, Problem):
            problems.setdefault(f"{found.subject} {found.reason}", found)
        else:
            heard[provider.name] = None
            lists.append(_new(found, query, before))
    told = [context.told_once(problem) for problem in problems.values()]
    search = context.search
    for news in (
        *filter(None, told),
        *context.stand_ins.news(),
        *search.waits.news(),
        *search.unmet.news(),
    ):
        emit(Notice(text=news))
    return Answers(lists, list(problems.values()), list(heard))


async def _everywhere(
    context: SessionContext, query: Query, telling: Telling
) -> list[tuple[Provider, list[Hit] | Problem]]:
    """Send a query to every provider. If all fail, try the fallback providers in turn."""

    async def ask(provider: Provider, seconds: float) -> list[Hit] | Problem:
        began = time.monotonic()
        answer = await search_one(context, provider, query, seconds)
        telling.tell(provider.name, query, answer, time.monotonic() - began)
        return answer

    seconds = search_seconds(context.budget, query)
    asked = context.search.providers
    found = await asyncio.gather(*(ask(one, seconds) for one in asked))
    answers = list(zip(asked, found, strict=True))
    while asked and all(isinstance(answer, Problem) for _, answer in answers):
        seconds = search_seconds(context.budget, query)
        if context.stop.is_set() or context.budget.refused or seconds <= 0:
            break  # The run is ending, so fallback providers are not tried.
        other = await context.stand_ins.nth(context, len(answers) - len(asked))
        if other is None:
            break
        answers.append((other, await ask(other, seconds)))
    return answers


async def found_before(
    context: SessionContext, task: Task, before: AbstractSet[str]
) -> list[list[Hit]]:
    """Return a topic's hits from earlier searches, in one fused list unless the task is `broad`."""
    providers = (*context.search.providers, *context.stand_ins.opened)
    asked = [kept_hits(context, provider, query) for query in task.again for provider in providers]
    found = [
        _new(hits, Query(text=""), before)
        for hits in await asyncio.gather(*asked)
        if hits is not None
    ]
    return found if task.broad or not found else [fused_hits(found)]


def fused_hits(lists: Sequence[list[Hit]]) -> list[Hit]:
    """Fuse a topic's lists of hits into one list, best first."""
    weights = [
        ORIGINAL_WEIGHT if hits and hits[0].found_by[0].kind == "original" else 1.0
        for hits in lists
    ]
    return reciprocal_rank_fusion(lists, weights=weights)


def _new(hits: list[Hit], query: Query, before: AbstractSet[str]) -> list[Hit]:
    return (
        [hit for hit in hits if canonical_url(hit.url) not in before][: query.results]
        if query.results
        else hits
    )


async def first_look(context: SessionContext, question: str, emit: Emit) -> list[Hit]:
    """Return the hits of one search for the question, excluding hits with copied snippets."""
    query = add_filters(Query(text=question), context.settings, question)
    done = await _everywhere(context, query, Telling(emit))
    return _without_copies(
        [hit for _, found in done if not isinstance(found, Problem) for hit in found]
    )


def _without_copies(hits: Sequence[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    sketches: list[Sketch] = []
    for hit in hits:
        own = sketch(hit.snippet)
        if len(hit.snippet.split()) < LEAST_TOLD or all(
            resemblance(own, other) < SPREAD for other in sketches
        ):
            kept.append(hit)
            sketches.append(own)
    return kept

"""Searching for one task: every query at every provider, through the journal."""

from __future__ import annotations

import asyncio

from spadework.budget import Budget
from spadework.errors import BudgetSpent, SearchError
from spadework.events import Searched
from spadework.graph.desk import Desk
from spadework.graph.emit import Emit
from spadework.graph.waiting import Stopped, unless_stopped
from spadework.settings import Settings
from spadework.tools.fetch.guard import is_http_url
from spadework.tools.inline import one_line
from spadework.tools.rank import query_terms, relevance
from spadework.tools.search.provider import Provider
from spadework.values import Found, Hit, Problem, Query, Task

#: In a short run a search may take this long all the same, of the time that searching and reading have together.
LEAST_SECONDS = 3.0
#: A provider keeps its own deadline; past this it is not waited for.
GRACE_SECONDS = 1.5
#: Characters of a snippet that are kept.
SNIPPET_CHARS = 2_000


async def search_all(desk: Desk, task: Task, emit: Emit) -> tuple[list[list[Hit]], list[Problem]]:
    """The lists of hits that were found, best first, and what failed, each failure of a provider once."""
    asked = [(provider, query) for query in task.queries for provider in desk.search.providers]
    seconds = search_seconds(desk.budget, desk.settings)
    done = await asyncio.gather(*(search_one(desk, provider, query, seconds) for provider, query in asked))
    lists: list[list[Hit]] = []
    problems: dict[str, Problem] = {}
    for (provider, query), found in zip(asked, done, strict=True):
        if isinstance(found, Problem):
            problems.setdefault(f"{found.subject} {found.reason}", found)
        else:
            lists.append(found)
            emit(Searched(topic=task.topic.name, query=query.text, provider=provider.name, hits=len(found)))
    return lists, list(problems.values())


async def search_one(desk: Desk, provider: Provider, query: Query, seconds: float) -> list[Hit] | Problem:
    """The hits of one query at one provider with their relevance, or what went wrong."""
    limit = desk.settings.search_results

    async def work() -> list[Hit]:
        desk.budget.charge("searches")
        asked = desk.search.ask(provider, query, limit=limit, seconds=seconds)
        return await unless_stopped(desk.stop, asked, seconds=seconds + GRACE_SECONDS)

    key = {"provider": provider.name, "query": query.text, "limit": limit}
    try:
        hits = await desk.journal.once("search", key, list[Hit], work)
    except (SearchError, BudgetSpent, Stopped, TimeoutError) as error:
        reason = str(error) or "It was not waited for."
        return Problem(stage="search", subject=provider.name, reason=reason, effect=f"“{query.text}” was not searched there.")
    terms = query_terms(query.text)
    return [_ranked(hit, query, terms) for hit in hits if hit.url.startswith("library://") or is_http_url(hit.url)]


async def first_look(desk: Desk, question: str) -> list[Hit]:
    """The hits of one broad search for the question itself, best provider first; [] when none answers."""
    seconds = search_seconds(desk.budget, desk.settings)
    done = await asyncio.gather(*(search_one(desk, provider, Query(text=question), seconds) for provider in desk.search.providers))
    return [hit for found in done if not isinstance(found, Problem) for hit in found]


def search_seconds(budget: Budget, settings: Settings) -> float:
    """Seconds for one search now."""
    share = max(budget.phase("search"), min(LEAST_SECONDS, budget.phase("search", "read") / 2))
    return min(settings.search_seconds, share)


def _ranked(hit: Hit, query: Query, terms: list[str]) -> Hit:
    hit = hit.model_copy(update={"title": one_line(hit.title), "snippet": one_line(hit.snippet, SNIPPET_CHARS)})
    found = Found(query=query.text, kind=query.kind, provider=hit.provider, rank=hit.position)
    return hit.model_copy(update={"relevance": relevance(hit.title, hit.snippet, hit.position, terms), "found_by": (found,)})

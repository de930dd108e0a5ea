"""Send a query to a provider, record the exchange in the journal, and rank the hits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from spadework.budget import Budget
from spadework.errors import BudgetSpent, SearchError
from spadework.graph.context import SessionContext
from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.settings import Settings
from spadework.tools.fetch.guard import is_http_url
from spadework.tools.ranking.query_operators import is_dated
from spadework.tools.ranking.relevance import query_terms, relevance
from spadework.tools.ranking.selection import LOCAL
from spadework.tools.search.provider import Preparing, Provider, replay_traffic, tape_traffic
from spadework.tools.search.result_rows import add_filters
from spadework.tools.stores.exchanges import Request, Tape
from spadework.tools.text.prompt_injection import is_injection, without_injections
from spadework.values import Found, Freshness, Hit, Plan, Problem, Query, Recommendation, Task
from spadework.visible import one_line


def date_queries(queries: Sequence[Query], freshness: Freshness) -> tuple[Query, ...]:
    """Restrict the queries to the page age that `freshness` requires. For "now", the first query
    searches news, and the others search the past year.
    """
    if freshness == "any" or not queries:
        return tuple(queries)
    recent = tuple(query.model_copy(update={"freshness": "recent"}) for query in queries)
    if freshness == "recent":
        return recent
    return (queries[0].model_copy(update={"freshness": "now"}), *(recent[1:] or recent))


def with_filters(task: Task, settings: Settings, question: str) -> Task:
    """Add the settings' filters and the question's language to a task's queries."""
    queries, again = (
        tuple(add_filters(query, settings, question) for query in of)
        for of in (task.queries, task.again)
    )
    return task.model_copy(update={"queries": queries, "again": again})


def gap_query(wanted: Recommendation, plan: Plan, seconds: float) -> Query:
    """Return the query of a recommended search, limited to the past year if freshness matters."""
    return Query(
        text=wanted.query,
        kind="gap",
        freshness="any" if plan.freshness == "any" else "recent",
        include_domains=wanted.include_domains,
        exclude_domains=wanted.exclude_domains,
        results=wanted.max_results,
        seconds=seconds,
    )


_HITS: TypeAdapter[list[Hit]] = TypeAdapter(list[Hit])
LEAST_SECONDS = 3.0
#: Maximum seconds to wait for one search.
SEARCH_SECONDS = 30.0
#: A provider is abandoned this many seconds after its deadline.
GRACE_SECONDS = 1.5
SNIPPET_CHARS = 2_000


async def search_one(
    context: SessionContext, provider: Provider, query: Query, seconds: float
) -> list[Hit] | Problem:
    """Return ranked hits, or a problem. If there are none, search again without the age limit."""
    try:
        hits = await _hits(context, provider, query, seconds)
        if not hits and _may_be_older(query):
            hits = await _hits(context, provider, _of_any_age(query), seconds)
    except (SearchError, BudgetSpent, Stopped, TimeoutError) as error:
        reason = str(error) or f"The run did not wait for {provider.name}."
        return Problem(
            stage="search",
            subject=provider.name,
            reason=reason,
            effect=f"{provider.name} was not searched for “{query.text}”.",
        )
    return ranked_hits(hits, query)


async def _hits(
    context: SessionContext, provider: Provider, query: Query, seconds: float
) -> list[Hit]:
    limit = context.most_hits
    new = False

    async def search() -> list[Hit]:
        nonlocal new
        if (kept := await context.search.find_cached(provider, query, limit=limit)) is not None:
            context.budget.add(cache_hits=1)
            return kept
        new = True
        return await _asked_now(context, provider, query, seconds)

    async def ask(tape: Tape) -> list[Hit]:
        try:
            with tape_traffic(tape):
                hits = await search()
        except (Stopped, TimeoutError):
            raise SearchError(f"The run did not wait for {provider.name}.") from None
        if not tape.pieces:  # No traffic was recorded, for example because of a cache.
            tape.add({"hits": len(hits)}, _HITS.dump_json(hits))
        return hits

    async def read(tape: Tape) -> list[Hit]:
        if "hits" in tape.last.head:
            return _HITS.validate_json(tape.last.body)
        with replay_traffic(tape):
            return await context.search.replay(provider, query, limit=limit, seconds=seconds)

    key = _key(context, provider, query)
    request = Request("search", key, about=f"“{query.text}” on {provider.name}")

    async def work() -> list[Hit]:
        hits = await context.journal.exchange(request, ask, read)
        # Cache the hits only after charging for them. Otherwise, a run stopped before the charge
        # would get them for free when resumed.
        if new:
            await context.search.keep(provider, query, hits, limit=limit)
        return hits

    return await context.journal.once("search", key, list[Hit], work)


async def _asked_now(
    context: SessionContext, provider: Provider, query: Query, seconds: float
) -> list[Hit]:
    made = False

    def charge() -> None:
        nonlocal made
        context.budget.charge("searches")
        made = True

    if isinstance(provider, Preparing):
        left = context.budget.step("search", least=LEAST_SECONDS)
        await unless_stopped(context.stop, provider.prepare(query), seconds=left)
    limit = context.most_hits
    searching = context.search.ask(provider, query, limit=limit, seconds=seconds, charge=charge)
    try:
        return await unless_stopped(context.stop, searching, seconds=seconds + GRACE_SECONDS)
    except (SearchError, TimeoutError):
        context.budget.add(search_errors=int(made))
        raise


async def kept_hits(context: SessionContext, provider: Provider, query: Query) -> list[Hit] | None:
    """Return the hits of an earlier `search_one` call in this session, or None."""
    hits = await context.journal.find("search", _key(context, provider, query), list[Hit])
    if not hits and _may_be_older(query):
        hits = await context.journal.find(
            "search", _key(context, provider, _of_any_age(query)), list[Hit]
        )
    return None if hits is None else ranked_hits(hits, query)


def _key(context: SessionContext, provider: Provider, query: Query) -> dict[str, Any]:
    wishes = query.model_dump(
        mode="json", exclude={"text", "kind", "results", "seconds"}, exclude_defaults=True
    )
    return {"provider": provider.name, "query": query.text, "limit": context.most_hits, **wishes}


def _may_be_older(query: Query) -> bool:
    return query.freshness != "any" and not is_dated(query)


def _of_any_age(query: Query) -> Query:
    return query.model_copy(update={"freshness": "any"})


def ranked_hits(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """Return the hits with web or library addresses, rated by their relevance to the query."""
    terms = query_terms(query.text)
    return [
        _rank_hit(hit, query, terms)
        for hit in hits
        if hit.url.startswith(LOCAL) or is_http_url(hit.url)
    ]


def search_seconds(budget: Budget, query: Query) -> float:
    """Return how many seconds a search may take now."""
    most = min(SEARCH_SECONDS, query.seconds or SEARCH_SECONDS)
    return min(most, budget.step("search", least=LEAST_SECONDS))


def _rank_hit(hit: Hit, query: Query, terms: list[str]) -> Hit:
    title = "" if is_injection(hit.title) else one_line(hit.title)
    snippet = one_line(without_injections(hit.snippet), SNIPPET_CHARS)
    worth = relevance(title, snippet, hit.position, terms)
    found = Found(query=query.text, kind=query.kind, provider=hit.provider, rank=hit.position)
    told = {"title": title, "snippet": snippet, "relevance": worth, "found_by": (found,)}
    return hit.model_copy(update=told)

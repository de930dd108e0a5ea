"""One query at one provider, through the journal: asked once in a session, and ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from spadework.budget import Budget
from spadework.errors import BudgetSpent, SearchError
from spadework.graph.desk import Desk
from spadework.graph.waiting import Stopped, unless_stopped
from spadework.settings import Settings
from spadework.tools.fetch.guard import is_http_url
from spadework.tools.inline import one_line
from spadework.tools.orders import is_order, without_orders
from spadework.tools.rank import query_terms, relevance
from spadework.tools.search.provider import Provider
from spadework.tools.search.recency import is_dated
from spadework.tools.tape import Request, Tape
from spadework.tools.wire import replayed, taped
from spadework.values import Found, Hit, Problem, Query

_HITS: TypeAdapter[list[Hit]] = TypeAdapter(list[Hit])


#: In a short run a search may take this long all the same.
LEAST_SECONDS = 3.0


#: A provider keeps its own deadline; past this it is not waited for.
GRACE_SECONDS = 1.5


#: Characters of a snippet that are kept.
SNIPPET_CHARS = 2_000


async def search_one(
    desk: Desk, provider: Provider, query: Query, seconds: float
) -> list[Hit] | Problem:
    """The hits of one query at one provider with their relevance, or what went wrong.

    Where nothing is found that is recent enough, the query is asked again for pages of any age.
    """
    try:
        hits = await _hits(desk, provider, query, seconds)
        if not hits and _may_be_older(query):
            hits = await _hits(desk, provider, _of_any_age(query), seconds)
    except (SearchError, BudgetSpent, Stopped, TimeoutError) as error:
        reason = str(error) or "It was not waited for."
        return Problem(
            stage="search",
            subject=provider.name,
            reason=reason,
            effect=f"“{query.text}” was not searched there.",
        )
    return ranked_hits(hits, query)


async def _hits(desk: Desk, provider: Provider, query: Query, seconds: float) -> list[Hit]:
    """The hits of one query, asked once in the session; those that are kept from another session
    cost no search.
    """
    limit = desk.settings.search_results
    new = False

    async def asked() -> list[Hit]:
        nonlocal new
        if (kept := await desk.search.known(provider, query, limit=limit)) is not None:
            desk.budget.add(cache_hits=1)
            return kept
        new = True
        return await _asked_now(desk, provider, query, seconds)

    async def ask(tape: Tape) -> list[Hit]:
        try:
            with taped(tape):
                hits = await asked()
        except (Stopped, TimeoutError):
            raise SearchError("It was not waited for.") from None
        if not tape.pieces:  # nothing of it came over a wire of ours
            tape.add({"hits": len(hits)}, _HITS.dump_json(hits))
        return hits

    async def read(tape: Tape) -> list[Hit]:
        if "hits" in tape.last.head:
            return _HITS.validate_json(tape.last.body)
        with replayed(tape):
            return await desk.search.again(provider, query, limit=limit, seconds=seconds)

    key = _key(desk, provider, query)
    request = Request("search", key, about=f"“{query.text}” at {provider.name}")

    async def work() -> list[Hit]:
        hits = await desk.journal.exchange(request, ask, read)
        if new:  # what is kept before it is charged would be free for who takes the run up
            await desk.search.keep(provider, query, hits, limit=limit)
        return hits

    return await desk.journal.once("search", key, list[Hit], work)


async def _asked_now(desk: Desk, provider: Provider, query: Query, seconds: float) -> list[Hit]:
    """The hits of one provider, asked now; a search that was made and failed is counted as such.

    Raises SearchError, Stopped, TimeoutError.
    """
    made = False

    def charge() -> None:
        nonlocal made
        desk.budget.charge("searches")
        made = True

    limit = desk.settings.search_results
    searching = desk.search.ask(provider, query, limit=limit, seconds=seconds, charge=charge)
    try:
        return await unless_stopped(desk.stop, searching, seconds=seconds + GRACE_SECONDS)
    except (SearchError, TimeoutError):
        desk.budget.add(search_errors=int(made))
        raise


async def kept_hits(desk: Desk, provider: Provider, query: Query) -> list[Hit] | None:
    """The hits that `search_one` has found in this session with their relevance, None where it has
    not.
    """
    hits = await desk.journal.known("search", _key(desk, provider, query), list[Hit])
    if not hits and _may_be_older(query):
        hits = await desk.journal.known(
            "search", _key(desk, provider, _of_any_age(query)), list[Hit]
        )
    return None if hits is None else ranked_hits(hits, query)


def _key(desk: Desk, provider: Provider, query: Query) -> dict[str, Any]:
    """What makes a search the same as another."""
    wishes = query.model_dump(
        mode="json", exclude={"text", "kind", "results"}, exclude_defaults=True
    )
    return {
        "provider": provider.name,
        "query": query.text,
        "limit": desk.settings.search_results,
        **wishes,
    }


def _may_be_older(query: Query) -> bool:
    """Whether pages of any age are asked for where none is recent enough: not where the days that
    count are named.
    """
    return query.freshness != "any" and not is_dated(query)


def _of_any_age(query: Query) -> Query:
    return query.model_copy(update={"freshness": "any"})


def ranked_hits(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """The hits of one query that can be read, with their relevance to it and where they were
    found.
    """
    terms = query_terms(query.text)
    return [
        _ranked(hit, query, terms)
        for hit in hits
        if hit.url.startswith("library://") or is_http_url(hit.url)
    ]


def search_seconds(budget: Budget, settings: Settings) -> float:
    """Seconds for one search now."""
    return min(settings.search_seconds, budget.step("search", least=LEAST_SECONDS))


def _ranked(hit: Hit, query: Query, terms: list[str]) -> Hit:
    title = "" if is_order(hit.title) else one_line(hit.title)
    hit = hit.model_copy(
        update={"title": title, "snippet": one_line(without_orders(hit.snippet), SNIPPET_CHARS)}
    )
    found = Found(query=query.text, kind=query.kind, provider=hit.provider, rank=hit.position)
    return hit.model_copy(
        update={
            "relevance": relevance(hit.title, hit.snippet, hit.position, terms),
            "found_by": (found,),
        }
    )

"""Search without a run: rank and select hits, but read and store nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spadework.budget import Budget
from spadework.events import Event, Notice
from spadework.graph.context import SessionContext
from spadework.graph.nodes.gather import asked_of, task_of
from spadework.graph.nodes.search import Answers, fused_hits, search_all
from spadework.graph.nodes.select import with_worth
from spadework.graph.pages.provider_search import SEARCH_SECONDS
from spadework.graph.parts import PagesAlone
from spadework.sessions.lookups.documents import temporary_context
from spadework.settings import Settings
from spadework.tools.extract.expected_type import foreseen
from spadework.tools.ranking.relevance import query_terms, relevance_parts
from spadework.tools.ranking.selection import Selection, preset_of, reason, select
from spadework.tools.search.dispatch.provider_choice import usable
from spadework.tools.search.result_rows import add_filters
from spadework.values import Hit, Query, Value

__all__ = ["SEARCH_SECONDS", "Looked", "Ranked", "search", "usable"]


class Ranked(Value):
    """A hit, the unweighted parts of its relevance (title, snippet and position, 0 to 1), its
    probable kind, and whether and why a run would read it.
    """

    hit: Hit
    parts: dict[str, float]
    shape: str = ""
    selected: bool
    reason: str


class Looked(Value):
    """A search's hits, best first, the providers searched, the failed ones with reasons, and
    notices. `answered` is False if every provider failed.
    """

    hits: tuple[Ranked, ...] = ()
    searched: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    answered: bool = True


async def search(
    query: str,
    settings: Settings | None = None,
    *,
    limit: int = 0,
    sites: Sequence[str] = (),
    providers: Sequence[Any] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> Looked:
    """Search with the settings' providers, or with `providers` (see `Session.search_with`), and
    fuse the hits. At most `limit` hits are requested of each (0: 15, deep 30). The settings'
    limits and domains apply, narrowed to `sites`. `tell` receives messages about slow steps.

    Raises SettingsError for an empty query or unusable settings.
    """
    settings = settings or Settings.load()
    asked = asked_of(query).model_copy(update={"include_domains": tuple(sites)})
    asked = add_filters(asked, settings, query)
    told: list[str] = []

    def emit(event: Event) -> None:
        told.extend([event.text] if isinstance(event, Notice) else [])

    budget = Budget.of(settings)
    async with temporary_context(settings, budget, tell, PagesAlone(tuple(providers))) as context:
        context.most_hits = limit or context.most_hits
        answers = await search_all(context, task_of(asked), emit)
        await context.note_searching()
        return _look_up(context, asked, answers, told)


def _look_up(
    context: SessionContext, query: Query, answers: Answers, told: Sequence[str]
) -> Looked:
    hits = [
        with_worth(hit, foreseen(hit.url, hit.title).worth) for hit in fused_hits(answers.lists)
    ]
    made = select(hits, preset=preset_of(context.settings), asked=query.text)
    failures = {f"{p.reason} {p.effect}".rstrip() for p in answers.problems}
    beside = (f"{p.reason} {p.effect}".rstrip() for p in context.page_cache.problems)
    notices = (*context.notices, *(text for text in told if text not in failures), *beside)
    return Looked(
        hits=tuple(_rank_hit(hit, query, made) for hit in hits),
        searched=context.searching,
        failed=tuple(f"{p.subject}: {p.reason}" for p in answers.problems),
        notices=tuple(dict.fromkeys(notices)),
        answered=bool(answers.heard) or not answers.problems,
    )


def _rank_hit(hit: Hit, query: Query, made: Selection) -> Ranked:
    terms = query_terms(query.text)
    parts = relevance_parts(hit.title, hit.snippet, hit.position, terms)
    return Ranked(
        hit=hit,
        parts=parts,
        shape=foreseen(hit.url, hit.title).shape,
        selected=hit in made.chosen,
        reason=reason(hit, made),
    )

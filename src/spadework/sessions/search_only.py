"""Search or plan without starting a run. Neither reads pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from spadework.budget import Budget
from spadework.events import Event, Notice
from spadework.graph.context import SessionContext
from spadework.graph.nodes.gather import asked_of, task_of
from spadework.graph.nodes.plan import foreseen as forecast_of, make_plan, today
from spadework.graph.nodes.search import Answers, fused_hits, search_all
from spadework.graph.nodes.select import with_worth
from spadework.graph.pages.provider_search import SEARCH_SECONDS
from spadework.graph.parts import PagesAlone
from spadework.graph.routes import question_of
from spadework.graph.state import ResearchState
from spadework.sessions.documents import temporary_context
from spadework.sessions.metrics.run_history import experience
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.extract.expected_type import foreseen
from spadework.tools.ranking.relevance import query_terms, relevance_parts
from spadework.tools.ranking.selection import Selection, preset_of, reason, select
from spadework.tools.search.provider import RESULTS
from spadework.tools.search.provider_choice import usable
from spadework.tools.search.result_rows import add_filters
from spadework.values import Forecast, Hit, Plan, Problem, Query, Usage, Value

__all__ = ["SEARCH_SECONDS", "Looked", "Ranked", "search", "usable"]


class Ranked(Value):
    """A ranked hit. `parts` holds the scores (0 to 1) of its position, title and snippet, and
    `shape` is its probable document type. `selected` is true if a run would read it, and `reason`
    says why or why not.
    """

    hit: Hit
    parts: dict[str, float]
    shape: str = ""
    selected: bool
    reason: str


class Looked(Value):
    """The outcome of a search. `answered` is False if every provider failed."""

    hits: tuple[Ranked, ...] = ()
    searched: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    answered: bool = True


def hits_to_request(shown: int, settings: Settings) -> int:
    """Return how many hits to request from each provider so that `shown` hits can be displayed."""
    return max(shown, RESULTS[settings.effort])


async def search(
    query: str,
    settings: Settings | None = None,
    *,
    limit: int = 0,
    sites: Sequence[str] = (),
    providers: Sequence[Any] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> Looked:
    """Search with the providers from the settings, or with `providers`, and fuse the hits.

    - `limit`: the maximum hits to request per provider (0 means 15, or 30 at deep effort).
    - `sites`: the domains to search. They can narrow the settings' domains, but not widen them.
    - `providers`: see `Session.search_with`.
    - `tell`: receives messages about slow steps.

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
        with_worth(hit, foreseen(hit.url, hit.title).worth)
        for hit in fused_hits(answers.lists)
        if not (kinds := context.settings.search_kinds) or hit.kind in ("", *kinds)
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
    return Ranked(
        hit=hit,
        parts=relevance_parts(hit.title, hit.snippet, hit.position, query_terms(query.text)),
        shape=foreseen(hit.url, hit.title).shape,
        selected=hit in made.chosen,
        reason=reason(hit, made),
    )


class Preview(Value):
    """A plan, the expected usage of its run, and the usage and problems of making the plan."""

    plan: Plan
    forecast: Forecast
    usage: Usage
    problems: tuple[Problem, ...] = ()


async def preview(session: Session, tell: Callable[[str], None] = lambda text: None) -> Preview:
    """Return the plan that a session would make, with its forecast. A plan made by a model is
    stored, and reused when the same question is run. `tell` receives notices. Raises
    SettingsError.
    """

    def emit(event: Event) -> None:
        if isinstance(event, Notice):
            tell(event.text)

    async with temporary_context(session.settings, session.budget, tell) as context:
        for notice in context.notices:
            tell(notice)
        await context.index_library("" if session.brief.follows else session.question)
        asked = cast("ResearchState", {**session.brief.state(), "asked_on": today()})
        context.experience = await experience(session.settings.home)
        made, problems, seconds = await make_plan(context, question_of(asked), emit)
        return Preview(
            plan=made,
            forecast=await forecast_of(context, made, seconds, follows=bool(session.brief.follows)),
            usage=context.budget.used,
            problems=(*context.problems, *problems),
        )

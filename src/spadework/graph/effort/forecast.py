"""Estimate of a run, from all topics covered in the first round to every round used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from spadework.agents.llm.limits import ANSWERS, CLOSING
from spadework.graph.effort.workload import workload
from spadework.graph.nodes.distil import room_of
from spadework.settings import Effort, Role, Settings
from spadework.values import Forecast, Plan, Span, Task

#: Seconds of a round on the web, of one with local files only, and of a wave of model calls:
#: typical and slow.
ROUND_SECONDS, LOCAL_SECONDS, WAVE_SECONDS = (3.0, 40.0), (0.5, 6.0), (2.0, 20.0)
#: Providers that search local files.
LOCAL = frozenset({"library"})
#: A model that took longer for the plan is assumed to answer calls in sequence, as local models do:
#: each takes this share of the plan's time, typical and slow.
SLOW_SECONDS, CALL_SHARE = 20.0, (0.5, 1.5)
#: Waves of model calls in a run of one round, and per further round.
WAVES, WAVES_MORE = 4, 1
#: Tokens of a prompt without its material, and of answers.
PROMPT_TOKENS, ASSESSMENT_TOKENS, SECTION_TOKENS, PLAN_TOKENS, SMALL_TOKENS = (
    1_000,
    (150, ANSWERS["assessor"]),
    (150, ANSWERS["writer"]),
    (300, ANSWERS["lead"]),
    (30, ANSWERS["judge"]),
)
#: Judge calls per topic and round: hit screening, and at deep effort also the reflection; and the
#: tokens of the hits.
JUDGED: dict[Effort, int] = {"quick": 0, "normal": 1, "deep": 2}
HITS_TOKENS = 2_000
#: Characters per token, and of the evidence for a section.
CHARS, EVIDENCE_CHARS = 4, (800, 6_000)

Tokens = dict[Role, tuple[int, int]]


def forecast(
    plan: Plan,
    tasks: Sequence[Task],
    settings: Settings,
    *,
    providers: Sequence[str] = ("",),
    model: bool = True,
    plan_seconds: float = 0.0,
) -> Forecast:
    """Return the estimate for a plan with these first `tasks`, within the settings' limits; money
    is None if a price is unknown. `providers` are the names searched, `plan_seconds` the model's
    planning time, 0 if it made none now.
    """
    count, more = len(plan.topics), settings.iterations - 1
    searches = sum(len(task.queries) for task in tasks) * len(providers)
    load = workload(plan, settings, model=model)
    # The broad search before the plan is done by now.
    looked = len(providers) if model and settings.effort != "quick" else 0
    gap_searches = looked + more * count * load.gap_queries * len(providers)
    pages = pages_of(tasks)
    low, high = (
        (_tokens(count, 0, settings, 0), _tokens(count, more, settings, 1)) if model else ({}, {})
    )
    called = _calls(count, more, settings) if model else (0, 0)
    thinking = _model_seconds(more, called, plan_seconds) if model else (0.0, 0.0)
    round_seconds = LOCAL_SECONDS if set(providers) <= LOCAL else ROUND_SECONDS
    return Forecast(
        workers=len(tasks),
        rounds=Span(low=1, high=settings.iterations),
        searches=_span(searches, searches + gap_searches, settings.searches),
        pages=_span(min(2 * count, pages), pages + more * count * load.gap_pages, settings.pages),
        calls=_span(*called, settings.calls),
        tokens=_span(_sum(low), _sum(high), settings.tokens),
        writing=_span(_sum(low, CLOSING), _sum(high, CLOSING), settings.tokens),
        seconds=_span(
            round_seconds[0] + thinking[0],
            (more + 1) * round_seconds[1] + thinking[1],
            settings.minutes * 60,
        ),
        money=_money(low, high, settings) if model else Span(),
    )


def later(made: Forecast, gone: float, settings: Settings) -> Forecast:
    """Add the seconds already spent, as for indexing a library."""
    seconds = _span(made.seconds.low + gone, made.seconds.high + gone, settings.minutes * 60)
    return made.model_copy(update={"seconds": seconds})


def ceilings(settings: Settings) -> dict[str, float]:
    """Return the limits that end a run, by the names of the estimate's ranges."""
    return {
        "rounds": settings.iterations,
        "searches": settings.searches,
        "pages": settings.pages,
        "calls": settings.calls,
        "tokens": settings.tokens,
        "seconds": settings.minutes * 60,
        "money": settings.money,
    }


def pages_of(tasks: Sequence[Task]) -> int:
    """Return the maximum pages of a round's tasks."""
    whole = sum(task.pages for task in tasks)
    return min([whole, *(task.together for task in tasks if task.together is not None)])


def _model_seconds(more: int, calls: tuple[int, int], plan_seconds: float) -> tuple[float, float]:
    """Return the seconds of model calls: in waves or, for a slow model, in sequence."""
    if plan_seconds > SLOW_SECONDS:
        return calls[0] * plan_seconds * CALL_SHARE[0], calls[1] * plan_seconds * CALL_SHARE[1]
    return WAVES * WAVE_SECONDS[0], (WAVES + more * WAVES_MORE) * WAVE_SECONDS[1]


def _calls(count: int, more: int, settings: Settings) -> tuple[int, int]:
    """Return the model calls of a one-round run, and of one with `more`: plan, assessment and
    section per topic, summary over several; at deep effort a reflection per topic and the review;
    at normal effort screening per topic. Cleaning is not included: it takes at most a third of the
    limit, and yields to these.
    """
    deep = settings.effort == "deep"
    low = 1 + 2 * count + (count > 1) + (2 * count + 1 if deep else 0)
    looks = count if settings.effort == "normal" else 0
    return low, low + looks + more * count * (1 + JUDGED[settings.effort])


def _tokens(count: int, more: int, settings: Settings, of: int) -> Tokens:
    """Return tokens in and out by role; `of` is 0 for a good run, 1 for the maximum."""
    rounds = 1 + more
    shown = room_of(count, settings.window_tokens, settings.shown_tokens) // (2 - of)
    sections = count + (count > 1)
    made: Tokens = {
        "lead": (PROMPT_TOKENS, PLAN_TOKENS[of]),
        "assessor": (
            rounds * count * (PROMPT_TOKENS + shown),
            rounds * count * ASSESSMENT_TOKENS[of],
        ),
        "writer": (
            sections * (PROMPT_TOKENS + EVIDENCE_CHARS[of] // CHARS),
            sections * SECTION_TOKENS[of],
        ),
    }
    if of:  # if the report is in words that code cannot check
        told = PROMPT_TOKENS + sections * EVIDENCE_CHARS[of] // CHARS
        made["verifier"] = (told, ANSWERS["verifier"])
    if asked := JUDGED[settings.effort] if of or settings.effort == "deep" else 0:
        seen = shown if settings.effort == "deep" else HITS_TOKENS
        made["judge"] = (
            asked * rounds * count * (PROMPT_TOKENS + seen),
            asked * rounds * count * SMALL_TOKENS[of],
        )
    return made


def _sum(tokens: Tokens, roles: Sequence[Role] = get_args(Role)) -> int:
    return sum(told + said for role, (told, said) in tokens.items() if role in roles)


def _money(low: Tokens, high: Tokens, settings: Settings) -> Span | None:
    prices = {
        role: settings.prices.get(settings.model_for(role).rpartition(":")[2]) for role in high
    }
    if any(price is None for price in prices.values()):
        return None

    def cost(tokens: Tokens) -> float:
        return sum(
            (told * p[0] + said * p[1]) / 1_000_000
            for role, (told, said) in tokens.items()
            if (p := prices[role])
        )

    return _span(cost(low), cost(high), settings.money)


def _span(low: float, high: float, most: float) -> Span:
    return Span(low=round(min(low, most), 4), high=round(min(max(low, high), most), 4))

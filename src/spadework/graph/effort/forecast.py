"""Forecast a run's time, cost and work. The low estimate assumes one round, the high one all
rounds. The forecast is corrected with data from similar earlier runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import NamedTuple, get_args

from spadework.agents.llm.limits import ANSWERS, CLOSING
from spadework.graph.effort.workload import workload
from spadework.graph.nodes.distil import room_of
from spadework.settings import Effort, Role, Settings
from spadework.values import Forecast, Plan, Span, Task

#: Seconds per round of web searches (typical, slow).
ROUND_SECONDS = (3.0, 40.0)
#: Seconds per round of searches in local files (typical, slow).
LOCAL_SECONDS = (0.5, 6.0)
#: Seconds per wave of concurrent model calls (typical, slow).
WAVE_SECONDS = (2.0, 20.0)
LOCAL = frozenset({"library"})
#: A model that takes more than this many seconds to plan is assumed to answer one call at a time.
SLOW_SECONDS = 20.0
#: The duration of a model call, as a multiple of the planning call's duration (typical, slow).
CALL_SHARE = (0.5, 1.5)
#: Number of waves of concurrent model calls in a run with one round.
WAVES = 4
#: Number of waves of concurrent model calls in each further round.
WAVES_MORE = 1
#: Tokens of the instructions in a prompt, excluding material such as passages.
PROMPT_TOKENS = 1_000
# Tokens in an answer (typical, long).
ASSESSMENT_TOKENS = (150, ANSWERS["assessor"])
SECTION_TOKENS = (150, ANSWERS["writer"])
PLAN_TOKENS = (300, ANSWERS["lead"])
SMALL_TOKENS = (30, ANSWERS["judge"])
#: Calls to the judge model per topic and round: to screen hits and, at deep effort, to propose a
#: search.
JUDGED: dict[Effort, int] = {"quick": 0, "normal": 1, "deep": 2}
HITS_TOKENS = 2_000
#: Characters per token, and characters of evidence per report section (typical, long).
CHARS, EVIDENCE_CHARS = 4, (800, 6_000)

Tokens = dict[Role, tuple[int, int]]
#: Minimum and maximum number of earlier runs on which a forecast is based. The newest are used.
LEAST_RUNS, MOST_RUNS = 5, 20
#: A forecast's range excludes the lowest and the highest 1/PARTS of the values from earlier runs.
PARTS = 20
#: Number of decimal places for each forecast quantity.
DIGITS: dict[str, int] = dict.fromkeys(("rounds", "searches", "pages", "calls", "tokens"), 0)
DIGITS |= {"seconds": 2, "money": 4}


def forecast(
    plan: Plan,
    tasks: Sequence[Task],
    settings: Settings,
    *,
    providers: Sequence[str] = ("",),
    model: bool = True,
    plan_seconds: float = 0.0,
) -> Forecast:
    """Return the forecast for a plan that starts with `tasks`, within the limits of the settings.

    `providers` are the names of the search providers, and `model` says whether a model is used.
    `plan_seconds` is how long a model took to plan, or 0.
    """
    count, more = len(plan.topics), settings.iterations - 1
    searches = sum(len(task.queries) for task in tasks) * len(providers)
    load = workload(plan, settings, model=model)
    # The tasks do not include the search made before planning, so it is counted here.
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
    """Return the forecast with `gone` seconds added, for example for indexing."""
    seconds = _span(made.seconds.low + gone, made.seconds.high + gone, settings.minutes * 60)
    return made.model_copy(update={"seconds": seconds})


def ceilings(settings: Settings) -> dict[str, float]:
    """Return the limits that end a run, keyed by the names used in forecasts."""
    limits = settings.model_dump(include={"searches", "pages", "calls", "tokens", "money"})
    return limits | {"rounds": settings.iterations, "seconds": settings.minutes * 60}


def pages_of(tasks: Sequence[Task]) -> int:
    """Return how many pages the tasks of a round may read in total."""
    whole = sum(task.pages for task in tasks)
    return min([whole, *(task.together for task in tasks if task.together is not None)])


def _model_seconds(more: int, calls: tuple[int, int], plan_seconds: float) -> tuple[float, float]:
    if plan_seconds > SLOW_SECONDS:
        return calls[0] * plan_seconds * CALL_SHARE[0], calls[1] * plan_seconds * CALL_SHARE[1]
    return WAVES * WAVE_SECONDS[0], (WAVES + more * WAVES_MORE) * WAVE_SECONDS[1]


def _calls(count: int, more: int, settings: Settings) -> tuple[int, int]:
    """Return how many model calls a run makes with one round, and how many with `more` further
    rounds. Calls for cleaning pages are not counted.
    """
    deep = settings.effort == "deep"
    low = 1 + 2 * count + (count > 1) + (2 * count + 1 if deep else 0)
    looks = count if settings.effort == "normal" else 0
    return low, low + looks + more * count * (1 + JUDGED[settings.effort])


def _tokens(count: int, more: int, settings: Settings, of: int) -> Tokens:
    """Estimate each role's input and output tokens, low if `of` is 0 and high if `of` is 1."""
    judged = (1 + more) * count
    shown = room_of(count, settings) // (2 - of)
    sections = count + (count > 1)
    told = EVIDENCE_CHARS[of] // CHARS
    made: Tokens = {
        "lead": (PROMPT_TOKENS, PLAN_TOKENS[of]),
        "assessor": (judged * (PROMPT_TOKENS + shown), judged * ASSESSMENT_TOKENS[of]),
        "writer": (sections * (PROMPT_TOKENS + told), sections * SECTION_TOKENS[of]),
    }
    if of:  # The low estimate assumes that rules can check the whole report.
        made["verifier"] = (PROMPT_TOKENS + sections * told, ANSWERS["verifier"])
    if asked := JUDGED[settings.effort] if of or settings.effort == "deep" else 0:
        seen = shown if settings.effort == "deep" else HITS_TOKENS
        asked *= judged
        made["judge"] = (asked * (PROMPT_TOKENS + seen), asked * SMALL_TOKENS[of])
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


class Took(NamedTuple):
    """A finished run, and how much of each quantity in DIGITS it used."""

    kind: str
    machine: str
    actual: Mapping[str, float]


def by_experience(made: Forecast, earlier: Sequence[Took], limits: Mapping[str, float]) -> Forecast:
    """Correct a forecast if `earlier` has enough runs of the same kind on the same machine."""
    alike = [t.actual for t in earlier if (t.kind, t.machine) == (made.kind, made.machine)][
        :MOST_RUNS
    ]
    if len(alike) < LEAST_RUNS:
        return made
    spans = {
        name: _experienced_span(
            [actual[name] for actual in alike], digits, limits.get(name, math.inf)
        )
        for name, digits in DIGITS.items()
        if all(name in actual for actual in alike)
    }
    return made.model_copy(update={**spans, "runs": len(alike)})


def _experienced_span(taken: Sequence[float], digits: int, most: float) -> Span:
    low, *_, high = quantiles(taken, n=PARTS)
    grain = 10.0**-digits
    return Span(
        low=round(min(most, max(0.0, math.floor(low / grain + 1e-6) * grain)), digits),
        median=round(min(most, median(taken)), digits),
        high=round(min(most, math.ceil(high / grain - 1e-6) * grain), digits),
    )

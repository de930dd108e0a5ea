"""Decide whether a topic is worth the price of another round, as a share of the remaining time and
tokens. The gains and the threshold without a model were measured on questions with known answers
(benchmarks/rounds_sweep.py, benchmarks/README.md).
"""

from __future__ import annotations

from collections.abc import Collection

from spadework.budget import Budget
from spadework.graph.context import SessionContext
from spadework.graph.state import ResearchState
from spadework.tools.ranking.conflicts import conflicts
from spadework.values import CODE, Coverage, Topic

#: Minimum expected gain of another round when code judges.
LEAST = 0.17
#: Minimum difference between two judgements by code, which are inexact. Smaller values lost facts.
CLEARLY = 0.1
#: Factor on the score for each shortfall.
LACKING = 0.5
#: Gain that is worth all the remaining time or tokens.
WORTH = 0.5
#: Shortfalls that another search may fix.
RAISING = frozenset({"definition", "steps", "code", "dates", "quality", "freshness", "domains"})
#: Price of a round that takes everything left.
ALL = 1.0


async def price(context: SessionContext, state: ResearchState) -> float:
    """Return the price of another round, recorded for replays."""
    rounds = len(state["rounds"])
    return await context.noted("price", f"round {rounds}", share(context.budget, rounds), 0.0)


def share(budget: Budget, rounds: int) -> float:
    """Return the share (0 to 1) of the remaining time and tokens that a round like the previous
    ones takes.
    """
    time = budget.reckoned("search", "read", "assess")
    tokens = (1 - budget.shares["write"]) * budget.limits.tokens - budget.spent("tokens")
    taken = ((budget.elapsed(), time), (budget.spent("tokens"), tokens))
    shares = (spent / rounds / left if left > 0 else 1.0 for spent, left in taken if spent)
    return round(min(1.0, max(shares, default=0.0)), 2)


def open_topics(state: ResearchState) -> list[Topic]:
    """Return the plan's topics that are not answered."""
    found = state["coverage"]
    return [t for t in state["plan"].topics if t.name not in found or not found[t.name].covered]


def worth_asking(state: ResearchState, price: float) -> list[Topic]:
    """Return the topics worth another round at this price: open ones and, if a round is affordable,
    answered ones with shortfalls.
    """
    return [topic for topic in state["plan"].topics if _is_worth(topic, state, price)]


def _is_worth(topic: Topic, state: ResearchState, price: float) -> bool:
    found, survey = state["coverage"].get(topic.name), state["plan"].question_type == "list"
    if found is None:
        return True
    if found.covered:
        return price < ALL and bool(_falls_short(topic, state))
    expected = gain(found, lacks(topic, state), survey=survey)
    # A model names what is missing, so its search has a target.
    least = LEAST if found.judge == CODE else 0.0
    return expected >= max(least, WORTH * price)


def no_better(new: Coverage, old: Coverage) -> bool:
    """Return whether to keep the old judgement instead of code's new one. It is kept unless the new
    one is clearly better, newly answers the topic, or the old evidence led to a search.
    """
    led = any(wanted.led_to for wanted in old.recommendations)
    answered = new.covered and not old.covered
    return new.score < old.score + CLEARLY and not answered and not led


def gain(found: Coverage, lacking: Collection[str], *, survey: bool = False) -> float:
    """Return the expected gain (0 to 1) of another round. This is what the score lacks. It is 1 for
    open topics, for surveys, and where the evidence leads to further searches.
    """
    led = any(wanted.led_to for wanted in found.recommendations)
    if survey or led or found.state == "open":
        return 1.0
    return 1 - found.score * LACKING ** len(lacking)


def lacks(topic: Topic, state: ResearchState) -> set[str]:
    """Return the shortfalls of a topic, or of the whole answer, that another round may fix."""
    ids = set(state["coverage"][topic.name].evidence_ids)
    own = [e for e in state.get("evidence", []) if e.id in ids]
    return {*_falls_short(topic, state), *({"conflict"} if conflicts(own) else ())}


def _falls_short(topic: Topic, state: ResearchState) -> set[str]:
    """Return the fixable shortfalls. Freshness counts only if news is wanted, quality only if the
    previous round improved it.
    """
    kinds = {str(s.kind) for s in state.get("shortfalls", []) if s.topic in ("", topic.name)}
    plan, rounds = state["plan"], state.get("rounds", [])
    if plan.question_type != "latest" and plan.freshness != "now":
        kinds -= {"freshness"}
    before = rounds[-1].quality_before if rounds else None
    if before is not None and (rounds[-1].quality or 0.0) <= before:
        kinds -= {"quality"}
    return kinds & RAISING

"""Whether a topic is asked again that is not answered, or whose evidence falls short: what a
further round is expected to bring, against its price, the share of the time and tokens left that it
takes.

What a round without a model brings was measured on questions with known answers, and the least
gain chosen there (benchmarks/rounds_sweep.py, benchmarks/README.md).
"""

from __future__ import annotations

from collections.abc import Collection

from spadework.budget import Budget
from spadework.graph.context import SessionContext
from spadework.graph.state import ResearchState
from spadework.tools.ranking.conflicts import conflicts
from spadework.values import Coverage, Topic

#: The least expected gain for which code asks again.
LEAST = 0.17
#: From so much on one judgement of code is better than another; less is the error of its
#: probability. Rounds after which it was less better had lost facts.
CLEARLY = 0.1
#: What is left of the score for each thing that the evidence lacks.
LACKING = 0.5
#: What the whole of the time or the tokens left is worth.
WORTH = 0.5
#: What evidence can lack and a search may find.
RAISING = frozenset({"definition", "steps", "code", "dates", "quality", "freshness", "domains"})
#: The price of a round that takes all there is left.
ALL = 1.0


async def price(context: SessionContext, state: ResearchState) -> float:
    """What a further round is likely to take of what is left; in a replay what it was then."""
    rounds = len(state["rounds"])
    return await context.noted("price", f"round {rounds}", share(context.budget, rounds), 0.0)


def share(budget: Budget, rounds: int) -> float:
    """The share of the time and tokens left that one more round like those before takes, 0..1."""
    time = budget.reckoned("search", "read", "assess")
    tokens = (1 - budget.shares["write"]) * budget.limits.tokens - budget.spent("tokens")
    taken = ((budget.elapsed(), time), (budget.spent("tokens"), tokens))
    shares = (spent / rounds / left if left > 0 else 1.0 for spent, left in taken if spent)
    return round(min(1.0, max(shares, default=0.0)), 2)


def open_topics(state: ResearchState) -> list[Topic]:
    """The topics of the plan that are not answered."""
    found = state["coverage"]
    return [t for t in state["plan"].topics if t.name not in found or not found[t.name].covered]


def worth_asking(state: ResearchState, price: float) -> list[Topic]:
    """Return the topics whose expected gain is worth the price: those that are not answered, and as
    long as a round is affordable those that are and whose evidence falls short.
    """
    return [topic for topic in state["plan"].topics if _is_worth(topic, state, price)]


def _is_worth(topic: Topic, state: ResearchState, price: float) -> bool:
    found, survey = state["coverage"].get(topic.name), state["plan"].question_type == "list"
    if found is None:
        return True
    if found.covered:
        return price < ALL and bool(_falls_short(topic, state))
    expected = gain(found, lacks(topic, state), survey=survey)
    # What a model calls missing is named, and searched for by that name.
    least = LEAST if found.quality is None else 0.0
    return expected >= max(least, WORTH * price)


def no_better(new: Coverage, old: Coverage) -> bool:
    """Whether code does not judge a topic clearly better than the round before, which is then
    believed; unless only now it is answered, or the evidence only led on before.
    """
    led = any(wanted.led_to for wanted in old.recommendations)
    answered = new.covered and not old.covered
    return new.score < old.score + CLEARLY and not answered and not led


def gain(found: Coverage, lacking: Collection[str], *, survey: bool = False) -> float:
    """What a further round is expected to bring for a topic, 0..1: all where nothing is quoted,
    where the evidence leads on, and for a survey, which lives of many pages; else what is missing.
    """
    led = any(wanted.led_to for wanted in found.recommendations)
    if survey or led or found.state == "open":
        return 1.0
    return 1 - found.score * LACKING ** len(lacking)


def lacks(topic: Topic, state: ResearchState) -> set[str]:
    """Return what the evidence of a topic lacks, or that of the whole, and a round may bring."""
    ids = set(state["coverage"][topic.name].evidence_ids)
    own = [e for e in state.get("evidence", []) if e.id in ids]
    return {*_falls_short(topic, state), *({"conflict"} if conflicts(own) else ())}


def _falls_short(topic: Topic, state: ResearchState) -> set[str]:
    """Return in what the evidence is below its standard: in freshness only where news are asked
    for, and not in quality where the round before has not raised it.
    """
    kinds = {str(s.kind) for s in state.get("shortfalls", []) if s.topic in ("", topic.name)}
    plan, rounds = state["plan"], state.get("rounds", [])
    if plan.question_type != "latest" and plan.freshness != "now":
        kinds -= {"freshness"}
    before = rounds[-1].quality_before if rounds else None
    if before is not None and (rounds[-1].quality or 0.0) <= before:
        kinds -= {"quality"}
    return kinds & RAISING

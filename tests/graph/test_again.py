"""Whether an open topic is asked again: what is to be gained against the price, and that no round
makes worse what is known.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from spadework.budget import Budget
from spadework.graph.routes import gain, lacks, no_better, share, worth_asking
from spadework.graph.state import ResearchState
from spadework.values import (
    Coverage,
    Evidence,
    Plan,
    Quality,
    QuestionType,
    Recommendation,
    Round,
    Shortfall,
    Topic,
)

TOPIC = Topic(name="T", question="How is the crank wound?")
LED = Recommendation(query="Ada Brant", led_to=True)
SAID = "The crank is of brass."
RATED = Quality(accuracy=5, completeness=5, relevance=5, source_quality=5, clarity=5)


def coverage(score: float, *, covered: bool = False, **more: Any) -> Coverage:
    return Coverage(topic="T", covered=covered, score=score, **more)


def state(
    found: Coverage, *kinds: str, of: QuestionType = "general", quotes: tuple[str, ...] = (SAID,)
) -> ResearchState:
    """A state in which one topic was judged, and its evidence lacks these."""
    lacking = [
        Shortfall.model_validate(
            {"kind": kind, "text": kind, "recommendation": Recommendation(query=kind)}
        )
        for kind in kinds
    ]
    ledger = [
        Evidence(
            id=f"E{n}",
            topic="T",
            quote=quote,
            url=f"https://{n}.example/",
            start=0,
            end=len(quote),
            content_hash=str(n),
            fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
            origin=str(n),
            title="The crank",
        )
        for n, quote in enumerate(quotes, 1)
    ]
    found = found.model_copy(update={"evidence_ids": tuple(e.id for e in ledger)})
    return {
        "plan": Plan(question="?", question_type=of, topics=(TOPIC,)),
        "coverage": {"T": found},
        "shortfalls": lacking,
        "evidence": ledger,
    }


@pytest.mark.parametrize(
    ("kinds", "price", "asked"),
    [
        ((), 0.0, False),
        (("confirmation",), 0.0, False),
        (("freshness",), 0.0, False),
        (("quality",), 0.9, True),
        (("code", "quality"), 1.0, False),
    ],
)
def test_an_answered_topic_is_asked_again_where_it_falls_short_and_there_is_something_left(
    kinds: tuple[str, ...], price: float, asked: bool
) -> None:
    assert bool(worth_asking(state(coverage(0.9, covered=True), *kinds), price)) is asked


@pytest.mark.parametrize(("quality", "asked"), [(7.0, True), (6.0, False)])
def test_quality_that_a_round_has_not_raised_is_not_searched_for_again(
    quality: float, asked: bool
) -> None:
    done = Round(
        number=2,
        evidence_before=1,
        evidence_after=2,
        score=0.9,
        quality=quality,
        quality_before=6.0,
    )
    known = state(coverage(0.9, covered=True, quality=RATED), "quality")
    assert bool(worth_asking({**known, "rounds": [done]}, 0.0)) is asked


def test_a_topic_that_was_never_judged_is_asked() -> None:
    assert worth_asking({**state(coverage(0.1)), "coverage": {}}, 0.9) == [TOPIC]


@pytest.mark.parametrize(
    ("score", "price", "asked"),
    [(0.3, 0.0, True), (0.85, 0.0, False), (0.3, 1.0, True), (0.75, 0.9, False)],
)
def test_code_asks_again_where_an_answer_is_not_likely_yet(
    score: float, price: float, asked: bool
) -> None:
    assert bool(worth_asking(state(coverage(score)), price)) is asked


@pytest.mark.parametrize(
    ("found", "of"),
    [(coverage(0.85, recommendations=(LED,)), "general"), (coverage(0.85), "list")],
    ids=["it leads on", "a survey"],
)
def test_where_the_evidence_leads_on_and_in_a_survey_the_next_pages_may_hold_all(
    found: Coverage, of: QuestionType
) -> None:
    assert worth_asking(state(found, of=of), 0.9) == [TOPIC]


def test_what_nothing_was_quoted_for_is_asked_again() -> None:
    assert worth_asking(state(coverage(0.0), quotes=()), 1.0) == [TOPIC]


@pytest.mark.parametrize(
    ("score", "price", "asked"), [(0.1, 0.9, True), (0.75, 0.1, True), (0.75, 0.9, False)]
)
def test_what_a_model_calls_missing_is_weighed_against_what_a_round_takes(
    score: float, price: float, asked: bool
) -> None:
    found = coverage(score, quality=RATED)
    assert bool(worth_asking(state(found), price)) is asked


@pytest.mark.parametrize("kind", ["quality", "freshness", "definition"])
def test_what_the_evidence_lacks_raises_what_is_to_be_gained(kind: str) -> None:
    found = coverage(0.8, quality=RATED, evidence_ids=("E1",))
    lacking = lacks(TOPIC, state(found, kind, of="latest"))
    assert gain(found, lacking) > gain(found, lacks(TOPIC, state(found)))
    found = coverage(0.85)
    asked = [worth_asking(state(found, *kinds, of="latest"), 0.0) for kinds in ((), (kind,))]
    assert asked == [[], [TOPIC]]


def test_a_disagreement_that_is_not_settled_counts() -> None:
    said = "The crank of the ferrolite lamp is wound with {} turns each morning."
    quotes = (said.format(30), said.format(50))
    assert lacks(TOPIC, state(coverage(0.5), quotes=quotes)) == {"conflict"}


def test_the_price_is_the_share_of_the_time_that_a_round_takes() -> None:
    budget = Budget(minutes=10)
    assert share(budget, 1) == 0.0
    budget.start(time.monotonic() - 100)
    assert 0.1 < share(budget, 2) < share(budget, 1) < 0.3
    budget.start(time.monotonic() - 580)
    assert share(budget, 2) == 1.0


def test_the_price_is_in_tokens_where_these_are_scarcer() -> None:
    budget = Budget(minutes=10, tokens=100_000)
    budget.add(tokens_in=40_000)
    assert share(budget, 1) > 0.5


def test_of_two_judgements_the_first_stays_unless_the_other_is_clearly_better() -> None:
    assert no_better(coverage(0.75), coverage(0.84))
    assert no_better(coverage(0.6), coverage(0.55))
    assert not no_better(coverage(0.8), coverage(0.6))


def test_a_judgement_by_which_the_topic_is_answered_or_after_one_that_led_on_is_taken() -> None:
    assert not no_better(coverage(0.86, covered=True), coverage(0.8))
    assert not no_better(coverage(0.3), coverage(0.85, recommendations=(LED,)))

"""What evidence lacks though its topics may be covered: kind of answer, quality, freshness,
domains.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spadework.agents.evidence.expectation import Standard, shortfalls, standard_of
from spadework.values import CODE, Coverage, Evidence, Plan, Quality, Shortfall, Topic

NOW = datetime(2026, 3, 4, tzinfo=UTC)
DEFINED = "A spade is a tool for digging in the ground."


def plan(**changes: Any) -> Plan:
    """A plan of one topic."""
    topic = Topic(
        name=changes.pop("topic", "Definition"),
        question="What is a spade?",
        must_cover=changes.pop("must_cover", ()),
    )
    return Plan(
        question="What is a spade?", question_type="what", subjects=("spade",), topics=(topic,)
    ).model_copy(update=changes)


def evidence(quote: str, url: str = "https://a.example/x", **changes: Any) -> Evidence:
    """A ledger entry."""
    made = Evidence(
        id="E1",
        topic="Definition",
        quote=quote,
        url=url,
        start=0,
        end=len(quote),
        content_hash="0",
        fetched_at=NOW,
        origin=url,
    )
    return made.model_copy(update=changes)


def kinds(of: Plan, *ledger: Evidence, coverage: dict[str, Coverage] | None = None) -> set[str]:
    """The kinds of shortfalls; three domains are not asked of tests about something else."""
    return {s.kind for s in shortfalls(of, coverage or {}, ledger, Standard(domains=1))}


@pytest.mark.parametrize(
    ("quote", "lacks"),
    [(DEFINED, set()), ("Our shop sends all orders within two days.", {"definition"})],
)
def test_what_is_wants_a_definition(quote: str, lacks: set[str]) -> None:
    assert kinds(plan(), evidence(quote)) == lacks


def test_how_to_wants_steps() -> None:
    asked = plan(question_type="howto")
    first = evidence("First push the blade into the soil.", kind="item")
    then = evidence("Then lean on its handle with care.", kind="item")
    assert kinds(asked, first, then) == set()
    assert kinds(asked, evidence("Digging has been popular for ages.")) == {"steps"}


def test_a_question_in_another_language_wants_a_definition_and_is_searched_in_its_own() -> None:
    topic = Topic(name="Spaten", question="Was ist ein Spaten?", expects="definition")
    asked = plan(language="de", subjects=("Spaten",), topics=(topic,))

    def lacking(quote: str) -> tuple[Shortfall, ...]:
        return shortfalls(asked, {}, [evidence(quote, topic="Spaten")], Standard(domains=1))

    assert lacking("Der Spaten dient dem Umgraben der Erde.") == ()
    [found] = lacking("Unser Laden ist am Sonntag leider zu.")
    assert (found.kind, found.recommendation.query) == ("definition", "Was ist ein Spaten?")


def test_news_want_dates_and_a_topic_about_code_wants_code() -> None:
    assert kinds(
        plan(question_type="latest"), evidence("Spades were praised by gardeners again.")
    ) == {"dates"}
    assert kinds(plan(must_cover=("example script",)), evidence(DEFINED)) == {"code"}
    assert (
        kinds(
            plan(must_cover=("example script",)), evidence(DEFINED), evidence("dig()", kind="code")
        )
        == set()
    )


def test_an_open_topic_that_a_model_judged_answered_needs_no_code() -> None:
    judged = Coverage(topic="Definition", covered=True, score=0.9, judge="openai:m")
    asked = plan(must_cover=("query syntax",))
    for found, lacks in ((judged, set()), (judged.model_copy(update={"judge": CODE}), {"code"})):
        assert kinds(asked, evidence(DEFINED), coverage={"Definition": found}) == lacks


def test_words_of_a_menu_are_no_answer() -> None:
    assert "navigation" in kinds(
        plan(), evidence("Spade is home"), evidence("Spades are tools", kind="item")
    )


@pytest.mark.parametrize(
    ("age", "lacks"), [(10, set()), (200, {"freshness"}), (None, {"freshness"})]
)
def test_a_question_about_now_wants_fresh_pages(age: int | None, lacks: set[str]) -> None:
    published = None if age is None else NOW - timedelta(days=age)
    assert kinds(plan(freshness="now"), evidence(DEFINED, published_at=published)) == lacks


def test_a_question_of_several_voices_wants_three_domains() -> None:
    assert [standard_of(kind).domains for kind in ("compare", "latest", "fact")] == [3, 3, 1]


def test_fewer_than_three_domains_recommend_a_search_elsewhere() -> None:
    [found] = shortfalls(
        plan(),
        {},
        [evidence(DEFINED), evidence(DEFINED, "https://b.example/y")],
        Standard(domains=3),
    )
    assert (found.kind, found.topic, found.recommendation.exclude_domains) == (
        "domains",
        "",
        ("a.example", "b.example"),
    )


def test_neither_freshness_nor_domains_are_asked_of_a_library() -> None:
    assert (
        shortfalls(
            plan(freshness="now"), {}, [evidence(DEFINED, "library://notes/spade.md")], Standard()
        )
        == ()
    )


@pytest.mark.parametrize(("rated", "lacks"), [(7.4, {"quality"}), (7.5, set())])
def test_quality_below_the_floor_recommends_a_search(rated: float, lacks: set[str]) -> None:
    quality = Quality(
        accuracy=rated, completeness=rated, relevance=rated, source_quality=rated, clarity=rated
    )
    covered = {"Definition": Coverage(topic="Definition", covered=True, score=0.9, quality=quality)}
    assert kinds(plan(), evidence(DEFINED), coverage=covered) == lacks


def test_topics_that_nothing_proves_are_not_told_twice() -> None:
    assert shortfalls(plan(), {}, [], Standard()) == ()


def test_what_probably_answers_nothing_needs_no_confirmation() -> None:
    counted = plan()
    [topic] = counted.topics
    counted = counted.model_copy(
        update={"topics": (topic.model_copy(update={"expects": "number"}),)}
    )
    near = Coverage(topic="Definition", covered=False, score=0.1, evidence_ids=("E1",), near=True)
    sure = near.model_copy(update={"near": False, "score": 0.9, "covered": True})
    assert "confirmation" in kinds(counted, evidence(DEFINED), coverage={"Definition": sure})
    assert "confirmation" not in kinds(counted, evidence(DEFINED), coverage={"Definition": near})

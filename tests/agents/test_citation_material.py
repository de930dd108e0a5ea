"""A question that brings its own material is split by what the material speaks of."""

from __future__ import annotations

from hypothesis import given, strategies as st

from spadework.agents.evidence.multi_hop import asks_for_a_relation
from spadework.agents.extractive.lead import plan
from spadework.agents.extractive.question_parts import brings_material
from spadework.values import Question

TEXT = (
    "Survey the work related to this. Wind-up radios store energy in a mainspring of blue steel. A"
    " mainspring fatigues after some ten thousand windings, which shortens the playing time. We"
    " measure the spring fatigue of forty wind-up radios from Port Aldermere. Our results suggest"
    " that spring fatigue depends on the winding speed, and that a slow winding speed doubles the"
    " life of a mainspring."
)


def _begins(whole: str, query: str) -> bool:
    """Whether a query is the whole, as far as a provider takes it."""
    return whole.startswith(query) and len(query) > 250


def test_its_topics_are_the_phrases_it_uses_most_and_each_is_searched_with_the_whole() -> None:
    made = plan(Question(text=TEXT), [])
    assert made.question_type == "list"
    names = [topic.name for topic in made.topics]
    assert any("spring fatigue" in name.lower() for name in names)
    assert len(set(names)) == len(names) > 2
    whole = TEXT.partition(". ")[2]
    assert all(
        any(_begins(whole, query.text) for query in topic.queries) and len(topic.queries) <= 4
        for topic in made.topics
    )


def test_what_is_to_be_done_with_it_and_where_it_is_to_be_had_is_not_searched() -> None:
    about = TEXT.partition(". ")[2]
    for text in (
        TEXT,
        f"{about} Please write a survey of related work.",
        f"{about} The springs are sold at https://springs.example.org/.",
    ):
        queries = {
            query.text for topic in plan(Question(text=text), []).topics for query in topic.queries
        }
        assert any(_begins(about, query) for query in queries)
        assert not any("urvey" in query or "://" in query for query in queries)


def test_labels_of_its_parts_are_not_searched() -> None:
    made = plan(
        Question(
            text=(
                "Survey the related work. Title: Fatigue of springs in radios. Abstract:"
                f" {TEXT.partition('. ')[2]}"
            )
        ),
        [],
    )
    assert made.topics[0].name == "Fatigue of springs in radios."
    assert not any(
        "Title:" in query.text or "Abstract:" in query.text
        for topic in made.topics
        for query in topic.queries
    )


def test_what_it_says_of_somebody_leads_on_to_nobody() -> None:
    assert asks_for_a_relation("Who is the father of Tilda Marsh?")
    assert not asks_for_a_relation(f"{TEXT} Who is the father of Tilda Marsh?")


def test_a_plain_question_brings_none() -> None:
    assert not brings_material("What is LangGraph and how do I use it?")


@given(st.lists(st.text(min_size=1, max_size=12), min_size=46, max_size=90))
def test_any_long_text_has_a_plan(words: list[str]) -> None:
    text = " ".join(words)
    if text.strip():
        made = plan(Question(text=text), [])
        assert 1 <= len(made.topics) <= 6
        assert all(topic.queries for topic in made.topics)

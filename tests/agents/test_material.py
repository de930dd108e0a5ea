"""A question that brings its own material is split by what the material speaks of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spadework.agents.extractive.lead import plan
from spadework.agents.extractive.material import brings_material
from spadework.values import Question

TEXT = (
    "Survey the work related to this. Wind-up radios store energy in a mainspring of blue steel. A mainspring fatigues after some ten "
    "thousand windings, which shortens the playing time. We measure the spring fatigue of forty wind-up radios from Port Aldermere. Our "
    "results suggest that spring fatigue depends on the winding speed, and that a slow winding speed doubles the life of a mainspring."
)


def test_its_topics_are_the_phrases_it_uses_most_and_each_is_searched_with_the_whole() -> None:
    made = plan(Question(text=TEXT), [])
    assert made.question_type == "list"
    names = [topic.name for topic in made.topics]
    assert any("spring fatigue" in name.lower() for name in names)
    assert len(set(names)) == len(names) > 2
    assert all(TEXT in [query.text for query in topic.queries] and len(topic.queries) <= 4 for topic in made.topics)


def test_a_plain_question_brings_none() -> None:
    assert not brings_material("What is LangGraph and how do I use it?")


@given(st.lists(st.text(min_size=1, max_size=12), min_size=46, max_size=90))
def test_any_long_text_has_a_plan(words: list[str]) -> None:
    text = " ".join(words)
    if text.strip():
        made = plan(Question(text=text), [])
        assert 1 <= len(made.topics) <= 6
        assert all(topic.queries for topic in made.topics)

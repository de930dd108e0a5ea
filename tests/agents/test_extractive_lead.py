"""The plan that code makes of a question."""

from __future__ import annotations

import pytest

from spadework.agents.extractive.asked import parts
from spadework.agents.extractive.facets import facet_of, facets
from spadework.agents.extractive.lead import plan
from spadework.values import Hit, Question


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is LangGraph?", [("what", "LangGraph", "")]),
        (
            "What is LangGraph and how do I use it?",
            [("what", "LangGraph", ""), ("howto", "use LangGraph", "")],
        ),
        ("Compare httpx and requests", [("compare", "httpx", "requests")]),
        ("httpx vs. requests", [("compare", "httpx", "requests")]),
        ("What is the difference between a list and a tuple?", [("compare", "a list", "a tuple")]),
        (
            "How do I retry a failing HTTP request in Python?",
            [("howto", "retry a failing HTTP request in Python", "")],
        ),
        (
            "What does pydantic do and when should I use it?",
            [("what", "pydantic", ""), ("evaluate", "pydantic", "usecases")],
        ),
        ("Why is the sky blue?", [("why", "the sky blue", "")]),
        ("Who invented the Quillon?", [("fact", "Who invented the Quillon", "")]),
        (
            "How many people live in Port Aldermere?",
            [("fact", "How many people live in Port Aldermere", "")],
        ),
        ("Latest news about ferrolite", [("latest", "ferrolite", "")]),
        ("List wind-up radios", [("list", "wind-up radios", "")]),
        ("When should I use a Spring?", [("evaluate", "Spring", "usecases")]),
        ("When should I use ferrolite instead of gearbox?", [("compare", "ferrolite", "gearbox")]),
        ("What are common pitfalls of git rebase?", [("evaluate", "git rebase", "pitfalls")]),
        ("Should I use ferrolite?", [("evaluate", "ferrolite", "")]),
        ("Give the importance of cranes", [("general", "the importance of cranes", "")]),
        ("the harbour of Aldermere", [("general", "the harbour of Aldermere", "")]),
    ],
)
def test_a_question_is_read_in_parts(question: str, asked: list[tuple[str, str, str]]) -> None:
    assert [(part.type, part.subject, part.other) for part in parts(question)] == asked


def test_the_topics_that_a_type_requires_are_planned() -> None:
    made = plan(Question(text="What is LangGraph and how do I use it?"), [])
    assert made.subjects == ("LangGraph",)
    assert [facet_of(topic).key for topic in made.topics] == [
        "definition",
        "features",
        "usecases",
        "install",
        "use",
        "examples",
    ]
    assert made.topics[0].queries[0].text == "What is LangGraph and how do I use it?"
    assert all(2 <= len(topic.queries) <= 4 for topic in made.topics)


def test_the_purpose_of_a_use_is_not_a_part_of_its_subject() -> None:
    assert plan(Question(text="How do I use ferrolite to wind springs?"), []).subjects == (
        "ferrolite",
    )
    assert (
        plan(Question(text="How do I set up a virtual host in Apache?"), []).topics[1].name
        == "Steps to set up a virtual host in Apache"
    )


def test_a_fact_is_one_topic() -> None:
    made = plan(Question(text="Who invented the Quillon?"), [])
    assert len(made.topics) == 1
    assert made.complexity == "simple"


def test_a_plain_question_takes_topics_from_the_first_search() -> None:
    hits = [
        Hit(
            url=f"u{n}",
            title=f"Harbour of Aldermere {n}",
            snippet="The crane operators load grain ships.",
        )
        for n in range(4)
    ]
    names = [
        topic.name.lower() for topic in plan(Question(text="the harbour of Aldermere"), hits).topics
    ]
    assert any("crane" in name or "grain" in name for name in names)


def test_the_parts_of_one_document_make_no_topic() -> None:
    hits = [
        Hit(
            url=f"u{n}",
            title="Harbour of Aldermere",
            snippet="The crane operators load grain ships.",
        )
        for n in range(4)
    ]
    assert len(plan(Question(text="the harbour of Aldermere"), hits).topics) == 1


def test_the_name_of_a_site_makes_no_topic() -> None:
    hits = [
        Hit(url=f"u{n}", title=f"Page {n} — Fathom Harbour Handbook", snippet="It swings.")
        for n in range(4)
    ]
    assert [
        topic.name for topic in plan(Question(text="the harbour of Aldermere"), hits).topics
    ] == ["About the harbour of Aldermere"]


def test_a_name_is_searched_by_itself_but_not_a_word_that_only_the_question_writes_large() -> None:
    hits = [
        Hit(
            url=f"u{n}",
            title="Chains",
            snippet="This fast food chain of Aldermere sells fish in Aldermere.",
        )
        for n in range(3)
    ]
    made = plan(Question(text="Does the chain Fast food operate in Aldermere?"), hits)
    queries = [query.text for topic in made.topics for query in topic.queries]
    assert "Aldermere" in queries
    assert "Fast" not in queries
    assert "Fast" in [
        query.text
        for query in plan(Question(text="Does the chain Fast food operate in Aldermere?"), [])
        .topics[0]
        .queries
    ]


def test_every_facet_is_recognised_by_its_own_topic() -> None:
    for key, facet in facets().items():
        if facet.named and key not in ("current", "positions"):
            assert facet_of(facet.topic("gadget", "gizmo")).key == key


@pytest.mark.parametrize("text", ["?", "a", "how", "compare", "x" * 5000, "what is", "\x00", "Ω"])
def test_any_text_gives_a_plan(text: str) -> None:
    assert plan(Question(text=text), []).topics


def test_a_pronoun_after_a_question_for_a_fact_means_what_the_fact_is_about() -> None:
    made = plan(
        Question(text="Who invented the tantivy search engine and what is it written in?"), []
    )
    assert [topic.name for topic in made.topics] == [
        "Who invented the tantivy search engine",
        "What is the tantivy search engine written in",
    ]

"""The plan that code makes of a question: its own words, part by part."""

from __future__ import annotations

import pytest

from spadework.agents.extractive.lead import plan
from spadework.agents.extractive.question_parts import content_words
from spadework.values import Expected, Hit, Plan, Query, Question, QuestionType
from spadework.values.question import MOST_QUERY_CHARS


def planned(text: str, *, earlier: tuple[str, ...] = ()) -> Plan:
    return plan(Question(text=text, earlier=earlier), [])


@pytest.mark.parametrize(
    ("question", "type_", "expects"),
    [
        ("What is LangGraph?", "general", "open"),
        ("Was ist ein Spaten?", "general", "open"),
        ("How do I retry a failing HTTP request in Python?", "general", "open"),
        ("Who invented the Quillon?", "fact", "name"),
        ("How many people live in Port Aldermere?", "fact", "number"),
        ("Wie viele Einwohner hat Bremen?", "fact", "number"),
        ("When was the port of Aldermere founded?", "fact", "date"),
        ("Compare httpx and requests for timeouts", "compare", "both sides"),
        ("the harbour of Aldermere", "general", "open"),
    ],
)
def test_a_question_of_one_part_is_one_topic_in_its_own_words(
    question: str, type_: QuestionType, expects: Expected
) -> None:
    made = planned(question)
    [topic] = made.topics
    assert (topic.name, topic.question) == (question, question)
    assert (made.question_type, topic.expects) == (type_, expects)
    assert topic.queries[0].text == question
    assert made.complexity == "simple"


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        (
            "What is LangGraph and how do I use it?",
            ["What is LangGraph?", "How do I use LangGraph?"],
        ),
        (
            "Who invented the tantivy search engine and what is it written in?",
            [
                "Who invented the tantivy search engine?",
                "What is the tantivy search engine written in?",
            ],
        ),
    ],
)
def test_a_part_that_takes_up_the_first_by_a_pronoun_is_a_topic_of_its_own(
    question: str, topics: list[str]
) -> None:
    made = planned(question)
    assert [topic.name for topic in made.topics] == topics
    assert made.topics[0].queries[0].text == question


@pytest.mark.parametrize(
    "question",
    [
        "What's LangGraph and how do I use it?",
        "What is LangGraph, and how is it used?",
        "Tell me what LangGraph is and how to use it.",
        "Explain what LangGraph is and how one uses it.",
        "What is LangGraph? How do I use it?",
        "I'd like to know what LangGraph is and how I can use it.",
        "What does LangGraph do and how can I use it?",
        "langgraph: what is it and how to use it",
    ],
)
def test_a_question_in_other_words_is_planned_alike(question: str) -> None:
    hits = [Hit(url="u", title="langgraph", snippet="LangGraph is a framework for agents.")]
    made = plan(Question(text=question), hits)
    assert made.question_type == "what"
    assert [subject.casefold() for subject in made.subjects] == ["langgraph"]
    assert [topic.expects for topic in made.topics] == ["definition", "steps"]


@pytest.mark.parametrize(
    ("questions", "expects"),
    [
        (
            [
                "How many members has the Quillon Society of Aldermere?",
                "quillon society aldermere number of members",
                "Tell me how many members the Quillon Society in Aldermere has.",
            ],
            "number",
        ),
        (
            [
                "How do I oil the gears of a quillon?",
                "quillon gears oil",
                "Which steps does it take to oil a quillon's gears?",
            ],
            "open",
        ),
    ],
)
def test_other_words_and_other_pages_found_first_make_the_same_plan(
    questions: list[str], expects: Expected
) -> None:
    titles = ["Quillon Society", "Chains of Aldermere", "quillon"]
    made = [
        plan(Question(text=text), [Hit(url=title, title=title)])
        for text, title in zip(questions, titles, strict=True)
    ]
    assert len({(one.question_type, one.subjects) for one in made}) == 1
    assert [topic.expects for one in made for topic in one.topics] == [expects] * 3


def test_facts_about_one_thing_are_one_topic() -> None:
    question = "When was the Quillon Society founded, and who founded it?"
    assert [topic.question for topic in planned(question).topics] == [question]


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        (
            "When is the first release of Heron and who owns the ingestion service?",
            ["When is the first release of Heron?", "Who owns the ingestion service?"],
        ),
        (
            "Wann wurde der Kran gebaut und wer leitet das Museum Ludwig?",
            ["Wann wurde der Kran gebaut?", "Wer leitet das Museum Ludwig?"],
        ),
    ],
)
def test_two_facts_about_two_things_are_two_topics(question: str, topics: list[str]) -> None:
    assert [topic.question for topic in planned(question).topics] == topics


@pytest.mark.parametrize(
    "question",
    [
        "Who won the race and how many people came?",
        "Who won the Salt Race, and what was the height of each of the winning cars?",
        "When was Heron Bridge built, and who built Heron Bridge?",
        "How did the steam engine change farming and trade?",
        "Who wrote The Salt Road and who filmed The Pepper Road?",
    ],
)
def test_a_question_is_not_parted_where_no_pronoun_joins_its_parts(question: str) -> None:
    assert [topic.question for topic in planned(question).topics] == [question]


def test_of_more_sides_than_searches_some_share_one_each_with_what_they_are_looked_at_for() -> None:
    [topic] = planned("Compare nets, hooks, traps and HTTP/2 for cod and eels").topics
    assert topic.must_cover == ("nets", "hooks", "traps", "HTTP/2")
    assert [query.text for query in topic.queries[1:]] == [
        "nets HTTP/2 cod and eels",
        "hooks cod and eels",
        "traps cod and eels",
    ]


def test_what_is_asked_about_one_thing_is_searched_one_by_one_and_must_be_covered() -> None:
    [topic] = planned("What are the causes, symptoms and costs of rust?").topics
    assert topic.must_cover == ("causes", "symptoms", "costs")
    searched = [query.text for query in topic.queries[1:]]
    assert searched == ["causes of rust", "symptoms of rust", "costs of rust"]


def test_the_sides_of_a_comparison_are_searched_alone_and_must_both_be_covered() -> None:
    *_, topic = planned("httpx vs. requests").topics
    assert topic.must_cover == ("httpx", "requests")
    assert {"httpx", "requests"} < {query.text for query in topic.queries}


def test_a_name_is_searched_by_itself_but_not_a_word_that_only_the_question_writes_large() -> None:
    hits = [
        Hit(
            url=f"u{n}",
            title="Chains",
            snippet="This fast food chain of Aldermere sells fish in Aldermere.",
        )
        for n in range(3)
    ]
    question = Question(text="Does the chain Fast food operate in Aldermere?")
    assert [query.text for query in plan(question, hits).topics[0].queries][1:] == ["Aldermere"]
    assert "Fast" in [query.text for query in plan(question, []).topics[0].queries]


@pytest.mark.parametrize(
    ("before", "question", "meant"),
    [
        ("What is ferrolite?", "How fast is it?", "ferrolite"),
        ("What is ferrolite?", "Is it true that it burns?", "ferrolite"),
        ("What is Ferrolite Prime?", "And the price?", "Ferrolite Prime"),
        ("When was the harbour built?", "And what came of it?", "harbour built"),
        ("When is the boiler inspected?", "And what does it cost per year?", "boiler inspected"),
        ("Who runs the port of Heron?", "How old is it?", "Heron"),
        ("Wo steht der Kran?", "Und wie alt ist er?", "Kran"),
        ("What is ferrolite?", "Who founded Port Aldermere?", ""),
    ],
)
def test_a_follow_up_stands_as_typed_and_is_searched_with_what_the_question_before_is_about(
    before: str, question: str, meant: str
) -> None:
    [topic] = planned(question, earlier=(before,)).topics
    assert topic.name == question
    assert topic.question == (f"{question.rstrip(' ?')} ({meant})?" if meant else question)
    assert topic.queries[0].text == f"{meant} {question}".strip()


@pytest.mark.parametrize(
    "text", ["?", "a", "how", "compare", "vs", "x" * 5000, "what is", "\x00", "Ω", "谁发明了电话?"]
)
def test_any_text_gives_a_plan_that_can_be_searched(text: str) -> None:
    assert all(topic.queries for topic in planned(text).topics)
    assert planned(text).topics


def test_a_comparison_of_two_names_asks_what_each_is() -> None:
    made = planned("Compare httpx and requests")
    assert [(topic.name, topic.question) for topic in made.topics] == [
        ("httpx", "What is httpx?"),
        ("requests", "What is requests?"),
        ("Compare httpx and requests", "Compare httpx and requests"),
    ]
    assert (made.question_type, made.subjects) == ("compare", ("httpx", "requests"))
    assert [topic.expects for topic in made.topics] == ["definition", "definition", "both sides"]
    for narrow in (
        "Compare httpx and requests for timeouts",
        "What are the advantages of httpx over requests?",
        "What is the difference between what a lock tells you and what a semaphore holds?",
    ):
        assert len(planned(narrow).topics) == 1, narrow


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        ("How many jobs were lost in the U.S. in Dec. 2023?", ["U.S."]),
        ("What did the Senate of the U.S. decide on Dec. 22, 2023?", ["Senate of the U.S."]),
        ("Who was sworn in on the 3rd of December 2023?", []),
        ("Which storms hit the Gulf in 2023 and 2024?", ["Gulf"]),
        ("When did Dr. Keller open Windows 11?", ["Keller", "Windows 11"]),
        ("What did Gov. Keller sign on Thursday?", ["Keller"]),
        ("Who is seen by Keller on Fridays?", ["Keller"]),
    ],
)
def test_no_search_is_made_of_a_date_a_title_or_half_an_abbreviation(
    question: str, queries: list[str]
) -> None:
    assert [query.text for query in planned(question).topics[0].queries][1:] == queries


@pytest.mark.parametrize(
    ("question", "asked", "wishes"),
    [
        (
            "Which anchors hold in clay? Please set out the options in a table, with prices in"
            " euros. Format: first a summary; do not use jargon; explain every abbreviation.",
            "Which anchors hold in clay?",
            (
                "Please set out the options in a table, with prices in euros",
                "Format: first a summary",
                "do not use jargon",
                "explain every abbreviation",
            ),
        ),
        (
            "Was kostet ein Schwimmsteg? Antworte in Stichpunkten. Erkläre alle Abkürzungen.",
            "Was kostet ein Schwimmsteg?",
            ("Antworte in Stichpunkten", "Erkläre alle Abkürzungen"),
        ),
        ("浮码头多少钱？请解释所有缩写。", "浮码头多少钱？", ("请解释所有缩写",)),
    ],
)
def test_what_asks_for_a_form_is_a_wish_and_no_topic(
    question: str, asked: str, wishes: tuple[str, ...]
) -> None:
    made = planned(question)
    assert made.question == question
    assert [topic.name for topic in made.topics] == [asked]
    assert made.wishes == wishes


@pytest.mark.parametrize(
    "question",
    [
        "Explain the acronym REST. Then compare it with SOAP.",
        "I am writing an essay. Show the exports of Vessany and Corvane in a table.",
        "What is the PDF format? Give a summary of its history.",
        "Answer in a table.",
    ],
)
def test_what_names_a_matter_is_no_wish(question: str) -> None:
    asked = " ".join(topic.question for topic in planned(question).topics)
    assert all(word in asked for word in question.split() if word[0].isupper() and word[1:2])


def test_a_plan_without_a_model_keeps_what_a_system_message_wishes_of_the_form() -> None:
    question = Question(
        text="What is LangGraph?", wishes="You are Archivar. Avoid jargon. At most 80 words."
    )
    assert plan(question, []).wishes == ("Avoid jargon", "At most 80 words")


def test_a_question_of_many_words_becomes_queries_that_providers_take() -> None:
    said = "Which piers of the Lindrow coast were mended after the storm, and what did it cost? "
    wish = "Explain every abbreviation, use short paragraphs and put the figures in a table. "
    made = planned(said * 8 + wish * 14)
    queries = [query.text for topic in made.topics for query in topic.queries]
    assert all(0 < len(text) <= MOST_QUERY_CHARS for text in queries)
    assert not any("abbreviation" in text or "paragraphs" in text for text in queries)
    cut = Query(text="breakwater " * 200).text
    assert set(cut.split()) == {"breakwater"}


def test_what_is_known_about_a_thing_asks_for_the_thing_alone() -> None:
    assert "known" not in content_words("What is known about the census of Wick?")

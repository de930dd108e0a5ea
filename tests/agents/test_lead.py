"""The lead with a model: what it is told, and what becomes of its answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from spadework.agents import lead
from spadework.agents.lead import prompt_of
from spadework.agents.llm.client import Model as Client
from spadework.budget import Budget
from spadework.graph.research import build_graph
from spadework.sessions.one_call import research
from spadework.sessions.session import Session
from spadework.settings import Effort, Settings
from spadework.tools.search.provider import RESULTS
from spadework.tools.stores.journal import Journal
from spadework.tools.text import tokens
from spadework.tools.text.passages import MOST_CHARS, is_long, shorten_question
from spadework.values import Question
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


async def test_a_topic_begins_like_a_heading_but_a_name_is_left_as_it_is_written(
    model: Model, searx: Searx, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (world.env | searx.env | model.env).items():
        monkeypatch.setenv(name, value)
    play(model, {"how to find the harbour": "harbour", "pip": "census"})
    result = await research("What is known about Port Aldermere?", Settings.load(iterations=1))
    assert {topic.name for topic in result.topics} == {"How to find the harbour", "pip"}


QUESTION = "What is known about Port Aldermere?"
LONG = (
    "I write about small harbours of the coast and want to know what is known of Port Aldermere"
    " today, above all how many people live there, what they live of, since when there is a"
    " lighthouse, and who keeps it. Please name your sources."
)


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    return Settings.load(iterations=1)


def asked(model: Model) -> ChatRequest:
    """The request to plan."""
    [request] = [r for r in model.requests if r.schema_name == "PlanAnswer"]
    return request


async def test_the_lead_is_told_the_day_what_is_searched_and_what_a_broad_search_finds(
    model: Model, searx: Searx, settings: Settings
) -> None:
    await research(QUESTION, settings)
    told = asked(model).user
    assert f"Asked on: {datetime.now(UTC).date()}" in told
    assert "Searched is: the web, through SearXNG" in told
    assert searx.queries[0] == QUESTION
    assert told.partition("Titles of a first broad search")[2].count("\n- ") > 1


async def test_in_quick_effort_nothing_is_searched_before_the_plan(
    model: Model, searx: Searx, settings: Settings
) -> None:
    await research(QUESTION, settings.with_(effort="quick"))
    assert "Titles of a first broad search" not in asked(model).user
    assert QUESTION not in searx.queries


async def test_forty_titles_are_shown_at_most(
    model: Model, world: World, searx: Searx, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RESULTS, "normal", 50)
    urls = [
        world.put("blog", f"/{n}", f"<title>Town {n}</title><main><p>Town {n}.</p></main>")
        for n in range(50)
    ]
    searx.script("", urls)
    await research(QUESTION, settings.with_(pages=2))
    assert asked(model).user.partition("Titles of a first")[2].count("\n- ") <= 40


async def test_the_day_is_that_of_the_start_also_where_the_run_goes_on_on_another(
    model: Model, settings: Settings
) -> None:
    graph = build_graph(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"question": QUESTION}
    await graph.ainvoke(given, config, context=settings, interrupt_before=["plan"])
    await graph.aupdate_state(config, {"asked_on": "2020-01-02"}, as_node="clarify")
    await graph.ainvoke(None, config, context=settings)
    assert "Asked on: 2020-01-02" in asked(model).user


@pytest.mark.parametrize(
    ("question", "freshness", "query", "sent"),
    [
        ("How tall is the lighthouse?", "any", "lighthouse height 2026-03-04", "lighthouse height"),
        ("How tall is the lighthouse?", "any", "lighthouse height 2026", "lighthouse height"),
        ("How tall is it?", "any", "height on March 4th, 2026 in metres", "height on in metres"),
        ("How tall was it in 2026?", "any", "height 2026", "height 2026"),
        ("How tall is it?", "any", "fire of 4 March 2025", "fire of 4 March 2025"),
        ("What is new in the harbour?", "now", "harbour March 2026", "harbour March 2026"),
        ("How tall is it?", "any", "2026-03-04", "How tall is it?"),
    ],
)
async def test_the_day_of_asking_is_in_no_query_that_does_not_ask_for_it(
    model: Model, settings: Settings, question: str, freshness: str, query: str, sent: str
) -> None:
    topic = {"name": "T", "question": question, "must_cover": []}
    made = {"question_type": "general", "complexity": "simple", "freshness": freshness}
    made |= {"language": "en", "subjects": []}
    queries = [{"text": query, "kind": "original"}]
    model.script("PlanAnswer", made | {"topics": [topic | {"queries": queries}]})
    budget = Budget()
    journal = await Journal.open(settings.home / "journal.sqlite", budget)
    client = Client(settings, budget, journal)
    asked_now = Question(text=question, asked_on="2026-03-04")
    plan, problems = await lead.plan(client, asked_now, [], most=6, seconds=20)
    await client.close()
    await journal.close()
    assert not problems
    assert [query.text for query in plan.topics[0].queries] == [sent]


def test_what_was_answered_before_is_told_in_five_hundred_tokens() -> None:
    question = Question(text="And how many?", earlier=("Who?", "When?"), answers=("word " * 900,))
    told = prompt_of(question, [], [], most=6).user
    answer = told.partition("<page_text>\n")[2].partition("\n</page_text>")[0]
    assert tokens.count(answer) == 500
    assert told.count("<page_text>") == 1


async def test_a_long_question_gets_a_title(model: Model, settings: Settings) -> None:
    def titled(request: ChatRequest) -> dict[str, Any]:
        topic = {"name": "Town", "question": "Which town?", "must_cover": []}
        queries = [{"text": "Port Aldermere inhabitants", "kind": "broad"}]
        head = {"question_type": "general", "complexity": "simple", "freshness": "any"}
        return head | {
            "language": "en",
            "title": "Port Aldermere today",
            "subjects": [],
            "topics": [topic | {"queries": queries}],
        }

    model.script("PlanAnswer", titled)
    result = await research(LONG, settings)
    assert "It is long" in asked(model).user
    assert result.report.startswith("# Port Aldermere today\n")
    assert result.question == LONG
    model.requests.clear()
    short = await research(QUESTION, settings)
    assert "It is long" not in asked(model).user
    assert short.document.title == QUESTION


async def test_without_a_model_the_title_is_the_beginning_and_is_not_said_twice(
    searx: Searx, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (world.env | searx.env).items():
        monkeypatch.setenv(name, value)
    text = " ".join(LONG.split()[:40]) + "?"
    result = await research(text, Settings.load(iterations=1))
    assert is_long(text)
    assert result.document.title == shorten_question(text)
    assert result.report.count(f"# {shorten_question(text)}") == 1
    assert text not in result.report


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is a spade?", "What is a spade?"),
        ("What is a spade? I ask since I dig.", "What is a spade?"),
        ("Compare these:\n- spade\n- shovel", "Compare these"),
    ],
)
def test_a_title_is_the_first_sentence(question: str, title: str) -> None:
    assert shorten_question(question) == title


def test_a_long_sentence_is_cut_at_a_word() -> None:
    made = shorten_question("word " * 60)
    assert made == "word " * 19 + "word…"
    assert len(made) <= MOST_CHARS
    assert len(shorten_question("x" * 300)) <= MOST_CHARS + 1


async def test_planned_queries_with_addresses_or_operators_are_dropped(
    model: Model, searx: Searx, settings: Settings
) -> None:
    bad = ("https://evil.example/", "town site:evil.example", "town after:2024")
    queries = [{"text": text, "kind": "broad"} for text in (*bad, "Port Aldermere inhabitants")]
    topics = [
        {"name": "Town", "question": "Which town?", "must_cover": [], "queries": queries},
        {"name": "Sea", "question": "Which sea is it?", "must_cover": [], "queries": queries[:2]},
    ]
    head = {"question_type": "general", "complexity": "moderate", "freshness": "any"}
    model.script("PlanAnswer", head | {"language": "en", "subjects": [], "topics": topics})
    await research(QUESTION, settings)
    assert sorted(searx.queries) == ["Port Aldermere inhabitants", QUESTION, "Which sea is it?"]


@pytest.mark.parametrize(("effort", "most"), [("quick", 3), ("normal", 6), ("deep", 12)])
async def test_effort_limits_the_topics_of_a_plan_whatever_it_calls_itself(
    model: Model, searx: Searx, settings: Settings, effort: Effort, most: int
) -> None:
    queries = [{"text": "Port Aldermere inhabitants", "kind": "broad"}]
    topics = [
        {"name": f"Part {n}", "question": f"What of {n}?", "must_cover": [], "queries": queries}
        for n in range(13)
    ]
    head = {"question_type": "general", "complexity": "simple", "freshness": "any"}
    model.script("PlanAnswer", head | {"language": "en", "subjects": [], "topics": topics})
    result = await research(QUESTION, settings.with_(effort=effort, pages=2))
    assert [topic.name for topic in result.topics] == [f"Part {n}" for n in range(most)]


async def test_a_reflection_with_an_address_searches_nothing(
    model: Model, searx: Searx, settings: Settings
) -> None:
    model.script(
        "ReflectionAnswer", {"enough": False, "missing": "x", "query": "site:evil.example town"}
    )
    model.script("OpinionAnswer", {"verdict": "Fine.", "strengths": [], "weaknesses": []})
    await research(QUESTION, settings.with_(effort="deep"))
    assert not [query for query in searx.queries if "evil" in query]


async def test_scores_are_asked_for_with_their_bounds(model: Model, settings: Settings) -> None:
    await research(QUESTION, settings)
    [request] = [r for r in model.requests if r.schema_name == "AssessmentAnswer"]
    assert request.schema
    scores = request.schema["$defs"]["QualityAnswer"]["properties"].values()
    assert {(score["minimum"], score["maximum"]) for score in scores} == {(0, 10)}


async def test_wishes_for_the_form_reach_who_composes_and_writes(
    model: Model, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the question and of who stands beside it; a wish is told as such, never as the task."""
    monkeypatch.setattr("spadework.graph.nodes.verify.SUMMED_UP", 1)
    asks = ("inhabitants", "lighthouse")
    play(model, {"Inhabitants": "Port Aldermere inhabitants", "Light": "Port Aldermere lighthouse"})
    plan = {
        "question_type": "general",
        "complexity": "moderate",
        "freshness": "any",
        "language": "de",
        "subjects": ["Port Aldermere"],
        "wishes": ["as a table", "for a mayor"],
        "topics": [
            {
                "name": name,
                "question": f"What about {name}?",
                "must_cover": [],
                "queries": [{"text": f"Port Aldermere {name}", "kind": "original"}],
            }
            for name in asks
        ],
    }
    model.script("PlanAnswer", plan)
    session = Session.start(QUESTION, settings=settings)
    await session.wishing("As a table, for a mayor. Use the tool web_search.", 150).result()
    lead = asked(model)
    assert (
        "<page_text>\nAs a table, for a mayor. Use the tool web_search.\n</page_text>" in lead.user
    )
    for name in ("OutlineAnswer", "SectionAnswer", "SummaryAnswer"):
        requests = [r for r in model.requests if r.schema_name == name]
        assert requests, name
        for request in requests:
            assert "as a table; for a mayor" in request.user
            assert "web_search" not in request.prompt
    [outline] = [r for r in model.requests if r.schema_name == "OutlineAnswer"]
    assert "about 150 words" in outline.user
    assert "Never more than 150 words" in outline.user
    assert "Language of the report: de" in outline.user

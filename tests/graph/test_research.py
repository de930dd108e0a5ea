"""The whole loop with a scripted model over the test world: rounds, evidence, failures,
deadlines.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any, get_args

import pytest

from spadework.agents.llm.client import Model as ModelClient
from spadework.errors import SettingsError
from spadework.events import Assessed, Planned
from spadework.graph.context import SessionContext, new_session_id
from spadework.graph.nodes.distil import WINDOW_TOKENS
from spadework.graph.nodes.read import read_pages
from spadework.graph.pages import provider_search
from spadework.graph.research import graph
from spadework.graph.state import Task
from spadework.sessions.one_call import research
from spadework.sessions.record.log import read_log
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.thinned import thinned
from tests.world.brain import assessment, evidence, play, section, written
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.naming import passages
from tests.world.searx import Fault as SearchFault, Searx
from tests.world.sites import World
from tests.world.timing import depth
from tests.world.verdicts import in_examination

NAME = "openai:world-model"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


def page(sentence: str) -> str:
    """A page that says one thing, and enough else to be read."""
    more = (
        "Much else is told of the town by those who live there, and little of it has ever been"
        " written down by anybody."
    )
    return (
        "<html><head><title>Port Aldermere</title></head><body><main><h1>Port"
        f" Aldermere</h1><p>{sentence}</p><p>{more}</p></main>"
    )


def quotes_stand(result: Result) -> bool:
    """Every piece of evidence equals its stretch of the stored page."""
    pages = Path(result.session_dir) / "pages"
    evidence = [e for topic in result.topics for e in topic.evidence]
    return all(
        (pages / f"{e.content_hash}.md").read_text()[e.start : e.end] == e.quote for e in evidence
    )


def _first(request: ChatRequest) -> str:
    """The first long sentence that an assessor is shown."""
    return next(s for block in passages(request) for s in block.split("\n") if len(s) > 60)


async def test_a_question_becomes_a_report_in_which_every_citation_stands(
    model: Model, settings: Settings
) -> None:
    play(model, TOPICS)
    result = await research("What is known about Port Aldermere?", settings)
    assert (result.status, result.stopped_by, result.iterations, result.mode) == (
        "completed",
        "coverage",
        1,
        "model",
    )
    assert all(topic.covered and topic.evidence for topic in result.topics)
    assert quotes_stand(result)
    known = {e.id for topic in result.topics for e in topic.evidence}
    assert result.citations
    assert all(
        c.evidence_id in known and c.sentence in result.report and c.verdict == "supported"
        for c in result.citations
    )
    assert not any(url in result.report for url in ("127.0.2.1",))


async def test_a_gap_takes_one_more_round_that_searches_only_the_gap(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    play(model, TOPICS, keywords={"Lighthouse": "lamp"}, gaps={"Lighthouse": "who lights the lamp"})
    searx.script(
        "inhabitants",
        [
            world.put(
                "blog",
                "/census",
                page("The census of Port Aldermere counted 48,212 inhabitants in 2024."),
            )
        ],
    )
    searx.script("first lit", [])
    searx.script(
        "lamp",
        [
            world.put(
                "forum",
                "/keeper",
                page("The lamp of the lighthouse of Port Aldermere was first lit in 1887."),
            )
        ],
    )
    result = await research("What is known about Port Aldermere?", settings)
    assert (result.iterations, result.stopped_by) == (2, "coverage")
    first = "What is known about Port Aldermere?"
    assert sorted(searx.queries) == sorted([first, *TOPICS.values(), "who lights the lamp"])
    asked = [
        request.prompt for request in model.requests if request.schema_name == "AssessmentAnswer"
    ]
    assert ["Topic: Lighthouse" in prompt for prompt in asked].count(True) == 2
    assert ["Topic: Inhabitants" in prompt for prompt in asked].count(True) == 1, (
        "a covered topic is not judged again"
    )
    assert len(world.asked("blog", "/census")) == len(world.asked("forum", "/keeper")) == 1


async def test_no_passage_is_sent_twice_to_the_assessor_of_a_topic(
    model: Model, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(
        model,
        TOPICS,
        keywords={"Lighthouse": "no page says this"},
        gaps={"Lighthouse": "Aldermere harbour history"},
    )
    # With room for more all of it would be shown at once.
    monkeypatch.setitem(WINDOW_TOKENS, settings.effort, 1000)
    await research("What is known about Port Aldermere?", settings)
    asked = [
        r
        for r in model.requests
        if r.schema_name == "AssessmentAnswer" and "Topic: Lighthouse" in r.prompt
    ]
    shown = [block for request in asked for block in passages(request)]
    assert len(asked) > 1
    assert len(shown) == len(set(shown))


#: Waves of calls of a question that is covered in its first round, at most.
DEPTHS = {"quick": 4, "normal": 8, "deep": 16}


@pytest.mark.parametrize(("effort", "count"), [("quick", 2), ("normal", 6), ("deep", 2)])
async def test_a_covered_question_is_so_many_waves_of_calls_deep(
    model: Model, settings: Settings, effort: str, count: int
) -> None:
    model.delay = 0.2
    words = ("inhabitants", "harbour", "lighthouse", "history", "news", "visitors")[:count]
    play(model, {f"Topic {n}": f"Port Aldermere {word}" for n, word in enumerate(words)})

    def write(request: ChatRequest) -> dict[str, Any]:
        """What must be judged, and what must be mended."""
        [(id_, _), *_] = evidence(request)
        told = ("The town is told of here.", "It has 99,999 towers.")
        return written(*((text, [id_]) for text in told))

    model.script("SectionAnswer", write)
    result = await research("What is known about Port Aldermere?", settings.with_(effort=effort))
    # An editor whose words nobody has scripted has one thing searched.
    assert (len(result.topics), result.iterations) == (count, 2 if effort == "deep" else 1)
    path = [request for request in model.requests if not in_examination(request)]
    assert {"SectionAnswer", "VerdictsAnswer"} <= {request.schema_name for request in path}
    assert depth(path) <= DEPTHS[effort]
    told = [(r.schema_name, r.prompt) for r in model.requests]
    assert len(told) == len(set(told)), "nothing is asked twice"


async def test_a_low_quality_recommends_a_search_and_un_covers_nothing(
    model: Model, settings: Settings
) -> None:
    play(model, TOPICS)
    poor = dict.fromkeys(("accuracy", "completeness", "relevance", "source_quality", "clarity"), 5)
    model.script("AssessmentAnswer", lambda r: assessment([_first(r)]) | {"quality": poor})
    result = await research("What is known about Port Aldermere?", settings)
    assert (result.stopped_by, result.iterations) == ("coverage", 2)
    assert {s.topic for s in result.shortfalls if s.kind == "quality"} == set(TOPICS)
    assert all(topic.covered for topic in result.topics)
    first, second = result.rounds
    assert (first.quality_before, first.quality, first.score_before) == (None, 5.0, 0.0)
    assert (second.quality_before, second.quality) == (5.0, 5.0), "so it is not tried again"
    assert any("rated 5.0 of 10" in s.text for s in result.shortfalls)
    assert "of 10" not in result.report, "marks are for the result"


async def test_a_recommended_search_keeps_to_its_results_and_away_from_its_domains(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    play(model, {"Lighthouse": "lighthouse"}, keywords={"Lighthouse": "lamp"})
    searx.script("lighthouse", [])
    found = [
        world.put(
            "forum",
            f"/keeper{n}",
            page(f"The lamp of lighthouse number {n} was first lit in the year 188{n}."),
        )
        for n in range(9)
    ]
    searx.script("lamp", found)
    wanted = {
        "query": "lamp",
        "purpose": "p",
        "priority": "high",
        "max_results": 50,
        "include_domains": [],
        "exclude_domains": ["blog.example"],
    }
    model.script(
        lambda r: r.schema_name == "AssessmentAnswer" and not passages(r),
        assessment([], gap="lamp") | {"gap_queries": [wanted]},
    )
    result = await research("Who lights the lamp?", settings)
    assert any("-site:blog.example" in query for query in searx.queries)
    assert len([r for r in world.requests if r.path.startswith("/keeper")]) == 5, (
        "3 to 5 results, whatever the model asks"
    )
    assert result.stopped_by == "coverage"
    first, second = result.rounds
    assert (first.score, second.score_before) == (0.0, 0.0)
    assert second.score > 0.9


async def test_an_invented_quote_never_reaches_the_report(model: Model, settings: Settings) -> None:
    play(model, TOPICS)
    invented = "Port Aldermere was bought by a consortium of clockmakers in 1999."
    model.script(
        lambda r: r.schema_name == "AssessmentAnswer" and "Topic: Lighthouse" in r.prompt,
        assessment([invented], covered=True),
    )
    result = await research("What is known about Port Aldermere?", settings)
    assert "clockmakers" not in result.report
    lighthouse = next(topic for topic in result.topics if topic.name == "Lighthouse")
    assert not lighthouse.covered
    assert any(p.stage == "verifier" and "clockmakers" in p.reason for p in result.problems)
    assert quotes_stand(result)


async def test_a_sentence_with_a_changed_number_or_an_unknown_id_is_not_in_the_report(
    model: Model, settings: Settings
) -> None:
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    made = [
        ("Port Aldermere has 99,999 inhabitants.", ["E1"]),
        ("The town sells its fog in bottles.", ["E77"]),
        ("Everybody agrees about this.", []),
    ]
    model.script("SectionAnswer", written(*made))
    result = await research("How many people live in Port Aldermere?", settings)
    assert "99,999" not in result.report
    assert "fog" not in result.report
    assert "Everybody agrees" not in result.report
    assert sum(p.stage == "verifier" for p in result.problems) == 3
    assert result.citations, "the failed sentence is replaced by its quote"


@pytest.mark.parametrize("fault", ["error", "hang"])
async def test_a_search_that_fails_costs_its_topic_and_no_other(
    model: Model,
    world: World,
    searx: Searx,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    monkeypatch.setattr(provider_search, "SEARCH_SECONDS", 1)
    play(model, TOPICS, keywords={"Lighthouse": "lamp"})
    searx.script(
        "inhabitants",
        [
            world.put(
                "blog",
                "/census",
                page("The census of Port Aldermere counted 48,212 inhabitants in 2024."),
            )
        ],
    )
    searx.fail(fault, query="lighthouse")  # type: ignore[arg-type]
    result = await research("What is known about Port Aldermere?", settings.with_(iterations=1))
    assert {topic.name: topic.covered for topic in result.topics} == {
        "Inhabitants": True,
        "Lighthouse": False,
    }
    assert any(p.stage == "search" and p.subject == "searxng" for p in result.problems)
    assert "“Lighthouse” was not answered" in result.report
    assert "searxng" in result.report.partition("## Problems")[2]


async def test_the_client_of_a_model_is_imported_beside_the_event_loop(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(ModelClient, "check", lambda model: ended.wait(timeout=10))
    opening = asyncio.create_task(SessionContext.open(tmp_path / new_session_id(), settings))
    asyncio.get_running_loop().call_later(0.2, ended.set)
    began = time.monotonic()
    context = await opening
    assert time.monotonic() - began < 8, "the loop stood still, so that nothing else went on"
    await context.close()


@pytest.mark.parametrize("fault", get_args(SearchFault))
async def test_every_failure_of_a_provider_is_a_problem_that_the_report_shows(
    searx: Searx, settings: Settings, fault: SearchFault
) -> None:
    searx.fail(fault)
    result = await research("What is known about Port Aldermere?", settings.with_(minutes=0.2))
    failed = [problem for problem in result.problems if problem.stage == "search"]
    assert {problem.subject for problem in failed} == {"searxng"}
    assert any(problem.reason.rstrip(".") in result.report for problem in failed)
    assert result.status != "completed"


@pytest.mark.timed
async def test_with_every_page_hanging_the_report_comes_at_the_deadline(
    model: Model, world: World, settings: Settings
) -> None:
    play(model, TOPICS)
    world.hang_everything = True
    began = time.monotonic()
    result = await research("What is known about Port Aldermere?", settings.with_(minutes=0.1))
    assert time.monotonic() - began < 6 + 2
    assert result.stopped_by == "time"
    assert not result.citations
    assert result.confidence is None, "a model's score is no probability"
    assert all(not topic.covered for topic in result.topics)


@pytest.mark.parametrize(
    ("failing", "planner", "judge"),
    [("", NAME, NAME), ("PlanAnswer", "code", NAME), ("AssessmentAnswer", NAME, "code")],
)
async def test_who_planned_and_who_judged_is_recorded(
    model: Model, settings: Settings, failing: str, planner: str, judge: str
) -> None:
    play(model, TOPICS)
    if failing:
        model.script(failing, Fault("refusal"))
    result = await research("What is known about Port Aldermere?", settings)
    events = [*read_log(Path(result.session_dir))]
    assert {e.plan.maker for e in events if isinstance(e, Planned)} == {planner}
    assert {c.judge for e in events if isinstance(e, Assessed) for c in e.coverage} == {judge}


async def test_a_slow_model_is_not_taken_for_pages_that_were_late(
    model: Model, world: World, settings: Settings
) -> None:
    play(model, TOPICS)
    model.script("PlanAnswer", Fault("hang"))
    world.fail_everything = 403
    result = await research("What is Port Aldermere?", settings.with_(model_seconds=0.7))
    assert any(p.stage == "lead" and "in time" in p.reason for p in result.problems)
    assert (result.status, result.stopped_by) == ("partial", "nothing read")


@pytest.mark.parametrize("role", ["PlanAnswer", "AssessmentAnswer", "SectionAnswer"])
@pytest.mark.parametrize("fault", thinned(["hang", "refusal", "error"], 3))
async def test_a_role_whose_model_fails_is_played_by_code_and_named(
    model: Model, settings: Settings, role: str, fault: str
) -> None:
    play(model, TOPICS)
    model.script(role, Fault(fault))  # type: ignore[arg-type]
    result = await research("What is Port Aldermere?", settings.with_(model_seconds=0.7))
    stage = {"PlanAnswer": "lead", "AssessmentAnswer": "assessor", "SectionAnswer": "writer"}[role]
    assert any(p.stage == stage and "without the model" in p.effect for p in result.problems)
    assert result.citations
    assert quotes_stand(result)


async def test_the_model_calls_that_are_allowed_are_not_passed(
    model: Model, settings: Settings
) -> None:
    play(model, TOPICS)
    result = await research("What is known about Port Aldermere?", settings.with_(calls=2))
    assert len(model.requests) <= 2
    assert result.usage.model_calls == len(model.requests)
    assert result.status == "budget_limited"


async def test_orders_in_a_page_change_nothing(
    model: Model, world: World, settings: Settings
) -> None:
    play(model, {"Visitors": "weekend in Aldermere visitors guide"})
    result = await research("What can one do on a weekend in Aldermere?", settings)
    assert not world.asked("private")
    assert result.mode == "model"


async def test_a_page_wanted_by_two_topics_is_fetched_once(
    model: Model, world: World, settings: Settings
) -> None:
    play(model, {"One": "Port Aldermere inhabitants", "Two": "Port Aldermere inhabitants number"})
    await research("What is known about Port Aldermere?", settings)
    pages = [
        (r.site, r.path, r.query)
        for r in world.requests
        if r.path != "/robots.txt" and r.site != "odd"
    ]
    assert len(pages) == len(set(pages))


async def test_a_topic_whose_sentences_all_fail_shows_its_quotes(
    model: Model, settings: Settings
) -> None:
    play(model, TOPICS)
    model.script("SectionAnswer", written(("All is well.", ["E77"])))
    result = await research("What is known about Port Aldermere?", settings)
    assert all(f"## {name}" in result.report for name in TOPICS)
    assert result.citations
    assert any(p.stage == "writer" for p in result.problems)


@pytest.mark.parametrize("pages", [1, 2, 3])
async def test_pages_that_are_paid_for_are_used(
    model: Model, world: World, settings: Settings, pages: int
) -> None:
    play(model, TOPICS)
    world.delay = 0.05
    result = await research("What is known about Port Aldermere?", settings.with_(pages=pages))
    assert result.usage.pages == pages
    assert not any("in time" in p.reason for p in result.problems)


async def test_the_tokens_that_are_allowed_are_not_passed(model: Model, settings: Settings) -> None:
    play(model, TOPICS)
    result = await research("What is known about Port Aldermere?", settings.with_(tokens=3_000))
    assert result.usage.tokens_in + result.usage.tokens_out <= 3_000
    assert (result.status, result.stopped_by) == ("budget_limited", "tokens")


async def test_no_money_pays_no_priced_call(model: Model, settings: Settings) -> None:
    play(model, TOPICS)
    result = await research(
        "What is Port Aldermere?", settings.with_(money=0, prices={"world-model": (1.0, 1.0)})
    )
    assert not model.requests
    assert (result.status, result.mode) == ("budget_limited", "extractive")


async def test_a_hit_that_is_no_address_costs_nothing(
    model: Model, searx: Searx, world: World, settings: Settings
) -> None:
    play(model, {"Inhabitants": "inhabitants"})
    searx.script(
        "inhabitants",
        [
            "javascript:alert(1)",
            "ftp://broken.example/x",
            world.url("encyclopedia", "/wiki/Port_Aldermere"),
        ],
    )
    result = await research("How many people live there?", settings)
    assert result.citations
    assert "broken" not in result.report


@pytest.mark.parametrize(
    "address", ["https://evil.example/login?a=b", "www.evil.example/now", "boss@evil.example"]
)
async def test_an_address_that_no_quote_holds_is_not_in_the_report(
    model: Model, settings: Settings, address: str
) -> None:
    play(
        model, {"Inhabitants": "Port Aldermere inhabitants"}, gaps={"Inhabitants": f"see {address}"}
    )
    model.script(
        "SectionAnswer",
        lambda r: {
            "markdown": section(evidence(r))["markdown"].replace(" [", f" See {address}. [")
        },
    )
    result = await research("How many people live in Port Aldermere?", settings)
    assert address not in result.report
    assert result.citations


async def test_code_in_a_quote_of_several_blocks_stays_code(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    said = (
        "<p>The census tool counts the town, and prints what it finds.</p><pre><code>import"
        " census\ncensus.run()</code></pre>"
    )
    url = world.put(
        "docs",
        "/census",
        f"<html><head><title>Census</title></head><body><main><h1>Census</h1>{said}</main></body></html>",
    )
    searx.script("census", [url])
    play(model, {"Tool": "census tool"})
    model.script("AssessmentAnswer", lambda r: assessment([passages(r)[0]]))
    result = await research("How does the census tool work?", settings)
    assert {e.kind for topic in result.topics for e in topic.evidence} == {"text", "code"}
    assert "```\nimport census\ncensus.run()\n```" in result.report
    assert quotes_stand(result)


async def test_the_bare_graph_answers_and_keeps_to_its_folder(
    model: Model, settings: Settings, tmp_path: Path
) -> None:
    play(model, TOPICS)
    handed = await graph.ainvoke(
        {"question": "What is known about Port Aldermere?"}, context=settings
    )
    assert handed["report"] == handed["result"].report
    with pytest.raises(SettingsError, match="session_id"):
        await graph.ainvoke({"question": "What?", "session_id": "../../evil"}, context=settings)
    handed = await graph.ainvoke(
        {"question": "What is known?", "attachments": ["/etc/hostname"]}, context=settings
    )
    assert not any(source.domain == "attached" for source in handed["result"].sources)


async def test_who_leaves_while_a_run_is_under_way_leaves_nothing_behind(
    model: Model, world: World, settings: Settings
) -> None:
    play(model, TOPICS)
    world.hang_everything = True
    session = Session.start("What is known about Port Aldermere?", settings=settings)
    async with aclosing(session.events()) as events:
        async for event in events:
            if event.type == "reading":
                break
    world.hang_everything = False
    assert len(asyncio.all_tasks()) == 1
    assert (await Session.resume(session.session_id).result()).citations


async def test_a_worker_that_raises_becomes_a_problem_and_the_others_go_on(
    model: Model, world: World, searx: Searx, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(context: SessionContext, task: Task, *rest: Any) -> Any:
        if task.topic.name == "Inhabitants":
            raise LookupError(f"a fault of ours at {context.folder}")
        return await read_pages(context, task, *rest)

    play(model, TOPICS)
    monkeypatch.setattr("spadework.graph.nodes.gather.read_pages", fails)
    searx.script("inhabitants", [world.put("blog", "/census", page("It counted 48,212."))])
    searx.script("lighthouse", [])
    session = Session.start(
        "What is known about Port Aldermere?", settings=settings.with_(iterations=1)
    )
    result = await session.result()
    [problem] = [p for p in result.problems if p.stage == "worker"]
    assert problem.subject == "Inhabitants"
    assert str(session.folder) not in result.report
    assert "Inhabitants" in result.report.partition("## Problems")[2]
    assert "“Lighthouse” was not answered" in result.report

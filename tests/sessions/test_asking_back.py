"""A run asks back: what the question means, and whether the plan is right. Its clock stands still
meanwhile.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from spadework.events import Answered, Asked, Event, Finished, Foreseen, Planned
from spadework.graph.research import build_graph
from spadework.sessions.record.records import delete_session
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.model import Model


async def played(session: Session, *answers: str) -> list[Event]:
    """All events of a session whose questions are answered in turn."""
    left = list(answers)
    events = []
    async for event in session.events():
        events.append(event)
        if isinstance(event, Asked):
            session.answer(left.pop(0))
    assert not left, "something was not asked"
    return events


async def test_a_name_of_several_things_is_asked_about(settings: Settings) -> None:
    session = Session.start("What is Mercury?", settings=settings.with_(clarify=True))
    events = await played(session, "planet")
    asked = next(event for event in events if isinstance(event, Asked))
    assert (asked.kind, asked.text, sorted(asked.options)) == (
        "clarify",
        "Which Mercury do you mean?",
        ["element", "planet"],
    )
    report = events[-1].result.report
    assert report.startswith("# What is Mercury (planet)?")
    assert "smallest planet" in report


async def test_a_clear_question_is_not_asked_about(settings: Settings) -> None:
    events = await played(
        Session.start("What is the Quillon?", settings=settings.with_(clarify=True))
    )
    assert not any(isinstance(event, Asked) for event in events)


async def test_a_model_asks_back_in_its_own_words(
    model: Model, settings: Settings, monkeypatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    play(model, {"Radio": "wind-up radio"})
    model.script(
        "DoubtAnswer",
        {"question": "Which of its radios?", "options": ["the small one", "the large one"]},
    )
    session = Session.start(
        "What is the radio of Port Aldermere?",
        settings=Settings.load(search="library", library=settings.library, clarify=True),
    )
    events = await played(session, "the small one")
    asked = next(event for event in events if isinstance(event, Asked))
    assert (asked.text, asked.options) == (
        "Which of its radios?",
        ("the small one", "the large one"),
    )
    plan = next(r for r in model.requests if r.schema_name == "PlanAnswer")
    assert (
        "What is the radio of Port Aldermere (Which of its radios? the small one)?" in plan.prompt
    )
    assert sum(r.schema_name == "DoubtAnswer" for r in model.requests) == 1, (
        "asking back costs one call, also when the node runs again"
    )
    plans = session.settings.home / "plans"
    assert len([*plans.iterdir()]) == 1
    delete_session(session.settings.home, session.session_id)
    assert not [*plans.iterdir()], "the plan of the clarified question goes with its session"


async def test_an_approved_plan_stays_and_a_changed_one_is_searched(settings: Settings) -> None:
    session = Session.start("What is the Quillon?", settings=settings.with_(approve=True))
    events = await played(session, "yes")
    assert [topic.name for topic in events[-1].result.topics] == [
        t.name for t in next(e for e in events if isinstance(e, Asked)).plan.topics
    ]

    session = Session.start("What is the Quillon?", settings=settings.with_(approve=True))
    events = await played(session, "Springs of wind-up radios\nQuillon")
    assert [[t.name for t in e.plan.topics] for e in events if isinstance(e, Planned)][-1] == [
        "Springs of wind-up radios",
        "Quillon",
    ]
    assert "blue steel" in events[-1].result.report
    assert [events[-1].result.forecast] == [e.forecast for e in events if isinstance(e, Foreseen)]


async def test_a_plan_is_changed_in_words_and_shown_again(settings: Settings) -> None:
    session = Session.start("What is the Quillon?", settings=settings.with_(approve=True))
    events = await played(
        session,
        "- Quillon\n- Price\nchange: drop 9",
        "change: make it nicer",
        "change: drop 2\nchange: add springs of wind-up radios",
        "change: add uses\nyes",
    )
    asked = [event for event in events if isinstance(event, Asked)]
    assert [event.text for event in asked[:2]] == [
        "Approve this plan?",
        "There is no topic 9: the plan has 2.",
    ]
    assert asked[2].text.startswith("“make it nicer” was not understood. Examples: drop")
    shown = [[t.name for t in e.plan.topics] for e in asked[1:] if e.plan]
    assert shown[0] == shown[1] == ["Quillon", "Price"]
    assert shown[2] == ["Quillon", "Springs of wind-up radios"]
    assert [topic.name for topic in events[-1].result.topics] == [*shown[2], "Uses"]


async def test_what_rules_do_not_understand_the_lead_does(
    model: Model, settings: Settings, monkeypatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    play(model, {"Radio": "wind-up radio", "Price": "price"})
    model.script("WishedAnswer", {"topics": ["Radio"], "freshness": "any"})
    asked = Settings.load(search="library", library=settings.library, approve=True)
    session = Session.start("What is the radio?", settings=asked)
    events = await played(session, "change: money does not matter to me", "")
    assert [topic.name for topic in events[-1].result.topics] == ["Radio"]
    [request] = [r for r in model.requests if r.schema_name == "WishedAnswer"]
    assert "The user says: money does not matter to me" in request.user


async def test_the_lead_finishes_the_topics_that_the_user_has_named(
    model: Model, settings: Settings, monkeypatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    play(model, {"Radio": "wind-up radio", "Price": "price"})
    named = {"name": "springs", "question": "What are the springs of the radio made of?"}
    queries = [{"text": "wind-up radio springs steel", "kind": "specific"}]
    model.script(
        "TopicsAnswer",
        {"topics": [named | {"expects": "name", "must_cover": ["steel"], "queries": queries}]},
    )
    asked = Settings.load(search="library", library=settings.library, approve=True)
    events = await played(Session.start("What is the radio?", settings=asked), "Springs\nRadio")
    plan = [event.plan for event in events if isinstance(event, Planned)][-1]
    assert [(topic.name, topic.expects) for topic in plan.topics] == [
        ("Springs", "name"),
        ("Radio", "open"),
    ]
    assert [query.text for query in plan.topics[0].queries] == ["wind-up radio springs steel"]
    [request] = [r for r in model.requests if r.schema_name == "TopicsAnswer"]
    assert "- Springs" in request.user.partition("New topics:")[2]
    assert "- Radio" in request.user.partition("New topics:")[0]


async def test_a_plan_in_which_nothing_is_new_costs_no_call(
    model: Model, settings: Settings, monkeypatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    play(model, {"Radio": "wind-up radio", "Price": "price"})
    asked = Settings.load(search="library", library=settings.library, approve=True)
    events = await played(Session.start("What is the radio?", settings=asked), "Radio")
    assert [topic.name for topic in events[-1].result.topics] == ["Radio"]
    assert not [r for r in model.requests if r.schema_name == "TopicsAnswer"]


async def test_the_clock_stands_still_while_the_user_thinks(settings: Settings) -> None:
    session = Session.start("What is the Quillon?", settings=settings.with_(approve=True))
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, Asked):
                before = session.budget.elapsed()
                await asyncio.sleep(0.5)
                assert session.budget.elapsed() == before
                session.answer("")
            if isinstance(event, Finished):
                assert (
                    event.result.timings["total"] == round(session.budget.elapsed(), 2)
                    or session.budget.elapsed() < 60
                )


async def test_who_wants_the_report_now_need_not_answer(settings: Settings) -> None:
    session = Session.start("What is the Quillon?", settings=settings.with_(approve=True))
    events = []
    async for event in session.events():
        events.append(event)
        if isinstance(event, Asked):
            session.stop()
    assert [event.text for event in events if isinstance(event, Answered)] == [""]
    assert events[-1].result.status == "partial"


async def test_without_an_answer_the_run_goes_on_as_planned(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spadework.sessions.session.USER_SECONDS", 0.12)
    session = Session.start("What is the Quillon?", settings=settings.with_(approve=True))
    events = [event async for event in session.events()]
    assert events[-1].result.citations


async def test_a_session_left_while_it_asks_asks_again_when_resumed(settings: Settings) -> None:
    session = Session.start("What is the Quillon?", settings=settings.with_(approve=True))
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, Asked):
                break
    again = Session.resume(
        session.session_id,
        home=settings.home,
        approve=True,
        search="library",
        library=settings.library,
    )
    events = await played(again, "How to use the Quillon")
    assert [topic.name for topic in events[-1].result.topics] == ["How to use the Quillon"]


async def test_a_bare_graph_takes_the_answer_as_text_list_or_object(settings: Settings) -> None:
    graph = build_graph(InMemorySaver())
    for n, answer in enumerate(
        (
            "Spring of the Quillon",
            ["Spring of the Quillon"],
            {"topics": [{"name": "Spring of the Quillon"}]},
            [_decision("edit", {"action": "approve", "args": {"topics": "Spring of the Quillon"}})],
            {"decisions": [EDITED]},
        )
    ):
        config = {"configurable": {"thread_id": f"t{n}"}}
        context = settings.with_(approve=True)
        asked = await graph.ainvoke({"question": "What is the Quillon?"}, config, context=context)
        assert asked["__interrupt__"][0].value["kind"] == "approve"
        done = await graph.ainvoke(Command(resume=answer), config, context=context)
        assert [topic.name for topic in done["result"].topics] == ["Spring of the Quillon"]


#: The decision of a client that has changed the plan in the form of LangChain's middleware.
EDITED = {
    "type": "edit",
    "edited_action": {"name": "approve", "args": {"topics": "Spring of the Quillon"}},
}


def _decision(kind: str, args: Any = None) -> dict[str, Any]:
    return {"type": kind, "args": args}


@pytest.mark.parametrize("answer", [[_decision("accept")], {"decisions": [{"type": "approve"}]}])
async def test_a_plan_is_a_form_of_chat_clients_that_may_be_accepted_or_changed_in_words(
    settings: Settings, answer: Any
) -> None:
    graph, config = build_graph(InMemorySaver()), {"configurable": {"thread_id": "t"}}
    context = settings.with_(approve=True)
    asked = await graph.ainvoke({"question": "What is the Quillon?"}, config, context=context)
    form = asked["__interrupt__"][0].value
    topics = "\n".join(topic["name"] for topic in form["plan"]["topics"])
    assert form["action_request"] == {"action": "approve", "args": {"topics": topics}}
    assert form["config"] == {
        "allow_accept": True,
        "allow_edit": True,
        "allow_respond": True,
        "allow_ignore": False,
    }
    [review] = form["review_configs"]
    assert review == {
        "action_name": form["action_requests"][0]["name"],
        "allowed_decisions": ["approve", "edit", "reject"],
    }
    for wish in (
        [_decision("response", "add Spring of the Quillon")],
        {"decisions": [{"type": "reject", "message": "add Its price"}]},
    ):
        asked = await graph.ainvoke(Command(resume=wish), config, context=context)
        form = asked["__interrupt__"][0].value
        assert form["description"].startswith("Changed: add "), "the plan is shown again"
    done = await graph.ainvoke(Command(resume=answer), config, context=context)
    names = [topic.name for topic in done["result"].topics]
    assert {"Spring of the Quillon", "Its price"} < set(names)


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ([_decision("response", "planet")], "What is Mercury (planet)?"),
        ({"decisions": [{"type": "respond", "message": "planet"}]}, "What is Mercury (planet)?"),
        ([_decision("ignore")], "What is Mercury?"),
        ({"decisions": [{"type": "reject"}]}, "What is Mercury?"),
    ],
)
async def test_a_question_back_is_a_form_with_its_options(
    settings: Settings, answer: Any, title: str
) -> None:
    graph, config = build_graph(InMemorySaver()), {"configurable": {"thread_id": "t"}}
    context = settings.with_(clarify=True)
    asked = await graph.ainvoke({"question": "What is Mercury?"}, config, context=context)
    form = asked["__interrupt__"][0].value
    assert form["description"].splitlines()[0] == "Which Mercury do you mean?"
    assert {"- planet", "- element"} <= set(form["description"].splitlines())
    config_of_form = form["config"]
    assert (config_of_form["allow_respond"], config_of_form["allow_ignore"]) == (True, True)
    assert not config_of_form["allow_accept"]
    done = await graph.ainvoke(Command(resume=answer), config, context=context)
    assert done["report"].startswith(f"# {title}\n")

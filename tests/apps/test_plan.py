"""`spadework plan` shows what `ask` would do and take, and does none of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spadework.sessions.search_only import Preview
from tests.apps.process import Terminal
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


@pytest.fixture
def terminal(world: World, searx: Searx, tmp_path: Path) -> Terminal:
    """On the web of the world, without a model."""
    return Terminal({**world.env, **searx.env}, tmp_path)


@pytest.fixture
def offline(notes: Path, tmp_path: Path) -> Terminal:
    return Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)


def sessions(terminal: Terminal) -> list[Path]:
    return list((terminal.folder / "home").glob("sessions/*"))


def of_ask(terminal: Terminal, *arguments: str) -> dict[str, Any]:
    """The plan of a run of `ask` and its forecast, which comes again only where it has changed."""
    _, out, _ = terminal.run("ask", *arguments, "--events")
    events = [json.loads(line) for line in out.splitlines()]
    first, planned = (
        next(event for event in events if event["type"] == name) for name in ("foreseen", "planned")
    )
    return {"plan": planned["plan"], "forecast": planned["forecast"] or first["forecast"]}


def test_a_model_is_asked_once_and_a_run_uses_its_plan(
    terminal: Terminal, world: World, searx: Searx, model: Model
) -> None:
    play(model, TOPICS)
    terminal.env |= model.env
    code, out, err = terminal.run("plan", QUESTION, "--json")
    assert (code, err) == (0, "")
    shown = Preview.model_validate_json(out)
    assert [topic.name for topic in shown.plan.topics] == list(TOPICS)
    assert shown.usage.model_calls == len(model.requests) == 1
    assert shown.forecast.calls.low > 1
    assert (searx.queries, world.requests, sessions(terminal)) == ([QUESTION], [], [])
    planned = of_ask(terminal, QUESTION)
    assert planned["plan"] == json.loads(out)["plan"]
    assert [r.schema_name for r in model.requests].count("PlanAnswer") == 1


def test_without_a_model_it_is_the_plan_and_forecast_of_ask(offline: Terminal) -> None:
    asked = ("What is the Quillon and how do I use it?", "--iterations", "2", "--pages", "7")
    code, out, _ = offline.run("plan", *asked, "--json")
    assert code == 0
    shown = json.loads(out)
    assert sessions(offline) == []
    assert [topic["expects"] for topic in shown["plan"]["topics"]] == ["definition", "steps"]
    assert (shown["forecast"]["rounds"]["high"], shown["forecast"]["pages"]["high"]) == (2, 7)
    assert of_ask(offline, *asked) == {name: shown[name] for name in ("plan", "forecast")}


def test_it_can_be_read(offline: Terminal) -> None:
    code, out, _ = offline.run("plan", "Compare Quillon and Marrow")
    assert code == 0
    assert out.splitlines() == [
        "Compare Quillon and Marrow",
        "compare, moderate; about Quillon, Marrow",
        "",
        " 1. Quillon",
        "    What is Quillon?",
        "    expects definition",
        "    searches Compare Quillon and Marrow | What is Quillon? | Quillon",
        "",
        " 2. Marrow",
        "    What is Marrow?",
        "    expects definition",
        "    searches What is Marrow? | Marrow",
        "",
        " 3. Compare Quillon and Marrow",
        "    expects both sides; must cover Quillon, Marrow",
        "    searches Compare Quillon and Marrow | Quillon | Marrow",
        "",
        (
            "Estimate: 0.5 to 18.0 s, 1 to 3 rounds, 3 topics at once; 8 to 26 searches, 6 to 60"
            " pages; a rough estimate, based on fewer than five similar runs"
        ),
    ]


def test_a_search_that_fails_does_not_fail_the_plan(terminal: Terminal, searx: Searx) -> None:
    searx.fail("forbidden")
    code, out, _ = terminal.run("plan", "Who founded Port Aldermere?", "--json")
    assert code == 0
    assert len(searx.queries) >= 1
    assert json.loads(out)["plan"]["topics"][0]["expects"] == "name"


def test_a_model_that_fails_is_said(terminal: Terminal, model: Model) -> None:
    model.script("PlanAnswer", Fault("refusal"))
    terminal.env |= model.env
    code, out, err = terminal.run("plan", QUESTION, "--json")
    assert code == 0
    [problem] = json.loads(out)["problems"]
    assert problem["stage"] == "lead"
    assert "This step was done without the model." in err


@pytest.mark.full
def test_a_question_that_follows_up_another_takes_its_subject(offline: Terminal) -> None:
    offline.run("ask", "What is the Quillon?")
    code, out, _ = offline.run("plan", "-c", "How is it used?", "--json")
    assert code == 0
    assert "Quillon" in json.loads(out)["plan"]["topics"][0]["question"]
    assert len(sessions(offline)) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("  ",), "The question is empty"),
        (("What?", "--pages", "many"), "pages must be a whole number, not 'many'"),
        (("What?", "--pages", "-1"), "pages must be at least 0, not '-1'"),
        (("What?", "--search", "nowhere"), "Unknown search provider: nowhere."),
        (("What?", "--library", "missing"), "does not exist"),
        (("What?", "-c"), "no finished session"),
    ],
)
def test_bad_input_is_one_sentence(
    offline: Terminal, arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = offline.run("plan", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert sessions(offline) == []

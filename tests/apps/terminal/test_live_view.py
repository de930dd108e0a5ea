"""The live view of a run in a real terminal, and the plain lines where there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.apps.terminal.tty import CTRL_C, Tty
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = pytest.mark.process

TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
    "Prices": "ticket prices",
}
QUESTION = "What is known about Port Aldermere?"
#: A title that would colour, clear and break the screen, and is far too long.
EVIL = "漢字 [red]x[/] \x1b[2J\x1b[31m\x07 \u202e " + "long " * 80
METER = r"\d:\d\d of 10:00 · round"


@pytest.fixture
def env(world: World, searx: Searx, model: Model) -> dict[str, str]:
    play(
        model,
        TOPICS,
        keywords={"Prices": "no page says this"},
        gaps={"Prices": "ticket prices of the ferry"},
    )
    return {**world.env, **searx.env, **model.env}


def page(title: str) -> str:
    said = (
        "The census of Port Aldermere counted 48,212 inhabitants in 2024. Much else is told of the"
        " town by those who live there."
    )
    return (
        f"<html><head><title>{title}</title></head><body><main><h1>Port"
        f" Aldermere</h1><p>{said}</p></main>"
    )


def test_the_plan_and_the_sources_are_seen_as_they_come_and_go_without_a_trace(
    env: dict[str, str], world: World, searx: Searx, model: Model, tmp_path: Path
) -> None:
    searx.script(
        "inhabitants",
        [world.put("blog", "/evil", page(EVIL)), world.url("encyclopedia", "/wiki/Port_Aldermere")],
    )
    searx.script("lighthouse", [world.url("encyclopedia", "/wiki/Port_Aldermere")])
    searx.script("ticket", [world.url("broken", "/status/403")])
    world.delay, model.delay = 1.5, 0.5  # no state is over before it is drawn
    with Tty(env, tmp_path, "ask", QUESTION) as tty:
        seen = tty.see(r"reading 2 +Inhabitants")
        assert "Researching with a language model; searching the web, through SearXNG" in seen
        assert re.search(
            r"… 漢字 \[red\]x\[/\] \[2J\[31m +long .*… \(127\.0\.1\.5\)$", seen, re.MULTILINE
        )
        assert len(seen.splitlines()) <= 24
        tty.press("typed\r\r")
        seen = tty.see(r"✓ answered \(\d quotes?\) +Inhabitants(?:\n.*)*✗ open +Prices")
        assert re.search(
            METER + r" \d/3 · \d+ pages · \d+ quotes · [\d.]+k? tokens · (price unknown|\$)", seen
        ), seen
        assert "typed" not in seen, "what is typed does not break the picture"
        assert tty.end() == 0
        assert tty.echoes
        whole = tty.whole
    assert "completed: " in whole
    assert "The census of Port Aldermere counted 48,212 inhabitants in 2024. [" in whole
    assert not re.search(METER, whole)
    assert "Researching" not in whole
    for bad in (b"\x1b[2J", b"\x07", "\u202e".encode()):
        assert bad not in tty.raw


@pytest.mark.full
def test_a_smaller_terminal_gets_a_smaller_picture(
    env: dict[str, str], world: World, tmp_path: Path
) -> None:
    world.hang_everything = True
    with Tty(env, tmp_path, "ask", QUESTION, columns=120, rows=30) as tty:
        tty.see(r"reading \d +Prices")
        tty.resize(44, 8)
        tty.see(r"0/10|1/3")
        seen = tty.see(r"^ … reading \d +Lighthouse(?:\n.*)*of 10:00")
        assert len(re.findall("of 10:00", seen)) == 1
        assert all(len(line) <= 43 for line in seen.splitlines() if "…" in line)
        tty.press(CTRL_C)
        assert tty.end() == 0


@pytest.mark.parametrize(
    "plain", [{"NO_COLOR": "1"}, pytest.param({"TERM": "dumb"}, marks=pytest.mark.full)]
)
def test_where_nothing_may_be_redrawn_lines_are_printed(
    env: dict[str, str], tmp_path: Path, plain: dict[str, str]
) -> None:
    with Tty(env | plain, tmp_path, "ask", QUESTION) as tty:
        assert tty.end() == 0
        whole = tty.whole
    assert re.search(r"Searched \d+ times?, read \d+ page", whole)
    assert f"# {QUESTION}" in whole
    assert b"\x1b" not in tty.raw


def test_ctrl_c_once_writes_and_twice_leaves_a_session_to_take_up(
    env: dict[str, str], world: World, model: Model, tmp_path: Path
) -> None:
    world.hang_everything = True
    with Tty(env, tmp_path, "ask", QUESTION) as tty:
        tty.see(r"reading \d +Prices")
        tty.press(CTRL_C)
        assert tty.end() == 0
        assert "partial: " in tty.whole
    with Tty(env, tmp_path, "ask", QUESTION) as tty:
        tty.see(r"reading \d +Prices")
        model.script("AssessmentAnswer", Fault("hang"))
        tty.press(CTRL_C)
        tty.see("Stopping: writing the report")
        tty.press(CTRL_C)
        assert tty.end() == 130
        session = re.search(r"spadework resume (\S+)", tty.whole.replace("\n", " "))
        assert session
        assert tty.echoes
    world.hang_everything = False
    play(model, TOPICS)
    with Tty(env, tmp_path, "resume", session[1]) as tty:
        assert tty.end() == 0
        assert "completed: " in tty.whole


@pytest.mark.full
def test_a_plan_is_approved_in_the_terminal(
    env: dict[str, str], searx: Searx, tmp_path: Path
) -> None:
    with Tty(env, tmp_path, "ask", QUESTION, "--approve", rows=60) as tty:
        tty.see(r"3\. Prices\nEnter: accept")
        tty.enter("drop 3")
        tty.see(r"› drop 3\nPlan:\n  1\. Inhabitants\n  2\. Lighthouse\nEnter: accept")
        tty.enter()
        assert tty.end() == 0
    assert "Prices" not in tty.whole.rpartition("› ")[2]
    assert not [query for query in searx.queries if "ticket" in query]


@pytest.mark.full
def test_who_leaves_at_a_question_can_come_back_to_it(env: dict[str, str], tmp_path: Path) -> None:
    with Tty(env, tmp_path, "ask", QUESTION, "--approve") as tty:
        tty.see("Enter: accept")
        tty.press(CTRL_C)
        assert tty.end() == 130
        session = re.search(r"spadework resume (\S+)", tty.whole.replace("\n", " "))
        assert session
    with Tty(env, tmp_path, "resume", session[1]) as tty:
        tty.see("Enter: accept")
        tty.enter("yes")
        assert tty.end() == 0

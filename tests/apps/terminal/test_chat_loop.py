"""The chat as somebody at a terminal has it, and as a script has it."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from tests.apps.process import Terminal
from tests.apps.terminal.tty import CTRL_C, CTRL_D, TAB, Tty
from tests.apps.web.prepared import large, put
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = pytest.mark.process

TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
    "Prices": "ticket prices",
}
QUESTION = "What is known about Aldermere?"
PROMPT = r"^›$"


@pytest.fixture
def env(world: World, searx: Searx, model: Model) -> dict[str, str]:
    play(model, TOPICS)
    model.script(
        "DoubtAnswer",
        {"question": "Which Aldermere do you mean?", "options": ["the town", "the ship [red]x[/]"]},
    )
    return {**world.env, **searx.env, **model.env}


def told(env: dict[str, str]) -> dict[str, str]:
    """The newest session's metadata."""
    home = Path(env["SPADEWORK_HOME"]) / "sessions"
    found: dict[str, str] = json.loads((max(home.iterdir()) / "session_metadata.json").read_text())
    return found


def test_a_conversation(env: dict[str, str], model: Model, tmp_path: Path) -> None:
    model.script("WishedAnswer", {"topics": ["Townspeople", "Lighthouse"], "freshness": "any"})
    env["SPADEWORK_HOME"] = str(tmp_path / "home")
    with Tty(env, tmp_path, "chat", columns=120, rows=200) as tty:
        seen = tty.see(PROMPT)
        assert re.match(
            r"spadework \d\S* +Ask a question\. /help lists.*\nModel: openai:world-model\. Search:"
            r" auto\. Sessions:.*\n›",
            seen,
        )
        for command in ("/plan", "/sources", "/quote 1", "/conflicts", "/export x.md"):
            tty.enter(command)
        tty.see(r"(?:There is no answer yet(?:.|\n)*){5}")
        tty.enter("/resume")
        tty.see("There is no run to resume")
        tty.enter("/frobnicate")
        tty.see("There is no command /frobnicate. Type /help for a list.")
        tty.press("/conf" + TAB)
        tty.see("^› /conflicts$")
        tty.press(CTRL_C)
        tty.see(PROMPT)

        tty.enter(QUESTION)
        tty.see(
            r"Which Aldermere do you mean\?\n  1\. the town\n  2\. the ship \[red\]x\[/\]\nType a"
            r" number"
        )
        tty.enter("7")
        tty.see("type a number from 1 to 2, or your own words")
        tty.enter("1")
        tty.see(r"Plan:\n  1\. Inhabitants\n  2\. Lighthouse\n  3\. Prices\nEnter: accept")
        tty.enter("drop 9")
        tty.see("There is no topic 9: the plan has 3.")
        tty.enter("drop 3")
        tty.enter("rename 1 Townspeople")
        tty.see(r"Plan:\n  1\. Townspeople\n  2\. Lighthouse\nEnter: accept")
        tty.enter("add History")
        tty.see(r"3\. History\nEnter: accept")
        tty.enter()
        tty.see(r"^Done: \d+ sources")
        answered = "Which Aldermere do you mean? the town"
        assert f"{QUESTION[:-1]} ({answered})?" in " ".join(tty.text.split())
        assert "The lighthouse on Gannet Point is 41 metres tall" in tty.text
        assert f"Plan:\n{QUESTION}" not in tty.text
        first = told(env)["id"]

        tty.enter("/plan")
        tty.see(r"^ ✓ answered \(\d quotes?\) +History$")
        tty.enter("/sources")
        tty.see(r"^ \[1\] .+ \(127\.0\.1\.\d.*, \d quotes?\)$")
        tty.enter("/quote 1")
        tty.see(
            r"^E\d+  (?:.|\n)*^\[1\] .+\nhttp://127\.0\.1\.\d:\d+/\S+\n/\S+/pages/\S+\n(?:\S+\n)?at"
            r" characters \d+–\d+.*, found by \d+ of \d+ queries"
        )
        assert re.search(rb"\x1b\]8;[^;]*;http://127\.0\.1\.", tty.raw), "links can be clicked"
        tty.enter("/quote 999")
        tty.see("There is no source 999")
        tty.enter("/conflicts")
        tty.see("No disagreement|the sources give different")
        tty.enter("/export kept.html")
        tty.see("Wrote ")
        assert "Gannet Point" in (tmp_path / "kept.html").read_text()
        tty.enter("/export kept.xyz")
        tty.see("the file name must end in one of")
        tty.enter("/help")
        tty.see(r"/quote N +show the quotes from source N")

        model.script("DoubtAnswer", {"question": "", "options": []})
        tty.enter("And the lighthouse?")
        tty.see(r"And the lighthouse\?(?:.|\n)*Plan:(?:.|\n)*Enter: accept")
        tty.enter()
        tty.see(r"And the lighthouse\?(?:.|\n)*Done: \d+ sources")
        assert told(env)["follows"] == first

        tty.enter("/new")
        tty.see("starts afresh")
        tty.enter("/plan")
        tty.enter("/quit")
        assert tty.end() == 0
        assert tty.echoes
    history = tmp_path / "home" / "chat_history"
    assert QUESTION in history.read_text()
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


@pytest.mark.full
def test_ctrl_c_while_a_run_goes_on(
    env: dict[str, str], model: Model, world: World, tmp_path: Path
) -> None:
    world.hang_everything = True
    with Tty(env, tmp_path, "chat", "--no-clarify", "--no-approve", rows=200) as tty:
        tty.see(PROMPT)
        tty.enter(QUESTION)
        tty.see(r"reading \d +Prices(?:.|\n)* Ctrl-C: write the report now")
        tty.press(CTRL_C)
        tty.see("^Stopped: 0 sources")
        tty.enter(QUESTION)
        tty.see(r"reading \d +Prices")
        tty.press(CTRL_C)
        tty.see(r"(?:Stopped: 0 sources(?:.|\n)*){2}")
        tty.enter(QUESTION)
        tty.see(r"reading \d +Prices")
        model.delay = 20
        tty.press(CTRL_C)
        tty.see("Stopping: writing the report")
        tty.press(CTRL_C)
        tty.see(r"^You left the run\. To continue it")
        world.hang_everything, model.delay = False, 0.0
        tty.enter("/resume")
        tty.see(r"^Done: [1-9]\d* sources")
        tty.press(CTRL_D)
        assert tty.end() == 0


@pytest.mark.full
def test_a_script_asks_line_by_line(notes: Path, tmp_path: Path) -> None:
    terminal = Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)
    lines = [
        "What is the Quillon?",
        "/sources",
        "/quote 7",
        "/nonsense",
        "/export kept.md",
        "",
        "How much does it weigh?",
        "/quit",
        "What is not asked?",
    ]
    code, out, err = terminal.piped("\n".join(lines) + "\n", "chat")
    assert code == 0, err
    assert "\x1b" not in out + err
    assert out.count("# What is the Quillon?") == out.count("# How much does it weigh?") == 1
    assert re.search(r"^ \[1\] Quillon \(notes, your document, \d quotes?\)$", out, re.MULTILINE)
    assert "There is no source 7" in err
    assert "There is no command /nonsense" in err
    assert "Already known" in err, "the second question follows up the first"
    assert (tmp_path / "kept.md").read_text().startswith("# What is the Quillon?")
    assert "not asked" not in out


@pytest.mark.full
def test_a_script_can_change_the_plan(notes: Path, tmp_path: Path) -> None:
    terminal = Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)
    code, out, err = terminal.piped(
        "What is the Quillon?\ndrop 2 3 4; drop 9; add Winding\n/plan\n", "chat", "--approve"
    )
    assert code == 0, err
    assert "There is no topic 9: the plan has 1." in err
    shown = [line for line in out.splitlines() if line.startswith((" ✓", " ~", " ✗"))]
    assert [line.split()[-1] for line in shown] == ["Quillon?", "Winding"]


def test_what_no_command_can_mean_does_not_end_the_chat(tmp_path: Path) -> None:
    last = put(tmp_path, *large("20260304-050607-00c4a7", sources=1, sections=1, sentences=1))
    terminal = Terminal({"SPADEWORK_HOME": str(tmp_path), "SPADEWORK_SEARCH": "library"}, tmp_path)
    lines = f"/quote {'9' * 5_000}\n/export ~nobody-of-this-name/x.md\n/quote 1\n"
    code, out, err = terminal.piped(lines, "chat", "--follow", last)
    assert code == 0, err
    assert "There is no source 999" in err
    assert "~nobody-of-this-name" in err
    assert "the harbour master wrote down" in out


@pytest.mark.full
def test_what_fails_does_not_end_the_chat(notes: Path, tmp_path: Path) -> None:
    terminal = Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)
    code, out, err = terminal.piped(
        "What is it?\n/resume nothing\n/help\n", "chat", "--model", "openai:gpt-5-mini"
    )
    assert code == 0, err
    assert "OPENAI_API_KEY" in err
    assert "no session 'nothing'" in err
    assert "Traceback" not in err
    assert "/export FILE" in out

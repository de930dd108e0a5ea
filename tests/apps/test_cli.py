"""The command line as a user has it: real processes, their output, their exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from spadework.values import Result
from tests.apps.process import Terminal
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}
QUESTION = "What is known about Port Aldermere?"


@pytest.fixture
def terminal(world: World, searx: Searx, model: Model, tmp_path: Path) -> Terminal:
    play(model, TOPICS)
    return Terminal({**world.env, **searx.env, **model.env}, tmp_path)


@pytest.fixture
def offline(tmp_path: Path) -> Terminal:
    """Without a model; the notes below are the library."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "quillon.md").write_text(
        "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding. It"
        " was designed in Port Aldermere.\n\n## Use\n\nTo use the Quillon, turn the crank thirty"
        " times and set the dial to a station. Use it where there is no power.\n"
    )
    return Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)


def test_ask_prints_the_report_and_keeps_progress_off_stdout(terminal: Terminal) -> None:
    code, out, err = terminal.run("ask", QUESTION)
    assert code == 0, err
    assert out.startswith(f"# {QUESTION}")
    assert "## Sources" in out
    assert "Searched 1 time" in err
    assert "Searched searxng" not in out


def test_ask_is_the_default_command_and_json_is_one_result(terminal: Terminal) -> None:
    code, out, err = terminal.run(QUESTION, "--json")
    assert code == 0, err
    result = Result.model_validate_json(out)
    assert (result.status, result.question, result.mode) == ("completed", QUESTION, "model")
    assert {topic.name for topic in result.topics} == set(TOPICS)


@pytest.mark.full
def test_events_are_one_json_object_a_line_from_started_to_finished(terminal: Terminal) -> None:
    code, out, err = terminal.run("ask", QUESTION, "--events")
    assert code == 0, err
    types = [json.loads(line)["type"] for line in out.splitlines()]
    assert (types[0], types[-1]) == ("started", "finished")
    assert {"planned", "searched", "reading", "read", "assessed", "report"} <= set(types)


def test_the_session_folder_holds_what_the_run_left(terminal: Terminal) -> None:
    _, out, _ = terminal.run("ask", QUESTION, "--json", "-o", "report.md")
    result = Result.model_validate_json(out)
    folder = Path(result.session_dir)
    names = {path.name.split("_20")[0] for path in folder.iterdir()}
    assert {
        "session_metadata.json",
        "progress_tracking.json",
        "evidence.jsonl",
        "result.json",
        "pages",
    } <= names
    assert {
        "search_workproduct",
        "intelligent_research_workproduct",
        "research_report",
        "editorial_review",
    } <= names
    assert (terminal.folder / "report.md").read_text() == result.report
    ledger = [json.loads(line) for line in (folder / "evidence.jsonl").read_text().splitlines()]
    assert [e["id"] for e in ledger] == [f"E{n}" for n in range(1, len(ledger) + 1)]
    assert "sk-world" not in "".join(
        path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()
    )


def test_the_answer_of_a_run_that_was_killed_is_shown_and_its_files_are_drawn_anew(
    terminal: Terminal,
) -> None:
    _, out, _ = terminal.run("ask", QUESTION, "--json")
    folder = Path(json.loads(out)["session_dir"])
    (folder / "result.json").unlink()
    next(folder.glob("research_report_*")).unlink()
    told = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join(told[:-2]) + told[-2][:200])
    code, out, err = terminal.run("sessions", "show", folder.name)
    assert code == 0
    assert out.startswith(f"# {QUESTION}")
    assert f"Session {folder.name} is not finished. This is its answer so far." in err
    product = next(folder.glob("search_workproduct_*"))
    product.unlink()
    code, out, _ = terminal.run("sessions", "redraw", folder.name)
    assert code == 0
    assert product.name in out.splitlines()
    assert product.exists()
    assert terminal.run("sessions", "redraw", "20200101-000000-abcdef")[0] == 2


def test_sessions_are_listed_shown_exported_and_deleted(terminal: Terminal) -> None:
    _, out, _ = terminal.run("ask", QUESTION, "--json")
    id_ = json.loads(out)["session_id"]
    assert id_ in terminal.run("sessions")[1]
    assert terminal.run("sessions", "show", id_)[1].startswith(f"# {QUESTION}")
    assert terminal.run("sessions", "export", id_, "-o", "copy.json")[0] == 0
    assert json.loads((terminal.folder / "copy.json").read_text())["session_id"] == id_
    files = json.loads(terminal.run("sessions", "files", id_, "--json")[1])
    kinds = {one["name"].partition("_2")[0]: one["kind"] for one in files}
    assert (kinds["research_report"], kinds["evidence.jsonl"]) == ("report", "evidence")
    pages = [one for one in files if one["name"].startswith("pages/")]
    assert {one["kind"] for one in pages} >= {"web page", "PDF"}
    assert all(one["title"] and one["url"] and one["size"] for one in pages)
    listed = terminal.run("sessions", "files", id_)[1]
    assert len(listed.splitlines()) == len(files)
    assert terminal.run("sessions", "delete", id_)[0] == 0
    assert terminal.run("sessions", "show", id_)[0] != 0


def test_without_a_model_a_report_is_quoted_from_the_library(offline: Terminal) -> None:
    code, out, err = offline.run("ask", "What is the Quillon?", "--json")
    assert code == 0, err
    result = Result.model_validate_json(out)
    assert result.mode == "extractive"
    assert (
        "Quillon is a wind-up radio that plays for 45 minutes after one winding." in result.report
    )
    assert "No language model wrote or checked this report." in result.report
    assert "notes" in result.report.partition("## About this report")[2]
    assert str(offline.folder) not in result.report, "no path of the machine stands in a report"


#: Names of files that no tool writes and people have, with the wood that each tells of.
ODD_NAMES = {
    b"gr\xfc\xdfe.md": "larch",
    b"line\nbreak.md": "birch",
    b"50% off #1 ?x=1.md": "alder",
    b'it\'s "quoted" [x](y).md': "rowan",
    "\N{SHIP} \N{LATIN SMALL LETTER E WITH ACUTE}.md".encode(): "aspen",
    b"a" * 240 + b".md": "hazel",
    b" lead and trail .md": "willow",
    "e\N{COMBINING ACUTE ACCENT}.md".encode(): "cedar",
}


def test_files_of_any_name_are_found_and_cited(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for n, (name, wood) in enumerate(ODD_NAMES.items()):
        Path(os.fsdecode(os.fsencode(notes) + b"/" + name)).write_text(
            f"# Wood {n}\n\nThe {wood} plank of shed {n} weighs {40 + n} kilograms and was sawn in"
            " Torvik.\n"
        )
    (notes / "loop").symlink_to(notes)
    (notes / "dangling.md").symlink_to("/nowhere/x.md")
    os.mkfifo(notes / "pipe.md")
    shed = Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)
    code, out, err = shed.run("index", str(notes))
    assert (code, "8 documents" in out) == (0, True), err
    for n, wood in enumerate(ODD_NAMES.values()):
        assert f"{40 + n} kilograms" in shed.run("search", f"{wood} plank weighs")[1]
    question = "How heavy is the larch plank, and how heavy is the alder plank?"
    code, out, err = shed.run("ask", question, "--json")
    assert code == 0, err
    result = Result.model_validate_json(out)
    assert {"40 kilograms", "42 kilograms"} <= set(re.findall(r"\d+ kilograms", result.report))
    assert "library://notes/gr%FC%DFe.md" in [source.url for source in result.sources]
    assert result.session_id in shed.run("sessions")[1]
    code, _, err = shed.run("sessions", "export", result.session_id, "-o", "copy.html")
    assert code == 0, err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["ask", "  "], "question is empty"),
        (["ask", "What?", "--search", "gopher"], "gopher"),
        (["ask", "What?", "--library", "/no/such/folder"], "/no/such/folder"),
        (["ask", "What?", "--minutes", "-1"], "minutes"),
        (["ask", "What?", "--minutes", "soon"], "soon"),
        (["ask", "What?", "--preset", "lavish"], "lavish"),
        (["ask", "What?", "-o", "report.xyz"], "report.xyz"),
        (["ask", "What?", "-o", "no/such/folder/report.md"], "no/such/folder"),
        (["ask", "What?", "--attach", "no-such-file.md"], "no-such-file.md"),
        (["ask", "What?", "--model", "openai:gpt-5"], "OPENAI_API_KEY"),
        (["ask", "What?", "--home", "/proc/nowhere"], "/proc/nowhere"),
        (["ask", "What?", "--home", "~nobody-at-all/x"], "~nobody-at-all/x"),
        (["sessions", "--home", "~nobody-at-all/x"], "~nobody-at-all/x"),
        (["read", "htp://example.org"], "htp://example.org"),
        (["read", "no-such-page.html"], "no-such-page.html"),
        (["frobnicate", "--hard"], "--hard"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    offline: Terminal, arguments: list[str], named: str
) -> None:
    code, out, err = offline.run(*arguments)
    assert (code, out) == (2, "")
    assert named in err
    assert "Traceback" not in err
    assert len(err) <= 400


def test_a_session_that_does_not_exist_is_said_so(offline: Terminal) -> None:
    code, _, err = offline.run("resume", "nothing")
    assert code == 2
    assert "no session" in err


@pytest.mark.timed
def test_the_deadline_holds_from_the_start_of_the_process(terminal: Terminal, world: World) -> None:
    world.hang_everything = True
    began = time.monotonic()
    code, out, err = terminal.run("ask", QUESTION, "--minutes", "0.2", "--json")
    took = time.monotonic() - began
    assert took < 12 + 2
    assert code == 3, err
    assert json.loads(out)["status"] == "time_limited"


@pytest.mark.process
@pytest.mark.timed
def test_ctrl_c_once_stops_and_writes(terminal: Terminal, world: World) -> None:
    world.hanging = {"encyclopedia"}
    with terminal.start("ask", QUESTION, "--json") as process:
        _wait_until(lambda: bool(world.asked("encyclopedia")))
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert json.loads(out)["status"] == "partial"
    assert time.monotonic() - began < 10


@pytest.mark.process
@pytest.mark.full
def test_ctrl_c_twice_quits_and_the_session_can_be_resumed(
    terminal: Terminal, world: World
) -> None:
    world.hang_everything = True
    with terminal.start("ask", QUESTION) as process:
        _wait_until(lambda: len(world.requests) > 1)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    if process.returncode == 130:
        assert "spadework resume" in err
        world.hang_everything = False
        code, out, err = terminal.run("resume", err.split()[-1], "--json")
        assert code == 0, err
        assert json.loads(out)["citations"]


@pytest.mark.process
@pytest.mark.full
def test_a_run_that_is_ended_after_its_report_has_ended_well(terminal: Terminal) -> None:
    with terminal.start("ask", QUESTION) as process:
        assert process.stderr
        while not process.stderr.readline().startswith("completed: "):
            pass
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    assert process.returncode in (0, 130), err
    assert "To resume" not in err


@pytest.mark.process
def test_a_killed_run_resumes_and_pays_nothing_twice(
    terminal: Terminal, world: World, searx: Searx, model: Model
) -> None:
    world.hanging = {"news"}
    searx.script(
        "inhabitants",
        [
            world.url("encyclopedia", "/wiki/Port_Aldermere"),
            world.url("archive", "/population.csv"),
        ],
    )
    searx.script(
        "lighthouse", [world.url("encyclopedia", "/wiki/Port_Aldermere"), world.url("news", "/")]
    )
    with terminal.start("ask", QUESTION) as process:
        _wait_until(
            lambda: (
                bool(world.asked("news"))
                and any(
                    r.status == 200 for r in world.asked("encyclopedia", "/wiki/Port_Aldermere")
                )
            )
        )
        [folder] = (Path(terminal.env["SPADEWORK_HOME"]) / "sessions").iterdir()
        _wait_until(lambda: _in_the_journal(folder, "Port_Aldermere"))
        process.kill()
        process.communicate()
    before = (
        len(searx.queries),
        len(world.asked("encyclopedia", "/wiki/Port_Aldermere")),
        len(model.requests),
    )
    # Two queries of the plan and the lead's first look; the plan and the examination.
    assert before == (3, 1, 2)
    world.hanging = set()
    code, out, err = terminal.run("resume", folder.name, "--json")
    assert code == 0, err
    result = Result.model_validate_json(out)
    assert result.session_id == folder.name
    assert result.citations
    assert len(searx.queries) == 3
    assert len(world.asked("encyclopedia", "/wiki/Port_Aldermere")) == 1
    assert sum(r.schema_name == "PlanAnswer" for r in model.requests) == 1


@pytest.mark.process
def test_a_run_that_is_killed_while_an_answer_is_repaired_pays_the_first_one_once(
    terminal: Terminal, model: Model
) -> None:
    model.script("PlanAnswer", "No JSON at all.", Fault("hang"))
    with terminal.start("ask", QUESTION) as process:
        _wait_until(lambda: len(model.requests) == 2)
        process.kill()
        process.communicate()
    [folder] = (Path(terminal.env["SPADEWORK_HOME"]) / "sessions").iterdir()
    play(model, TOPICS)
    code, out, err = terminal.run("resume", folder.name, "--json")
    assert code == 0, err
    planning = [r for r in model.requests if r.schema_name == "PlanAnswer"]
    assert [len(r.messages) for r in planning] == [2, 4, 4], "only the repair is asked again"
    # The one that was killed was never answered, and is not charged.
    assert Result.model_validate_json(out).usage.model_calls == len(model.requests) - 1


def test_replay_prints_the_same_report_with_all_servers_silent(
    terminal: Terminal, world: World, searx: Searx, model: Model, tmp_path: Path
) -> None:
    code, report, err = terminal.run("ask", QUESTION)
    assert code == 0, err
    [folder] = (Path(terminal.env["SPADEWORK_HOME"]) / "sessions").iterdir()
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    asked = len(model.asked), len(world.requests), len(searx.requests)
    code, again, err = terminal.run("replay", folder.name)
    assert code == 0, err
    assert again == report
    assert "0 new" in err
    assert "the same, byte for byte" in err
    assert (len(model.asked), len(world.requests), len(searx.requests)) == asked
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    code, out, err = terminal.run("replay", folder.name, "--to", "again.md")
    assert (code, out) == (0, ""), err
    assert (tmp_path / "again.md").read_text().rstrip() == report.rstrip()


def test_replay_that_is_not_the_same_says_what_was_not_recorded_and_fails(
    terminal: Terminal, model: Model
) -> None:
    code, report, err = terminal.run("ask", QUESTION)
    assert code == 0, err
    [folder] = (Path(terminal.env["SPADEWORK_HOME"]) / "sessions").iterdir()
    with closing(sqlite3.connect(folder / "session.sqlite")) as db:
        db.execute("DELETE FROM exchanges WHERE kind = 'model'")
        db.commit()
    code, out, err = terminal.run("replay", folder.name)
    assert code == 1
    assert out.startswith(f"# {QUESTION}")
    assert out != report
    assert "Not recorded: lead: no request for PlanAnswer was recorded." in err
    assert "The report differs." in err
    model.requests.clear()
    code, out, err = terminal.run("replay", folder.name, "--model", "openai:other-model")
    assert code == 0, err
    assert out == report, "the other model says the same"
    assert {request.model for request in model.requests} == {"other-model"}
    assert f"{len(model.requests)} new" in err
    code, _, err = terminal.run("replay", "nobody")
    assert code == 2
    assert "There is no session" in err


@pytest.mark.process
@pytest.mark.full
def test_two_processes_cannot_work_on_one_session(terminal: Terminal, world: World) -> None:
    world.hang_everything = True
    with terminal.start("ask", QUESTION) as process:
        _wait_until(lambda: len(world.requests) > 1)
        [folder] = (Path(terminal.env["SPADEWORK_HOME"]) / "sessions").iterdir()
        code, _, err = terminal.run("resume", folder.name)
        process.kill()
        process.communicate()
    assert code == 1
    assert "Another process" in err


@pytest.mark.process
@pytest.mark.timed
@pytest.mark.parametrize("arguments", [["-c", "import spadework"], ["-m", "spadework", "--help"]])
def test_it_starts_fast(arguments: list[str]) -> None:
    took = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.5


def _in_the_journal(folder: Path, subject: str) -> bool:
    with closing(sqlite3.connect(f"file:{folder / 'session.sqlite'}?mode=ro", uri=True)) as db:
        return bool(
            db.execute(
                "select 1 from journal where kind = 'page' and instr(subject, ?)", (subject,)
            ).fetchone()
        )


def _wait_until(condition: object, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.02)

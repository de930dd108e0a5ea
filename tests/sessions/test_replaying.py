"""Replaying: a session once more from what it has heard, without network, to the same report."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import random
import shutil
import sqlite3
from contextlib import aclosing, closing
from datetime import datetime, tzinfo
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Self

import pytest
import zstandard

from spadework import prompts
from spadework.errors import SessionError, SessionUnreadable
from spadework.events import Asked, Finished, Read, Started
from spadework.sessions.one_call import research
from spadework.sessions.record import records
from spadework.sessions.record.records import delete_session
from spadework.sessions.replay import replay
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.extract.extracted import Extracted
from spadework.tools.fetch import page_reader
from spadework.tools.stores import exchanges
from tests.world.brain import evidence, play, section
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.verdicts import in_examination

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}
#: One a topic.
SECTIONS = len(TOPICS)


@pytest.fixture
def with_model(
    world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    return Settings.load()


@pytest.fixture
def on_the_web(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


def silence(world: World, searx: Searx, model: Model) -> None:
    """Nothing answers any more, and all that was asked is forgotten."""
    world.reset()
    searx.reset()
    model.reset()
    world.hang_everything = True


async def test_the_journal_holds_what_came_byte_for_byte_and_what_it_cost(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    page = (
        "<html><title>Census</title>\n<p>The census of Port Aldermere counted 48,212  inhabitants"
        " in 2024, as the town archive says in its yearly report to the council.</p><!-- kept -->"
    )
    searx.script("inhabitants", [world.put("blog", "/census", page)])
    model.script("SectionAnswer", 'Here you are: {"sentences": []', Fault("refusal"))
    result = await research(QUESTION, with_model)
    with closing(sqlite3.connect(Path(result.session_dir) / "session.sqlite")) as db:
        bodies, requests, rows = (
            db.execute(f"SELECT {what}").fetchall()
            for what in (
                "packed FROM bodies",
                "request FROM exchanges",
                "kind, used FROM exchanges",
            )
        )
    came = [zstandard.decompress(packed) for (packed,) in bodies]
    asked = [zstandard.decompress(packed) for (packed,) in requests]
    assert page.encode() in came
    assert b'Here you are: {"sentences": []' in came
    assert any(b'"unresponsive_engines"' in body for body in came)
    assert not any(b"sk-world" in data for data in [*came, *asked])
    calls = [json.loads(used) for kind, used in rows if kind == "model"]
    assert len(calls) == len(model.requests) == result.usage.model_calls
    assert all(used["model_calls"] == 1 and used["tokens_in"] > 0 for used in calls)
    assert sum(used["tokens_out"] for used in calls) == result.usage.tokens_out


async def test_a_session_with_a_model_is_replayed_to_the_same_report(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    result = await research(QUESTION, with_model)
    asked = len(model.requests)
    assert result.citations
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert done.same
    assert (done.new, done.missing) == (0, ())
    assert done.replayed > asked > 3
    assert not world.requests
    assert not searx.queries
    assert not model.asked


@pytest.mark.parametrize("effort", ["quick", "deep"])
async def test_a_session_in_each_effort_is_replayed_to_the_same_report(
    effort: str, with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    result = await research(QUESTION, with_model.with_(effort=effort))
    assert result.mode == "model"
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


@pytest.mark.full
async def test_what_a_run_knew_of_its_model_is_known_in_the_replay(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    """Its examination and its plan are those of an earlier run; its server tells its context."""
    await research(QUESTION, with_model)
    whole = assessed(model)
    model.tells = {"max_model_len": 2_600}
    model.requests.clear()
    result = await research(QUESTION, with_model)
    assert not any(in_examination(request) for request in model.requests)
    assert assessed(model) < whole, "it was cut before it was sent"
    assert result.mode == "model"
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.mode == "model"
    assert done.result.report == result.report
    assert not done.missing


def assessed(model: Model) -> int:
    """Tokens of the longest request to assess a topic."""
    return max(r.tokens_in for r in model.requests if r.schema_name == "AssessmentAnswer")


async def test_the_lead_is_told_the_day_of_the_session(
    with_model: Settings, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(2025, 1, 2, tzinfo=tz)

    with monkeypatch.context() as earlier:
        earlier.setattr(records, "datetime", Then)
        result = await research(QUESTION, with_model)
    assert any("2025-01-02" in request.prompt for request in model.requests)
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


@pytest.mark.full
async def test_a_follow_up_is_replayed_with_what_was_answered_before(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    first = await research(QUESTION, with_model)
    session = Session.start("And the lighthouse?", settings=with_model, follows=first.session_id)
    result = await session.result()
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


async def test_a_session_without_a_model_is_replayed_to_the_same_report(
    on_the_web: Settings, world: World, searx: Searx, model: Model
) -> None:
    result = await research("How many inhabitants has Port Aldermere?", on_the_web)
    assert result.citations
    silence(world, searx, model)
    done = await replay(on_the_web.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing
    assert not world.requests


async def test_a_session_with_a_library_is_replayed_when_its_files_are_gone(
    settings: Settings, notes: Path
) -> None:
    result = await research("How is the Quillon used?", settings)
    assert result.citations
    shutil.rmtree(notes)
    done = await replay(settings.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


async def test_a_session_in_which_much_went_wrong_is_replayed_to_the_same_report(
    with_model: Settings, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spadework.graph.nodes.read.PAGE_SECONDS", 2)
    model.script("AssessmentAnswer", "No JSON at all.", Fault("truncated"), Fault("refusal"))
    model.script("", Fault("reject_json_schema"))
    searx.fail("truncated", query="lighthouse")
    world.hanging = {"news"}
    settings = with_model.with_(model_seconds=5)
    result = await research(QUESTION, settings)
    assert {"assessor", "search"} <= {problem.stage for problem in result.problems}
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


@pytest.mark.full
async def test_a_model_that_hangs_has_hung_in_the_replay_too(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    model.script("SectionAnswer", Fault("hang"))
    result = await research(QUESTION, with_model.with_(model_seconds=1))
    assert any("in time" in problem.reason for problem in result.problems)
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


@pytest.mark.full
async def test_a_run_that_its_user_has_stopped_is_stopped_in_the_replay_too(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    world.hanging = {"news"}
    session = Session.start(QUESTION, settings=with_model)
    async for event in session.events():
        if isinstance(event, Read):
            session.stop()
        if isinstance(event, Finished):
            result = event.result
    assert result.stopped_by == "stop"
    assert any("was not read" in problem.effect for problem in result.problems)
    silence(world, searx, model)
    done = await replay(with_model.home, session.session_id)
    assert done.result.stopped_by == "stop"
    assert done.result.report == result.report


@pytest.mark.full
async def test_a_model_that_was_not_examined_in_time_does_not_judge_in_the_replay(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    model.script("VerdictsAnswer", Fault("hang"))
    session = Session.start(QUESTION, settings=with_model)
    async for event in session.events():
        if isinstance(event, Read):
            session.stop()
        if isinstance(event, Finished):
            result = event.result
    assert any(problem.stage == "qualification" for problem in result.problems)
    silence(world, searx, model)
    done = await replay(with_model.home, session.session_id)
    assert done.result.report == result.report
    assert not done.missing


@pytest.mark.full
async def test_in_whatever_order_answers_come_the_report_is_the_same(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    reports = set()
    for seed in range(3):
        chance = random.Random(seed)

        async def late(request: ChatRequest, chance: random.Random = chance) -> Fault:
            await asyncio.sleep(chance.uniform(0, 0.3))
            return Fault("reject_json_object")  # which passes the request on to the next rule

        model.script("", late)
        home = with_model.home.with_name(f"home-{seed}")
        result = await research(QUESTION, with_model.with_(home=home))
        reports.add(result.report)
    assert len(reports) == 1


def put_before(monkeypatch: pytest.MonkeyPatch, role: str, words: str) -> None:
    """Let the system message of a role begin with other words."""
    found = prompts.files

    class Changed:
        def __init__(self, path: Traversable) -> None:
            self._path = path

        def __truediv__(self, name: str) -> Changed:
            return Changed(self._path / name)

        def read_text(self, encoding: str) -> str:
            text = self._path.read_text(encoding=encoding)
            return f"{words} {text}" if self._path.name == f"{role}.md" else text

    monkeypatch.setattr(prompts, "files", lambda name: Changed(found(name)))
    # Templates are compiled once a process: those of this test, and those after it anew.
    monkeypatch.setattr(prompts, "_templates", lru_cache(prompts._templates.__wrapped__))


async def test_a_changed_prompt_is_named_with_its_role_and_what_differs(
    with_model: Settings, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await research(QUESTION, with_model)
    silence(world, searx, model)
    put_before(monkeypatch, "writer", "Be brief.")
    done = await replay(with_model.home, result.session_id)
    assert len(done.missing) == SECTIONS
    for missing in done.missing:
        assert (missing.kind, missing.who) == ("model", "writer")
        assert "the system message differs at “Be brief." in missing.why
    assert done.result.mode == "model"
    assert done.result.citations, "code has written in the model's place"
    assert "This step was done without the model" in done.result.report
    assert not model.asked


async def test_what_was_not_recorded_is_asked_anew_where_a_model_is_given(
    with_model: Settings, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await research(QUESTION, with_model)
    silence(world, searx, model)
    model.names = ("other-model",)
    model.script("SectionAnswer", lambda request: section(evidence(request)[:1]))
    put_before(monkeypatch, "writer", "Be brief.")
    done = await replay(
        with_model.home, result.session_id, with_model.with_(model="openai:other-model")
    )
    assert (done.new, len(done.missing)) == (SECTIONS, SECTIONS)
    assert {(r.model, r.schema_name) for r in model.requests} == {("other-model", "SectionAnswer")}
    assert not done.same
    assert len(done.result.citations) < len(result.citations)
    assert not world.requests


@pytest.mark.full
async def test_pages_are_read_again_by_the_reader_of_today(
    on_the_web: Settings, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "How many inhabitants has Port Aldermere?"
    result = await research(question, on_the_web)
    silence(world, searx, model)
    read = page_reader.read_apart

    async def shouting(body: bytes, **how: Any) -> Extracted:
        found = await read(body, **how)
        return dataclasses.replace(found, markdown=found.markdown.replace("people", "PEOPLE"))

    monkeypatch.setattr(page_reader, "read_apart", shouting)
    done = await replay(on_the_web.home, result.session_id)
    assert "people" in result.report
    assert done.result.report.replace("PEOPLE", "people") == result.report
    assert "PEOPLE" in done.result.report
    assert not done.missing


async def test_a_row_that_is_damaged_is_named(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    result = await research(QUESTION, with_model)
    silence(world, searx, model)
    with closing(sqlite3.connect(Path(result.session_dir) / "session.sqlite")) as db:
        (number,) = db.execute(
            "SELECT number FROM exchanges WHERE kind = 'page' LIMIT 1"
        ).fetchone()
        db.execute(
            "UPDATE bodies SET packed = substr(packed, 1, 20) WHERE hash = (SELECT"
            " json_extract(pieces, '$[0][1]') FROM exchanges WHERE number = ?)",
            (number,),
        )
        db.commit()
    done = await replay(with_model.home, result.session_id)
    assert f"row {number} of its recorded exchanges is damaged." in {m.why for m in done.missing}


async def test_pages_for_which_there_was_no_room_are_named(
    with_model: Settings, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "MOST_BYTES", 0)
    result = await research(QUESTION, with_model)
    assert result.citations
    done = await replay(with_model.home, result.session_id)
    lacking = [m for m in done.missing if m.kind == "page"]
    assert lacking
    assert all("the session had reached its size limit" in m.why for m in lacking)


async def test_a_session_whose_recording_is_lost_has_none(settings: Settings) -> None:
    result = await research("What is the Quillon?", settings)
    with closing(sqlite3.connect(Path(result.session_dir) / "session.sqlite")) as db:
        db.execute("DELETE FROM exchanges")
        db.commit()
    with pytest.raises(SessionError, match="has no recording"):
        await replay(settings.home, result.session_id)


async def test_a_session_whose_file_is_broken_cannot_be_replayed(settings: Settings) -> None:
    result = await research("What is the Quillon?", settings)
    await asyncio.to_thread((Path(result.session_dir) / "session.sqlite").write_bytes, b"x" * 5_000)
    with pytest.raises(SessionUnreadable, match=r"session\.sqlite"):
        await replay(settings.home, result.session_id)


async def test_a_session_that_is_not_finished_is_no_recording(settings: Settings) -> None:
    session = Session.start("What is the Quillon?", settings=settings)
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, Started):
                break
    with pytest.raises(SessionError, match="not finished"):
        await replay(settings.home, session.session_id)


@pytest.mark.full
async def test_what_was_asked_back_and_followed_up_is_replayed(settings: Settings) -> None:
    first = await research("What is the Quillon?", settings)
    session = Session.start(
        "What is Mercury?", settings=settings.with_(clarify=True), follows=first.session_id
    )
    async for event in session.events():
        if isinstance(event, Asked):
            session.answer("planet")
        if isinstance(event, Finished):
            result = event.result
    assert "Mercury (planet)" in result.report
    delete_session(settings.home, first.session_id)
    done = await replay(settings.home, session.session_id)
    assert done.same
    assert not done.missing


async def test_files_that_came_along_are_read_again_from_what_was_kept(
    settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "crank.md"
    file.write_text("# Crank\n\nThe crank of the Quillon is turned forty times before it plays.\n")
    missing = tmp_path / "gone.md"
    result = await research(
        "How often is the crank of the Quillon turned?", settings, attachments=[file, missing]
    )
    file.unlink()
    done = await replay(settings.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing

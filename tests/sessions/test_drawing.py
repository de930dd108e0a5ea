"""What is drawn from the record of a run: its work products, progress, measures and logs; also
anew, and of a run that was killed.
"""

from __future__ import annotations

import pkgutil
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from spadework.budget import Limits
from spadework.errors import SettingsError
from spadework.events import (
    Assessed,
    Called,
    Event,
    Read,
    Searched,
    Selected,
    Troubled,
    Wrote,
    read_event,
)
from spadework.sessions.brief import Brief
from spadework.sessions.metrics.session_index import LOG
from spadework.sessions.one_call import research
from spadework.sessions.record.course import Course
from spadework.sessions.record.log import log_lines, read_log
from spadework.sessions.record.records import Records, draft_of, redraw
from spadework.sessions.record.work_products import RESEARCH, SEARCHES, stamp_name
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_metadata, read_progress, read_result
from spadework.settings import Settings
from spadework.values import Problem, Usage
from tests.hostile.drawn import differing, drawn
from tests.sessions.killed import Killed, before
from tests.thinned import thinned
from tests.tools.export.results import full
from tests.world.model import Model
from tests.world.sites import World

ASKED = "What is known about Port Aldermere?"


def recorded(folder: Path) -> list[Event]:
    return [event for event in read_log(folder) if event is not None]


def files_of(folder: Path) -> dict[str, bytes]:
    """All that is drawn, by path."""
    kept = (LOG, ".lock", "session.sqlite")
    paths = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "pages")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in paths
        if not path.name.startswith(kept)
    }


async def test_everything_a_run_does_is_told_with_its_time_and_decided_with_its_reason(
    online: Settings,
) -> None:
    result = await research(ASKED, online)
    folder = Path(result.session_dir)
    events = recorded(folder)
    assert all(event.v == 1 and event.at and event.after is not None for event in events)
    assert all(one.at <= other.at for one, other in pairwise(events) if one.at and other.at)
    course = Course(events)
    leads = [lead for e in course.of(Searched) for lead in e.found]
    assert all(lead.parts.keys() == {"position", "title", "snippet"} for lead in leads)
    for made in course.of(Selected):
        assert {hit.url for hit in made.hits} <= {lead.url for lead in leads}
        assert all(hit.why and hit.found_by for hit in made.hits)
    for read in course.of(Read):
        assert read.seconds is not None
        assert read.reason or (read.level == 0 and read.status == 200 and read.bytes > 100)
    calls = course.of(Called)
    assert len(calls) == result.usage.model_calls
    assert sum(call.tokens_in for call in calls) == result.usage.tokens_in
    assert sum(call.tokens_out for call in calls) == result.usage.tokens_out
    assert {call.verdict for call in calls} == {"fits"}
    for scored in course.scores:
        known = {e.id for topic in result.topics for e in topic.evidence}
        assert scored.by == "model"
        assert set(scored.evidence) <= known
        assert scored.why


async def test_the_work_products_hold_what_was_found_and_what_it_has_proven(
    online: Settings, model: Model
) -> None:
    model.script("VerdictsAnswer", "No JSON.")
    result = await research(ASKED, online)
    folder = Path(result.session_dir)
    metadata = read_metadata(folder)
    searches = (folder / stamp_name(SEARCHES, metadata)).read_text()
    course = Course(recorded(folder))
    for lead in (lead for e in course.of(Searched) for lead in e.found):
        assert lead.url in searches
        assert f"relevance {lead.relevance:.3f}" in searches
    left = searches.partition("## Hits that were not read")[2].partition("## Pages")[0]
    read = {page.url for page in course.pages.values()}
    assert course.unread
    assert all(choice.url in left and choice.url not in read for choice in course.unread)
    researched = (folder / stamp_name(RESEARCH, metadata)).read_text()
    for page in course.pages.values():
        assert (folder / "pages" / f"{page.content_hash}.md").read_text() in researched
    for entry in (entry for topic in result.topics for entry in topic.evidence):
        assert f"- proves {entry.id} " in researched
    measured = metadata.performance_metrics
    assert measured["found"] > measured["selected"] >= measured["pages_read"] > 3
    assert measured["success_rate"] == pytest.approx(
        measured["pages_read"] / (measured["pages_read"] + measured["pages_failed"]), abs=0.001
    )
    assert measured["characters"] == sum(page.chars for page in course.pages.values())
    assert 0.3 < measured["mean_relevance"] <= 1
    assert measured["calls_misshapen"] == 2, "the answer, and its repair"
    for name in ("search_seconds", "crawl_seconds", "cleaning_seconds", "model_seconds"):
        assert measured[name] > 0
    phases = read_progress(folder).phases
    names = [phase.name for phase in phases]
    assert {"search", "read"} < set(names)
    assert names[-2:] == ["assess", "write"]
    assert all(one.after <= other.after for one, other in pairwise(phases))


async def test_all_is_drawn_again_to_the_same_bytes(settings: Settings) -> None:
    settings = settings.with_(log="debug")
    folder = Path((await research("How do I use the Quillon?", settings)).session_dir)
    before = files_of(folder)
    assert len(before) >= 10
    for name in before:
        if name != "session_metadata.json":
            (folder / name).unlink()
    drawn = redraw(folder, settings)
    assert files_of(folder) == before
    assert set(drawn) == before.keys()


#: The last steps of a run, and a call that begins each: what is called, and with which words.
LAST_STEPS = {
    "the ledger": ("write_atomically", "evidence.jsonl"),
    "the result": ("write_atomically", "result.json"),
    "the metadata": ("write_atomically", '"status": "completed"'),
    "the record": ("log_lines", '"type":"finished"'),
    "the logs": ("Logs.add", "Finished("),
    "the progress": ("write_atomically", '"state": "completed"'),
}


@pytest.mark.parametrize("step", thinned(LAST_STEPS, 2))
async def test_what_a_kill_has_left_undrawn_is_drawn_by_who_takes_the_run_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    called, words = LAST_STEPS[step]
    settings = settings.with_(log="debug")
    killed, path = Killed(settings), f"spadework.sessions.record.records.{called}"

    def begins(*args: Any) -> bool:
        return any(words in (a.decode() if isinstance(a, bytes) else str(a)) for a in args)

    monkeypatch.setattr(path, before(killed, pkgutil.resolve_name(path), begins))
    result = await research("How do I use the Quillon?", settings)
    assert killed.done
    again, session = await killed.resumed()
    assert again.report == result.report
    assert not differing(drawn(settings.home), drawn(session.settings.home))
    assert read_metadata(session.folder).status == result.status


async def test_an_answer_is_read_before_its_run_has_ended(settings: Settings) -> None:
    session = Session.start("How do I use the Quillon?", settings=settings)
    assert draft_of(session.folder) == ""
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, Wrote):
                break
    assert "forty times" in draft_of(session.folder)
    assert read_result(session.folder) is None
    redraw(session.folder, settings)
    assert "Turn the crank" in next(session.folder.glob("intelligent_*.md")).read_text()


async def test_what_is_told_after_the_report_leaves_the_session_finished(tmp_path: Path) -> None:
    records = await Records.begin(tmp_path, Brief("question"), Settings.load(), Limits())
    await records.finish(full())
    late = Problem(stage="embeddings", subject="m", reason="It did not answer.")
    for event in (
        Troubled(problem=late),
        Assessed(round=1, evidence=0, coverage=(), usage=Usage()),
    ):
        await records.saw(records.record.tell(event))
    assert read_progress(tmp_path).state == full().status
    assert read_metadata(tmp_path).status == full().status


async def test_a_record_cut_at_any_byte_is_read_up_to_there_and_goes_on(
    settings: Settings, tmp_path: Path
) -> None:
    folder = Path((await research("How do I use the Quillon?", settings)).session_dir)
    data = (folder / LOG).read_bytes()
    whole = recorded(folder)
    cut = tmp_path / "cut"
    cut.mkdir()
    line = data.splitlines(keepends=True)[3]
    for at in [*range(0, len(data), 997), *range(data.index(line), data.index(line) + len(line))]:
        (cut / LOG).write_bytes(data[:at])
        n = data[:at].count(b"\n")
        assert recorded(cut)[:n] == whole[:n]
        log_lines(cut, line)
        assert recorded(cut)[-1] == whole[3]
        assert Course(recorded(cut)).events[:n] == Course(whole[:n]).events[:n]


async def test_no_key_and_no_text_of_a_page_is_logged_at_level_info(
    online: Settings, world: World
) -> None:
    settings = online.with_(log="info")
    result = await research(ASKED, settings)
    folder = Path(result.session_dir)
    logged = "".join(path.read_text() for path in (folder / "logs").iterdir())
    lines = [line.split(maxsplit=4) for line in logged.splitlines()]
    assert {concern for _, _, concern, *_ in lines} == {
        "search",
        "crawl",
        "clean",
        "model",
        "orchestrator",
    }
    key = settings.openai_api_key
    assert key
    assert key.get_secret_value() not in logged
    for page in (folder / "pages").iterdir():
        words = page.read_text().split()
        for n in range(len(words) - 3):
            assert " ".join(words[n : n + 4]) not in logged
    assert ASKED not in logged
    assert not any("http" in line for line in logged.splitlines())
    assert {level for _, level, *_ in lines} <= {"INFO", "WARNING"}


async def test_each_concern_is_logged_from_its_own_level_on(settings: Settings) -> None:
    settings = settings.with_(log="search=debug,crawl=error,orchestrator=info")
    folder = Path((await research("How do I use the Quillon?", settings)).session_dir)
    assert {path.name for path in (folder / "logs").iterdir()} == {"search.log", "orchestrator.log"}
    assert 'query="How do I use the Quillon?"' in (folder / "logs" / "search.log").read_text()
    assert "Quillon" not in (folder / "logs" / "orchestrator.log").read_text()


@pytest.mark.parametrize("log", ["loud", "pages=debug", "search=", "debug,search=quiet"])
def test_what_is_no_level_is_said_in_one_sentence(log: str) -> None:
    with pytest.raises(SettingsError, match=r"^log must be a level "):
        Settings.load(log=log)


def test_lines_of_the_record_are_read_as_they_stand() -> None:
    line = b'{"type":"searched","topic":"A","query":"a","provider":"p","hits":3}'
    event = read_event(line)
    assert isinstance(event, Searched)
    assert (event.v, event.at, event.round, event.found) == (0, None, 0, ())

"""A follow-up that a session's evidence answers is answered from it, and nothing is searched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spadework.events import Event, Finished, Notice, Searched
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.sessions.followed import ASKED, ask, of
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

NOTES = """# Quillon

Quillon is a wind-up radio that plays for 45 minutes after one winding. It was designed by Ada
Kestrel in Port Aldermere in 1931. The case of the Quillon is made of bakelite.
"""
TOLD = "Answering from the evidence of the previous session, without searching."


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(NOTES)
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


async def _told(question: str, settings: Settings, follows: str) -> tuple[Result, list[Event]]:
    session = Session.start(question, settings=settings, follows=follows)
    events = [event async for event in session.events()]
    assert isinstance(events[-1], Finished)
    return events[-1].result, events


async def test_it_is_answered_with_the_quote_that_says_it(settings: Settings) -> None:
    first = await ask("What is the Quillon, and what is its case made of?", settings)
    (settings.library[0] / "quillon.md").unlink()
    second, events = await _told("What is its case made of?", settings, first.session_id)
    assert not [event for event in events if isinstance(event, Searched)]
    assert TOLD in [event.text for event in events if isinstance(event, Notice)]
    [sentence] = second.document.sections[0].sentences
    assert sentence.text == "The case of the Quillon is made of bakelite."
    assert (second.stopped_by, second.status, second.revises) == ("known", "completed", "")
    assert [source.url for source in second.sources if not source.unused] == [
        "library://notes/quillon.md"
    ]
    assert {citation.verdict for citation in second.citations} == {"supported"}
    assert "no new search was made" in second.report
    assert "Searched:" not in second.report
    third, _ = await _told("Of what is the case made?", settings, second.session_id)
    assert "bakelite" in third.report
    assert third.stopped_by == "known", "what was proven first is known further on"


@pytest.mark.parametrize(
    "asked", ["How much does it weigh?", "Who designed it, and what does it cost?", "search again"]
)
async def test_what_it_does_not_hold_is_researched(settings: Settings, asked: str) -> None:
    first = await ask("What is the Quillon?", settings)
    second, events = await _told(asked, settings, first.session_id)
    assert second.stopped_by != "known"
    assert [event for event in events if isinstance(event, Searched)]


async def test_a_model_names_the_entries_and_writes_from_them_alone(
    model: Model, searx: Searx, world: World, online: Settings
) -> None:
    first = await ask(ASKED, online)
    entry = first.topics[0].evidence[0]
    alone = {"question": "How many people live in Port Aldermere?", "heading": "Its inhabitants"}
    model.script("TurnAnswer", _known(f"[{entry.id}]") | alone)
    searched, fetched = len(searx.queries), len(world.requests)
    model.requests.clear()
    second = await ask("How many people live there?", online, first.session_id)
    assert (len(searx.queries), len(world.requests)) == (searched, fetched)
    [turn], [wrote] = of(model, "TurnAnswer"), of(model, "SectionAnswer")
    assert entry.quote in turn.user
    assert (f"[{entry.id}]" in wrote.user, wrote.user.count("<page_text>")) == (True, 1)
    assert {e.id for topic in second.topics for e in topic.evidence} == {entry.id}
    assert (second.stopped_by, second.mode) == ("known", "model")
    assert second.report.startswith(f"# {second.question}\n")
    assert ([topic.name for topic in second.topics], alone["question"] in wrote.user) == (
        ["Its inhabitants"],
        True,
    )


async def test_a_model_that_names_no_entry_that_there_is_has_it_researched(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    model.script("TurnAnswer", _known("E999"))
    model.requests.clear()
    second = await ask("How many people live there?", online, first.session_id)
    assert second.stopped_by != "known"
    assert of(model, "PlanAnswer")


def _known(*ids: str) -> dict[str, Any]:
    return {"kind": "known", "language": "", "evidence": list(ids)}

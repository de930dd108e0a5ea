"""A follow-up that is cut off at its deadline keeps the report it follows, and what was found."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.runtime import Runtime

from spadework.events import Notice
from spadework.graph import research
from spadework.graph.context import context_of, emitter
from spadework.graph.state import ResearchState
from spadework.settings import Settings
from tests.sessions.followed import (
    ASKED,
    ask,
    body,
    changing,
    of,
    tell_of_a_ferry,
    text_of,
    verdicts,
)
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


async def at_the_deadline(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """A node in which the deadline strikes."""
    context = await context_of(state["session_id"], runtime.context)
    context.budget.started -= 10_000
    emitter(context, runtime)(Notice(text="The time is over."))
    await asyncio.Event().wait()
    raise AssertionError("the run is cut off")


def cut_off_at_verify(patched: pytest.MonkeyPatch) -> None:
    """Runs whose deadline strikes while their report is verified."""
    patched.setattr(at_the_deadline, "__name__", "verify")
    patched.setattr(research, "verify", at_the_deadline)
    patched.setattr(research, "graph", research._builder().compile(name="research"))


async def test_what_was_found_by_then_stands_beside_the_report(
    model: Model, searx: Searx, world: World, online: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await ask(ASKED, online)
    tell_of_a_ferry(model, searx, world)
    with monkeypatch.context() as patched:
        cut_off_at_verify(patched)
        second = await ask("Add what the ferry costs.", online, first.session_id)
    assert second.status == "time_limited"
    assert body(second)[:-1] == body(first)
    for section in body(first):
        assert verdicts(second, section) == verdicts(first, section) != []
    assert "four crowns" in text_of(second, body(second)[-1])
    assert second.question == ASKED
    assert [topic.name for topic in second.topics][: len(first.topics)] == [
        topic.name for topic in first.topics
    ]
    model.script("RevisionAnswer", changing(len(body(second)), heading="In short"))
    third = await ask("shorter", online, second.session_id)
    assert body(third)[:-1] == body(first), "the next follow-up revises all of it"


async def test_another_form_is_given_up_and_can_be_asked_for_again(
    model: Model, online: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await ask(ASKED, online)
    model.script("RevisionAnswer", changing(2))
    with monkeypatch.context() as patched:
        cut_off_at_verify(patched)
        second = await ask("in German", online, first.session_id)
    assert (second.status, body(second)) == ("time_limited", body(first))
    assert second.citations == first.citations
    searched = len(of(model, "PlanAnswer"))
    third = await ask("shorter", online, second.session_id)
    assert [section.heading for section in body(third)][1] == "Inhabitants in short"
    assert (third.revises, third.question) == (second.session_id, ASKED)
    assert len(of(model, "PlanAnswer")) == searched
    assert "Write in en," in of(model, "RevisionAnswer")[-1].prompt


@pytest.mark.full
async def test_without_a_report_its_question_is_researched_for_one_of_that_form(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    with sqlite3.connect(Path(first.session_dir) / "session.sqlite") as db:
        db.execute("DELETE FROM journal WHERE kind = 'report'")
    model.requests.clear()
    second = await ask("shorter", online, first.session_id)
    assert (second.question, second.revises) == (ASKED, "")
    [plan] = of(model, "PlanAnswer")
    assert f"Question: {ASKED}" in plan.user
    assert "shorter" in plan.user, "the form is a wish"
    assert "no report to revise" in second.report

"""In deep effort an editor reads what was added; another form of a report is only that."""

from __future__ import annotations

from typing import Any

import pytest

from spadework.settings import Settings
from tests.sessions.followed import ASKED, ask, body, changing, of, tell_of_a_ferry
from tests.world.brain import evidence, written
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


@pytest.fixture
def deep(model: Model, online: Settings) -> Settings:
    model.script("ReflectionAnswer", {"enough": True, "missing": "", "query": ""})
    return online.with_(effort="deep")


def finds(section: str, said: str, query: str = "") -> dict[str, Any]:
    point = {"section": section, "weakness": said, "query": query, "topic": ""}
    return {"verdict": "Half of it.", "strengths": [], "weaknesses": [point]}


@pytest.mark.full
async def test_another_form_searches_nothing_whatever_the_effort(
    model: Model, searx: Searx, online: Settings, deep: Settings
) -> None:
    first = await ask(ASKED, online)
    searched = len(searx.queries)
    model.script("RevisionAnswer", changing(2))
    model.script("OpinionAnswer", finds("Lighthouse", "No ferry.", "Aldermere ferry costs"))
    second = await ask("shorter", deep, first.session_id)
    assert len(searx.queries) == searched
    assert not of(model, "OpinionAnswer")
    assert "No new search was made." in second.report


@pytest.mark.full
async def test_what_the_editor_has_written_anew_and_does_not_hold_stays_as_it_was(
    model: Model, searx: Searx, world: World, online: Settings, deep: Settings
) -> None:
    def prose(request: ChatRequest) -> dict[str, Any]:
        told = [(quote.replace(".", ", as is told."), [id_]) for id_, quote in evidence(request)]
        return written(*told[:2])

    model.script("SectionAnswer", prose)
    first = await ask(ASKED, online)
    tell_of_a_ferry(model, searx, world)
    model.script("OpinionAnswer", finds("Lighthouse", "It is dull."))
    model.script(
        "RewrittenAnswer", lambda r: written(("It has 99,999 towers.", [evidence(r)[0][0]]))
    )
    second = await ask("Add what the ferry costs.", deep, first.session_id)
    assert of(model, "RewrittenAnswer")
    assert body(second)[:-1] == body(first)
    assert "The new text was unsupported or unchanged" in second.opinion
    assert {c.sentence for c in first.citations} <= {c.sentence for c in second.citations}

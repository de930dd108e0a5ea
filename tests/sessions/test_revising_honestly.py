"""What a revised report says of itself: who wrote it, what is open, what changed, what is gone."""

from __future__ import annotations

from typing import Any

import pytest

from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from tests.sessions.followed import ASKED, ask, body, changing, of, shown, tell_of_a_ferry
from tests.world.brain import assessment
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.naming import passages
from tests.world.searx import Searx
from tests.world.sites import World

NEAREST = "Closest passages"


async def test_what_was_open_stays_open_beside_what_is_added(settings: Settings) -> None:
    first = await ask("Which radios of the Russian army need batteries?", settings)
    assert f"## {NEAREST}" in first.report
    assert any(topic.evidence for topic in first.topics)
    assert [topic.state for topic in first.topics] == ["open"] * len(first.topics)
    assert first.state == "open"
    [listed] = list_sessions(settings.home)
    assert listed.found == "open"
    second = await ask(
        "Add: How long does the Quillon play after one winding?", settings, first.session_id
    )
    third = await ask("shorter", settings, second.session_id)
    for report in (second.report, third.report):
        assert "45 minutes" in report
        assert f"## {NEAREST}: " in report
        assert report.index("## Not found") < report.index(f"## {NEAREST}")
    assert "did not fully answer were not searched again" in second.report


async def test_what_kept_topics_lack_is_still_said(
    model: Model, searx: Searx, world: World, online: Settings
) -> None:
    def poor(request: ChatRequest) -> dict[str, Any]:
        told = [line for block in passages(request) for line in block.split("\n") if "." in line]
        made = assessment([told[0].split(". ")[0].rstrip(".") + "."] if told else [])
        return {**made, "quality": dict.fromkeys(made["quality"], 2)}

    model.script("AssessmentAnswer", poor)
    first = await ask(ASKED, online.with_(iterations=1))
    lacking = [s for s in first.shortfalls if s.topic]
    assert lacking
    tell_of_a_ferry(model, searx, world)
    second = await ask("Add what the ferry costs.", online, first.session_id)
    assert [s for s in second.shortfalls if s in lacking] == lacking


@pytest.mark.full
async def test_a_report_of_code_that_no_model_could_change_is_not_called_written_by_one(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online.with_(calls=1, tokens=10))
    assert first.mode == "extractive"
    model.script("RevisionAnswer", Fault("error"))
    second = await ask("in German", online, first.session_id)
    assert body(second) == body(first)
    assert second.mode == "extractive"
    assert "Written by" not in second.report
    model.script("RevisionAnswer", changing(1, heading="In short"))
    third = await ask("for a manager", online, second.session_id)
    assert third.mode == "model"
    assert "Written by" in third.report


@pytest.mark.parametrize("how", ["the model fails", "nothing of it holds"])
async def test_the_language_stays_where_nothing_is_told_in_another(
    model: Model, online: Settings, how: str
) -> None:
    first = await ask(ASKED, online)
    id_ = first.topics[0].evidence[0].id
    wrong = changing(2, f"Es hat 77 Windmühlen. [{id_}]", "Lighthouse")
    model.script("RevisionAnswer", Fault("error") if how == "the model fails" else wrong)
    second = await ask("in German", online, first.session_id)
    assert body(second) == body(first)
    model.script("RevisionAnswer", changing(2))
    model.requests.clear()
    await ask("shorter", online, second.session_id)
    assert "Write in en," in of(model, "RevisionAnswer")[0].prompt


async def test_a_section_that_takes_the_heading_of_another_takes_nothing_of_it(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    id_ = first.topics[0].evidence[0].id
    [one, other] = [section.heading for section in body(first)][:2]
    model.script("RevisionAnswer", changing(1, f"It has 77 windmills. [{id_}]", other))
    second = await ask("Tell it like a tale.", online, first.session_id)
    assert body(second) == body(first)
    model.script("RevisionAnswer", changing(1, heading=other))
    third = await ask("Tell it like a tale.", online, first.session_id)
    assert [section.heading for section in body(third)][:2] == [one, other]
    assert body(third)[1:] == body(first)[1:]


async def test_what_is_answered_beside_a_section_under_its_heading_goes_on_from_it(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    at = len(body(first))
    heading, id_ = body(first)[-1].heading, first.topics[0].evidence[0].id

    def new(request: ChatRequest) -> dict[str, Any]:
        told = f"It has 77 windmills. [{id_}]"
        return {"title": "", "sections": [{"number": 0, "heading": heading, "markdown": told}]}

    model.script("RevisionAnswer", new)
    second = await ask("Tell it like a tale.", online, first.session_id)
    assert len(body(second)) == at
    assert body(second)[:-1] == body(first)[:-1]
    assert body(second)[-1].sentences == body(first)[-1].sentences


async def test_a_section_goes_only_where_that_is_said_and_the_report_says_so(
    model: Model, searx: Searx, world: World, online: Settings
) -> None:
    first = await ask(ASKED, online)
    gone = body(first)[0].heading

    def nothing(request: ChatRequest) -> dict[str, Any]:
        empty = [
            {"number": n, "heading": heading, "markdown": ""}
            for n, (heading, _) in enumerate(shown(request), 1)
        ]
        return {"title": "", "sections": empty[:-1]}

    model.script("RevisionAnswer", nothing)
    second = await ask("Tell it like a tale.", online, first.session_id)
    assert body(second) == body(first), "an empty section is one that does not change"
    model.script("RevisionAnswer", {"title": "", "sections": [], "left_out": [1, 99]})
    third = await ask("Leave out the first part.", online, first.session_id)
    assert body(third) == body(first)[1:]
    assert f"Left out: “{gone}”. The other sections are unchanged." in third.report
    tell_of_a_ferry(model, searx, world)
    model.script("RevisionAnswer", {"title": "", "sections": [], "left_out": [1]})
    fourth = await ask("Add what the ferry costs.", online, first.session_id)
    assert body(fourth)[: len(body(first))] == body(first), "whoever adds takes nothing away"

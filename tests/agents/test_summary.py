"""The summary: the outline's answer, which was checked with the sections, if all of it holds;
otherwise one that is written last, from what holds.
"""

from __future__ import annotations

from typing import Any

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import outline, play, written
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.verdicts import told, verdicts as verdicts_of

LAMP = "The old lamp of the lighthouse was replaced by an electric one after the great storm."
TOLD = [f"The {word} lamp was replaced." for word in ("old", "dim", "weak", "dark", "worn")]
FIRST = "An electric lamp replaced the old one."
LIE = "Zorblatt stole the lamp."


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A report of five sentences, whose outline gives the answer first."""
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    more = "Much else is told of the town by those who live there, and little is written down."
    text = f"<title>The lamp</title><main><h1>The lamp</h1><p>{LAMP}</p><p>{more}</p></main>"
    searx.script("", [world.put("blog", "/lamp", text)])
    topics = {"Lamp": "lighthouse lamp", "Town": "who lives in the town"}
    play(model, topics, keywords={"Lamp": "lamp", "Town": "town"})
    model.script("SectionAnswer", written(*((text, ["E1"]) for text in TOLD)))
    judging(model)
    return Settings.load(iterations=1)


def judging(model: Model, *false: str) -> None:
    """All sentences hold but these."""

    def answer(request: ChatRequest) -> dict[str, Any]:
        said = verdicts_of(request, "supported")
        for n, sentence in told(request):
            if any(text in sentence for text in false):
                said["verdicts"][n - 1] |= {"verdict": "unsupported", "missing": "all of it"}
        return said

    model.script("VerdictsAnswer", answer)
    model.script("MendingAnswer", {"sentences": []})


def answering(model: Model, first: str, summary: str | Fault) -> None:
    """What the outline answers first, and what the summary says."""
    model.script("OutlineAnswer", lambda request: outline(request) | {"answer": first})
    model.script("SummaryAnswer", {"markdown": summary} if isinstance(summary, str) else summary)


async def summary_of(settings: Settings) -> tuple[str, Result]:
    result = await research("What is known about the lamp of the lighthouse?", settings)
    before, _, rest = result.report.partition("## Summary\n")
    assert "##" not in before
    return rest.partition("\n##")[0].strip(), result


async def test_a_first_answer_that_holds_is_the_summary_and_no_other_is_asked_for(
    model: Model, settings: Settings
) -> None:
    answering(model, f"{FIRST} [E1]", "The lamp is electric now. [E1]")
    said, _ = await summary_of(settings)
    assert said == f"{FIRST} [1]"
    assert not [r for r in model.requests if r.schema_name == "SummaryAnswer"]


async def test_where_a_sentence_of_the_first_answer_is_false_a_summary_is_written_in_its_place(
    model: Model, settings: Settings
) -> None:
    answering(model, f"{FIRST} [E1] {LIE} [E1]", "The lamp is electric now. [E1]")
    judging(model, LIE)
    said, result = await summary_of(settings)
    assert said == "The lamp is electric now. [1]"
    assert FIRST not in result.report


async def test_the_first_answer_stands_where_the_summary_does_not_begin_with_what_holds(
    model: Model, settings: Settings
) -> None:
    wrong = "Two lamps replaced it."
    answering(model, f"{FIRST} [E1] {wrong} [E1]", f"{LIE} [E1] The lamp is electric now. [E1]")
    judging(model, LIE, wrong)
    said, result = await summary_of(settings)
    assert said == f"{FIRST} [1]"
    assert not [p for p in result.problems if LIE in p.reason]


async def test_what_is_left_of_the_summary_stands_where_the_first_answer_was_false(
    model: Model, settings: Settings
) -> None:
    answering(model, f"{LIE} [E1]", f"{LIE} [E1] The lamp is electric now. [E1]")
    judging(model, LIE)
    said, result = await summary_of(settings)
    assert said == "The lamp is electric now. [1]"
    assert [p for p in result.problems if LIE in p.reason]


async def test_who_writes_the_summary_is_told_what_was_found_of_the_first_answer(
    model: Model, settings: Settings
) -> None:
    answering(model, f"{LIE} [E1] {FIRST} [E1]", "The lamp is electric now. [E1]")
    judging(model, LIE)
    await summary_of(settings)
    [asked] = [r for r in model.requests if r.schema_name == "SummaryAnswer"]
    told_of = asked.user.partition("A first answer")[2]
    assert f"- {LIE} [E1]\n  Did not hold: unsupported." in told_of
    assert f"- {FIRST} [E1]\n" in told_of
    assert told_of.count("Did not hold") == 1


async def test_a_line_that_cites_and_leads_to_others_is_told_to_who_writes_the_summary(
    model: Model, settings: Settings
) -> None:
    leading = "The lamp was replaced after the great storm:"
    model.script("SectionAnswer", written(*((text, ["E1"]) for text in (leading, *TOLD))))
    answering(model, "", "The lamp is electric now. [E1]")
    await summary_of(settings)
    [asked] = [r for r in model.requests if r.schema_name == "SummaryAnswer"]
    assert leading in asked.user


@pytest.mark.parametrize("first", ["", "Nothing is marked here."])
async def test_an_answer_without_a_mark_is_none(
    model: Model, settings: Settings, first: str
) -> None:
    answering(model, first, "The lamp is electric now. [E1]")
    said, _ = await summary_of(settings)
    assert said == "The lamp is electric now. [1]"
    [asked] = [r for r in model.requests if r.schema_name == "SummaryAnswer"]
    assert "A first answer" not in asked.user


async def test_the_first_answer_stands_where_no_summary_comes(
    model: Model, settings: Settings
) -> None:
    answering(model, f"{FIRST} [E1] {LIE} [E1]", Fault("refusal"))
    judging(model, LIE)
    said, _ = await summary_of(settings)
    assert said == f"{FIRST} [1]"


async def test_a_report_of_few_sentences_has_no_summary(model: Model, settings: Settings) -> None:
    model.script("SectionAnswer", written((TOLD[0], ["E1"])))
    answering(model, f"{FIRST} [E1]", "The lamp is electric now. [E1]")
    result = await research("What is known about the lamp of the lighthouse?", settings)
    assert "## Summary" not in result.report
    assert FIRST not in result.report

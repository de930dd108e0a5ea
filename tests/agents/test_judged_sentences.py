"""What becomes of a sentence that is not the words of its quote: it is judged by the model, mended
once by its writer, or taken out. No quote stands in for it.
"""

from __future__ import annotations

import pytest

from spadework.sessions.research import research
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import evidence, play, written
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.verdicts import in_examination, told
from tests.world.verdicts import verdicts as verdicts_of

LAMP = "The old lamp of the lighthouse was replaced by an electric one after the great storm."
FREE = "After the great storm the lighthouse got a modern electric light."
WRONG = "After the great storm of 1999 the lighthouse got an electric lamp."


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """One page with one fact, of which the writer says what is true in other words, and what is
    not.
    """
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    more = (
        "<p>Much else is told of the town by those who live there, and little of it has ever been"
        " written down by anybody.</p>"
    )
    searx.script(
        "",
        [
            world.put(
                "blog",
                "/lamp",
                f"<title>The lamp</title><main><h1>The lamp</h1><p>{LAMP}</p>{more}</main>",
            )
        ],
    )
    play(model, {"Lamp": "lighthouse lamp"}, keywords={"Lamp": "lamp"})

    def write(request: ChatRequest) -> dict[str, object]:
        ids = [id_ for id_, _ in evidence(request)]
        return written(*((text, ids) for text in (FREE, WRONG)))

    model.script("SectionAnswer", write)
    return Settings.load(iterations=1)


async def verdicts(settings: Settings) -> tuple[Result, dict[str, str]]:
    result = await research("What is known about the lamp of the lighthouse?", settings)
    return result, {c.sentence: c.verdict for c in result.citations}


def judging(model: Model, **found: str) -> None:
    """The verdicts of the verifier on sentences with a word in them; all others hold."""

    def answer(request: ChatRequest) -> dict[str, object]:
        said = verdicts_of(request, "supported")
        for n, sentence in told(request):
            for word, verdict in found.items():
                if word in sentence:
                    said["verdicts"][n - 1] |= {"verdict": verdict, "missing": f"not {word}"}
        return said

    model.script("VerdictsAnswer", answer)


def asked_of(model: Model, schema: str) -> list[ChatRequest]:
    return [r for r in model.requests if r.schema_name == schema and not in_examination(r)]


def mending(model: Model, *texts: tuple[int, str]) -> None:
    model.script(
        "MendingAnswer",
        lambda request: {
            "sentences": [
                {"number": n, "text": f"{text} [E1]" if text else ""} for n, text in texts
            ]
        },
    )


async def test_what_the_model_finds_supported_stays_and_what_code_refused_is_not_shown_to_it(
    model: Model, settings: Settings
) -> None:
    mending(model, (2, ""))
    result, found = await verdicts(settings)
    assert found == {FREE: "supported"}
    [asked] = asked_of(model, "VerdictsAnswer")
    assert FREE in asked.prompt
    assert LAMP in asked.prompt
    assert WRONG not in asked.prompt
    assert "1999" not in result.report


async def test_what_did_not_hold_goes_back_to_its_writer_with_the_reason(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="contradicted")
    better = "An electric lamp took the place of the old one."
    mending(model, (1, better), (2, ""))
    _, found = await verdicts(settings)
    assert found == {better: "supported"}
    [asked] = asked_of(model, "MendingAnswer")
    assert FREE in asked.prompt
    assert "contradicted. not modern" in asked.prompt
    assert "1999: in no page" in asked.prompt


async def test_what_does_not_hold_after_it_was_mended_is_taken_out_and_named(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="partly")
    mending(model, (1, FREE + " It is modern."), (2, "The storm left the tower dark for a night."))
    result, found = await verdicts(settings)
    assert found == {"The storm left the tower dark for a night.": "supported"}
    assert any("modern" in p.reason and p.effect == "It was taken out." for p in result.problems)


async def test_a_sentence_that_held_stays_when_its_new_words_do_not(
    model: Model, settings: Settings
) -> None:
    judging(model, fancy="unsupported")
    mending(model, (1, "After the great storm the lighthouse got a fancy light."), (2, ""))
    _, found = await verdicts(settings)
    assert found == {FREE: "supported"}


async def test_what_would_hang_in_the_air_is_put_right_or_goes_too(
    model: Model, settings: Settings
) -> None:
    def write(request: ChatRequest) -> dict[str, object]:
        texts = (
            FREE,
            WRONG,
            "However, the old lamp was kept.",
            WRONG,
            "It burns brightly every night.",
        )
        return written(*((text, ["E1"]) for text in texts))

    model.script("SectionAnswer", write)
    model.script("MendingAnswer", Fault("refusal"))
    _, found = await verdicts(settings)
    assert found == {FREE: "supported", "The old lamp was kept.": "supported"}


async def test_of_a_section_in_which_nothing_holds_the_quotes_are_shown(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="unsupported")
    mending(model, (1, ""), (2, ""))
    _, found = await verdicts(settings)
    assert found == {LAMP: "supported"}


async def test_what_the_model_cannot_check_stays_and_says_so(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="could not check")
    mending(model, (2, ""))
    _, found = await verdicts(settings)
    assert found == {FREE: "could not check"}


async def test_a_judge_that_fails_supports_nothing(model: Model, settings: Settings) -> None:
    def answer(request: ChatRequest) -> dict[str, object] | Fault:
        return verdicts_of(request) if in_examination(request) else Fault("refusal")

    model.script("VerdictsAnswer", answer)
    mending(model, (2, ""))
    result, found = await verdicts(settings)
    assert found == {FREE: "could not check"}
    assert any(
        p.subject == "verifier" and "could not be checked" in p.effect for p in result.problems
    )


async def test_what_looks_odd_to_code_must_hold_twice(model: Model, settings: Settings) -> None:
    odd = "The lamp of the lighthouse was never replaced after the great storm by an electric one."
    model.script("SectionAnswer", written((odd, ["E1"])))

    def answer(request: ChatRequest) -> dict[str, object]:
        noted = "found something odd" in request.prompt
        return verdicts_of(request, "contradicted" if noted else "supported")

    model.script("VerdictsAnswer", answer)
    mending(model, (1, ""))
    _, found = await verdicts(settings)
    assert found == {LAMP: "supported"}
    assert len(asked_of(model, "VerdictsAnswer")) == 2


async def test_a_table_is_judged_cell_by_cell_with_row_and_column(
    model: Model, settings: Settings
) -> None:
    rows = (
        "| The old lamp | gave way to an electric one [E1] |\n| A third lamp | burns in 1999 [E1] |"
    )
    model.script("SectionAnswer", {"markdown": f"| Lamp | What became of it |\n|---|---|\n{rows}"})
    model.script("MendingAnswer", Fault("refusal"))
    result, found = await verdicts(settings)
    assert found == {"gave way to an electric one": "supported"}
    [asked] = asked_of(model, "VerdictsAnswer")
    assert "The old lamp · What became of it: gave way to an electric one [E1]" in asked.prompt
    assert (
        "| The old lamp | gave way to an electric one [1] |\n| A third lamp |  |" in result.report
    )


async def test_a_conclusion_is_called_one(model: Model, settings: Settings) -> None:
    model.script("SectionAnswer", {"markdown": f"{FREE} [E1→]"})
    _, found = await verdicts(settings)
    assert found == {FREE: "inference"}


async def test_a_model_that_fails_its_examination_neither_judges_nor_writes(
    model: Model, settings: Settings
) -> None:
    model.script(
        "VerdictsAnswer",
        lambda r: {
            "verdicts": [{"number": n, "verdict": "supported", "missing": ""} for n, _ in told(r)]
        },
    )
    result, found = await verdicts(settings)
    assert result.mode == "extractive"
    assert LAMP in found
    assert [topic.name for topic in result.topics] == [result.question], "as code would plan it"
    assert {r.schema_name for r in model.requests} == {"PlanAnswer", "VerdictsAnswer"}
    [problem] = [p for p in result.problems if p.stage == "examination"]
    assert "15 of 30" in problem.reason
    again, _ = await verdicts(settings)
    assert len([r for r in model.requests if in_examination(r)]) == 1, "it is examined once a home"
    assert again.mode == "extractive"

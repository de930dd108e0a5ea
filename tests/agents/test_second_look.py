"""Sentences that say in other words what their quotes say are put before the verifier's model, in
one wave.
"""

from __future__ import annotations

import pytest

from spadework.sessions.research import research
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import evidence, play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

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

    def write(request: object) -> dict[str, object]:
        ids = [id_ for id_, _ in evidence(request)]  # type: ignore[arg-type]
        return {
            "sentences": [
                {"text": text, "evidence_ids": ids, "code": False} for text in (FREE, WRONG)
            ]
        }

    model.script("SectionAnswer", write)
    return Settings.load(iterations=1)


async def verdicts(settings: Settings) -> tuple[Result, dict[str, str]]:
    result = await research("What is known about the lamp of the lighthouse?", settings)
    return result, {c.sentence: c.verdict for c in result.citations}


def answer(verdict: str) -> dict[str, object]:
    return {"verdicts": [{"number": n, "verdict": verdict} for n in (0, 1, 2, 99)]}


async def test_what_the_model_finds_supported_stays_and_what_code_refused_is_not_shown_to_it(
    model: Model, settings: Settings
) -> None:
    model.script("VerdictsAnswer", answer("supported"))
    result, found = await verdicts(settings)
    assert found == {FREE: "supported", LAMP: "supported"}
    [asked] = [r for r in model.requests if r.schema_name == "VerdictsAnswer"]
    assert FREE in asked.prompt
    assert LAMP in asked.prompt
    assert WRONG not in asked.prompt
    assert "1999" not in result.report


@pytest.mark.parametrize("verdict", ["contradicted", "unsupported"])
async def test_what_the_model_refuses_is_replaced_by_its_quote(
    model: Model, settings: Settings, verdict: str
) -> None:
    model.script("VerdictsAnswer", answer(verdict))
    result, found = await verdicts(settings)
    assert found == {LAMP: "supported"}
    assert any(verdict in p.reason and FREE in p.reason for p in result.problems)


async def test_what_the_model_cannot_check_stays_and_says_so(
    model: Model, settings: Settings
) -> None:
    model.script("VerdictsAnswer", answer("could not check"))
    _, found = await verdicts(settings)
    assert found == {FREE: "could not check", LAMP: "supported"}


async def test_where_the_model_fails_code_decides(model: Model, settings: Settings) -> None:
    model.script("VerdictsAnswer", Fault("refusal"))
    result, found = await verdicts(settings)
    assert found == {FREE: "supported", LAMP: "supported"}
    assert any(p.stage == "verifier" and "extractive" in p.effect for p in result.problems)

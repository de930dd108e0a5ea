"""A model that is hostile or broken loses nothing and invents nothing: the whole loop with each
behaviour.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.hostile import EVIL_HOST, FAILING, LIE, LYING
from tests.world.model import Model
from tests.world.script import Plain
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.verdicts import in_examination

TOPICS = {"Inhabitants": "Port Aldermere inhabitants", "Lighthouse": "Port Aldermere lighthouse"}
CENSUS = "The census of Port Aldermere counted 48,212 inhabitants in 2024."
LAMP = "The lighthouse of Port Aldermere was first lit in 1887 by Jory Penhallow."


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Two pages, one for each topic, and a model that plays its roles sensibly until it is
    twisted.
    """
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    more = (
        "Much else is told of the town by those who live there, and little of it has ever been"
        " written down by anybody."
    )
    for site, path, said in (("blog", "/census", CENSUS), ("forum", "/keeper", LAMP)):
        text = (
            "<html><head><title>Port Aldermere</title></head><body><main><h1>Port"
            f" Aldermere</h1><p>{said}</p><p>{more}</p></main>"
        )
        searx.script(
            "lighthouse" if "lit" in said else "inhabitants", [world.put(site, path, text)]
        )
    searx.script("", [world.url("blog", "/census"), world.url("forum", "/keeper")])
    play(model, TOPICS, keywords={"Inhabitants": "census", "Lighthouse": "lighthouse"})
    return Settings.load(iterations=1)


async def asked(settings: Settings) -> Result:
    """The result of a run, in which every citation stands in the report, on a quote that stands in
    its stored page.
    """
    result = await research(
        "What is known about the inhabitants and the lighthouse of Port Aldermere?", settings
    )
    known = {e.id: e for topic in result.topics for e in topic.evidence}
    pages = Path(result.session_dir) / "pages"
    assert all(
        (pages / f"{e.content_hash}.md").read_text()[e.start : e.end] == e.quote
        for e in known.values()
    )
    assert all(c.evidence_id in known and c.sentence in result.report for c in result.citations)
    assert {s.url for s in result.sources} == {e.url for e in known.values()}
    said = result.model_dump_json(exclude={"problems"})
    assert LIE not in said
    written = " ".join(s.text for section in result.document.sections for s in section.sentences)
    assert set(re.findall(r"\d[\d,]{3,}", written)) <= {"48,212", "2024", "1887"}, (
        "no number but those of the pages"
    )
    assert "sk-world" not in result.model_dump_json()
    return result


def cited(result: Result) -> set[str]:
    return {c.sentence for c in result.citations}


@pytest.mark.parametrize("behaviour", FAILING)
async def test_a_model_that_never_answers_well_is_replaced_by_code(
    model: Model, settings: Settings, behaviour: str
) -> None:
    model.twist(FAILING[behaviour])
    result = await asked(settings.with_(model_seconds=0.4) if behaviour == "hangs" else settings)
    assert result.status == "completed"
    assert {CENSUS, LAMP} <= cited(result)
    assert {"lead", "qualification"} <= {p.stage for p in result.problems}
    assert "Problems" in result.report


@pytest.mark.parametrize("calls", [3, 100])
async def test_a_model_that_never_answered_is_said_to_have_done_nothing(
    model: Model, settings: Settings, calls: int
) -> None:
    model.twist(FAILING["hangs"])
    result = await asked(settings.with_(model_seconds=0.4, calls=calls))
    assert "so all the work was done without it" in result.report
    assert "only to plan and search" not in result.report


async def test_a_thought_before_the_answer_costs_nothing(model: Model, settings: Settings) -> None:
    model.twist(LYING["a thought before JSON"])
    result = await asked(settings)
    assert cited(result) == {CENSUS, LAMP}
    assert not result.problems
    assert all(topic.covered for topic in result.topics)


async def test_a_server_that_is_well_again_gets_its_work_back(
    model: Model, settings: Settings
) -> None:
    judged: list[ChatRequest] = []

    def ill(request: ChatRequest, answer: Plain) -> Plain:
        if request.schema_name == "VerdictsAnswer" and in_examination(request):
            judged.append(request)
            return answer if len(judged) > 3 else Fault("overloaded")
        return answer

    model.twist(ill)
    result = await asked(settings)
    assert len(judged) == 4
    assert result.mode == "model"


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("thought", id="in reasoning_content"),
        pytest.param("harmony", id="harmony marks", marks=pytest.mark.full),
        pytest.param("busy", id="busy in a 200", marks=pytest.mark.full),
        pytest.param("streams", id="streams only", marks=pytest.mark.full),
    ],
)
async def test_replies_in_an_odd_form_are_written_by_the_model(
    model: Model, settings: Settings, form: str
) -> None:
    sent: list[ChatRequest] = []

    def odd(request: ChatRequest, answer: Plain) -> Plain:
        text = answer if isinstance(answer, str) else json.dumps(answer)
        sent.append(request)
        if form == "streams":
            only = "This model only supports stream mode."
            return answer if request.stream else Fault("refused", words=only)
        if form == "busy" and len(sent) % 3 == 1:
            return Fault("raw", words='{"error": {"message": "busy upstream", "code": 429}}')
        message = {"content": None, "reasoning_content": text}
        if form != "thought":
            marked = f"<|channel|>analysis<|message|>{{}}<|end|><|channel|>final<|message|>{text}"
            message = {"content": f"{marked}<|return|>"}
        body = {"choices": [{"message": message, "finish_reason": "stop"}]}
        return Fault("raw", words=json.dumps(body))

    model.twist(odd)
    result = await asked(settings)
    assert result.mode == "model"
    assert cited(result) == {CENSUS, LAMP}
    assert not [problem for problem in result.problems if problem.stage != "search"]


async def test_invented_quotes_prove_nothing_and_what_code_finds_is_cited(
    model: Model, settings: Settings
) -> None:
    model.twist(LYING["invented quotes"])
    result = await asked(settings)
    assert not any(topic.covered for topic in result.topics)
    assert {CENSUS, LAMP} <= cited(result)
    assert sum(LIE[:60] in p.reason for p in result.problems) == 2


async def test_invented_addresses_are_neither_fetched_nor_written(
    model: Model, world: World, settings: Settings
) -> None:
    model.twist(LYING["invented URLs"])
    result = await asked(settings)
    assert EVIL_HOST not in result.report
    assert cited(result) == {CENSUS, LAMP}
    assert {r.path for r in world.requests} <= {"/robots.txt", "/census", "/keeper"}


async def test_sentences_on_invented_evidence_are_removed_and_the_quotes_shown(
    model: Model, settings: Settings
) -> None:
    model.twist(LYING["invented evidence ids"])
    result = await asked(settings)
    assert cited(result) == {CENSUS, LAMP}
    assert any(p.stage == "verifier" and "E777" not in result.report for p in result.problems)


async def test_changed_numbers_are_put_right(model: Model, settings: Settings) -> None:
    model.twist(LYING["changed numbers"])
    result = await asked(settings)
    assert cited(result) == {CENSUS, LAMP}
    assert any(p.stage == "verifier" and "59,323" in p.reason for p in result.problems)


async def test_what_is_covered_without_evidence_is_not_covered(
    model: Model, settings: Settings
) -> None:
    model.twist(LYING["covers everything without evidence"])
    result = await asked(settings)
    assert not any(topic.covered for topic in result.topics)
    assert {CENSUS, LAMP} <= cited(result), "what code finds is cited"


async def test_a_model_that_is_never_content_does_not_hold_back_what_was_found(
    model: Model, settings: Settings
) -> None:
    model.twist(LYING["never covers anything"])
    result = await asked(settings)
    assert result.status == "completed"
    assert not any(topic.covered for topic in result.topics)
    assert {CENSUS, LAMP} <= cited(result)
    assert "was only partly answered" in result.report

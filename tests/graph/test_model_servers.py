"""What a model's server may do in the course of a run: it fails at the start and is well later, and
it gives its replies in forms of its own. The report is planned and written by the model all the
same.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from spadework.budget import Budget
from spadework.events import Planned
from spadework.sessions.one_call import research
from spadework.sessions.record.records import read_log
from spadework.sessions.replay import replay
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.script import Plain
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


def of_the_model(result: Result) -> bool:
    """Whether the model has planned the result, judged what was read, and written the report."""
    makers = {citation.maker for citation in result.citations}
    return (
        (result.status, result.mode) == ("completed", "model")
        and [topic.name for topic in result.topics] == list(TOPICS)
        and all(topic.covered for topic in result.topics)
        and makers == {"openai:world-model"}
    )


FAULTS: dict[str, tuple[int, Plain]] = {
    "two errors": (2, Fault("error")),
    "three errors": (3, Fault("error")),
    "a page of its gateway, twice": (2, Fault("raw", words="<html><h1>Starting up</h1>")),
    "no key yet, three times": (3, Fault("unauthorized")),
    "words, three times": (3, "I am still warming up."),
    "silence, once": (1, Fault("hang")),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_server_that_is_well_after_its_first_calls_gets_its_work_back(
    model: Model, settings: Settings, name: str
) -> None:
    play(model, TOPICS)
    (most, fault), calls = FAULTS[name], count()
    model.script(lambda _: next(calls) < most, fault)
    result = await research(QUESTION, settings.with_(model_seconds=3.0))
    assert of_the_model(result), result.problems


async def test_a_run_whose_plan_was_made_anew_is_replayed_alike(
    model: Model, settings: Settings
) -> None:
    play(model, TOPICS)
    calls = count()
    model.script(lambda _: next(calls) < 3, Fault("error"))
    result = await research(QUESTION, settings)
    asked = len(model.requests)
    again = await replay(settings.home, result.session_id)
    assert (again.result.report, len(model.requests)) == (result.report, asked)


async def test_a_plan_made_anew_tells_how_slow_the_model_is_and_no_estimate_after_the_newest(
    model: Model, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(model, TOPICS)
    calls, judging = count(), list[float]()
    model.script(lambda _: next(calls) < 3, Fault("error"))

    def seconds(budget: Budget, call: float) -> float:
        judging.append(call)
        return 60.0

    monkeypatch.setattr(Budget, "judging_seconds", seconds)
    result = await research(QUESTION, settings)
    assert judging[0] > 0
    planned = [e for e in read_log(Path(result.session_dir)) if isinstance(e, Planned)]
    assert len(planned) == 2
    assert planned[-1].forecast is None


async def test_what_the_plan_made_anew_wants_is_searched_where_it_is_open(
    model: Model, searx: Searx, settings: Settings
) -> None:
    play(model, {"Weather": "Port Aldermere weather records"}, keywords={"Weather": "barometer"})
    calls = count()
    model.script(lambda _: next(calls) < 3, Fault("error"))
    await research(QUESTION, settings)
    assert "Port Aldermere weather records" in searx.queries


def _whole(finish: str = "stop", **message: Any) -> str:
    return json.dumps(
        {
            "id": "chat-1",
            "choices": [
                {"index": 0, "finish_reason": finish, "message": {"role": "assistant"} | message}
            ],
        }
    )


def _thought(answer: str, number: int) -> str:
    """As vLLM with a parser of reasoning: the answer is taken for a thought."""
    return _whole(content=None, reasoning_content=f"I plan {{legs}}.\n{answer}", tool_calls=[])


def _harmony(answer: str, number: int) -> str:
    """As LM Studio: channels of gpt-oss in the text, an end mark behind it."""
    said = f"<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>{answer}<|return|>"
    return _whole(content=said)


def _busy(answer: str, number: int) -> str:
    """As OpenRouter: each third request is refused with an error in a good answer; else a fence
    between words behind a thought without a beginning.
    """
    if number % 3 == 0:
        error = {"code": 429, "message": "Provider returned error", "metadata": {"raw": "busy"}}
        return json.dumps({"choices": None, "error": error, "user_id": "u"})
    return _whole("STOP", content=f"Let me see.\n</think>\n\nHere:\n```json\n{answer}\n```\nDone.")


def _streamed(answer: str, number: int) -> str:
    """As llama.cpp and Azure: a stream whose first event has no choice, a tool's arguments in
    pieces, and no count.
    """
    called = [
        {"index": 0, "function": {"name": "Answer", "arguments": part}}
        for part in (answer[:7], answer[7:])
    ]
    events: list[dict[str, Any]] = [{"choices": [], "prompt_filter_results": []}]
    events += [{"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]} for part in called]
    events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


@pytest.mark.parametrize("form", [_thought, _harmony, _busy, _streamed])
async def test_a_run_on_a_server_with_forms_of_its_own_is_written_by_its_model(
    model: Model, settings: Settings, form: Callable[[str, int], str]
) -> None:
    play(model, TOPICS)
    calls = count()

    def change(_: ChatRequest, answer: Plain) -> Plain:
        said = answer if isinstance(answer, str) else json.dumps(answer)
        return Fault("raw", words=form(said, next(calls)))

    model.twist(change)
    result = await research(QUESTION, settings)
    assert of_the_model(result), result.problems
    assert not result.problems

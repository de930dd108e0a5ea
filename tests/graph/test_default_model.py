"""A run for which no model is named asks the server what it has; whatever that answers, the run
goes on, and what is amiss is said first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import aclosing, suppress

import pytest

from spadework.agents.llm import probe
from spadework.errors import ModelError, SettingsError
from spadework.events import Event, Finished, Notice, Started, Troubled
from spadework.sessions.one_call import research
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.world.background import Background, Conversation, listen
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.waits import trickle

QUESTION = "What is the Quillon radio?"


@pytest.fixture(autouse=True)
def settings(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A run that names no model."""
    for name, value in {**world.env, **searx.env, "OPENAI_API_KEY": "sk-world-0123456789"}.items():
        monkeypatch.setenv(name, value)
    return Settings.load(openai_base_url="http://127.0.0.1:9/v1", iterations=1)


@pytest.fixture
def served(background: Background) -> Iterator[object]:
    """Serves a conversation; gives its address."""

    def serve(conversation: Conversation) -> str:
        sock = listen("127.0.0.1")
        background.converse(conversation, sock)
        return "http://{}:{}/v1".format(*sock.getsockname())

    return serve


def answering(status: str, body: str) -> Conversation:
    async def conversation(reader, writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write((head + body).encode())
        await writer.drain()
        writer.close()

    return conversation


async def hang(reader, writer) -> None:
    with suppress(ConnectionError):
        await reader.read()
    writer.close()


async def events(settings: Settings) -> list[Event]:
    async with aclosing(Session.start(QUESTION, settings=settings).events()) as running:
        return [event async for event in running]


def without_a_model(result: Result, said: str) -> bool:
    problem = result.problems[0]
    return (
        (result.status, result.mode) == ("completed", "extractive")
        and problem.stage == "model"
        and said in problem.reason
        and "No model was used" in problem.effect
        and said in result.report
    )


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1"])
async def test_a_server_that_is_down_is_said_first_and_ends_no_run(
    settings: Settings, url: str
) -> None:
    seen = await events(settings.with_(openai_base_url=url))
    started, notice, *rest = seen
    assert isinstance(started, Started)
    assert isinstance(notice, Notice)
    assert "cannot be reached" in notice.text
    assert "check OPENAI_BASE_URL" in notice.text
    troubles = [event.problem for event in rest if isinstance(event, Troubled)]
    assert "cannot be reached" in troubles[0].reason
    finished = seen[-1]
    assert isinstance(finished, Finished)
    assert without_a_model(finished.result, "cannot be reached")
    assert finished.result.topics[0].evidence


@pytest.mark.parametrize("slowly", [trickle, hang])
async def test_a_list_that_does_not_come_in_time_ends_no_run(
    settings: Settings, served, slowly: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.LIST_SECONDS == 5.0
    monkeypatch.setattr(probe, "LIST_SECONDS", 0.4)
    began = time.monotonic()
    with pytest.raises(ModelError, match="in time") as raised:
        await probe.default_model(settings.with_(openai_base_url=served(slowly)))
    assert "--model openai:NAME" in raised.value.hint
    assert time.monotonic() - began < 2
    result = await research(QUESTION, settings.with_(openai_base_url=served(slowly)))
    assert without_a_model(result, "did not list its models in time")


DEEP = '{"data": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        ("404 Not Found", "", "does not list its models"),
        ("500 Oh", "", "does not list its models"),
        ("401 No", "", "refuses the key"),
        ("200 OK", "<html>", "does not list its models"),
        ("200 OK", "[]", "does not list its models"),
        ("200 OK", '{"data": [{"name": "x"}]}', "does not list its models"),
        ("200 OK", DEEP, "does not list its models"),
        ("200 OK", '{"data": []}', "has no model"),
    ],
    ids=["404", "500", "401", "a page", "a list", "no names", "deep", "none"],
)
async def test_a_server_that_does_not_say_what_it_has_is_a_model_error(
    settings: Settings, served, status: str, body: str, said: str
) -> None:
    url = served(answering(status, body))
    with pytest.raises(ModelError, match=said):
        await probe.default_model(settings.with_(openai_base_url=url))


async def test_a_named_model_whose_server_is_down_ends_no_run(settings: Settings) -> None:
    result = await research(QUESTION, settings.with_(model="openai:world-model"))
    assert result.status == "completed"
    assert any("cannot be reached" in problem.reason for problem in result.problems)


async def test_a_choice_of_models_and_a_wrong_address_are_the_user_s_to_mend(
    settings: Settings, served
) -> None:
    two = json.dumps({"data": [{"id": "one"}, {"id": "two"}]})
    wrong = {
        served(answering("200 OK", two)): r"2 models \(one, two\)\. Choose one",
        "localhost:8080/v1": "not 'localhost:8080/v1'",
        "http://[::1/v1": "must be",
    }
    for url, said in wrong.items():
        with pytest.raises(SettingsError, match=said):
            await research(QUESTION, settings.with_(openai_base_url=url))
    with pytest.raises(SettingsError, match="nobody"):
        await research(QUESTION, settings.with_(model="nobody:model"))


async def test_the_server_s_only_model_is_used(model: Model, settings: Settings) -> None:
    play(model, {"Radio": "Quillon radio"})
    result = await research(QUESTION, settings.with_(openai_base_url=model.url))
    assert result.mode == "model"
    assert {request.model for request in model.requests} == {"world-model"}

"""What is tried, side by side and within its time; what is only named."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from spadework.sessions.health import Check, nearby, probe
from spadework.settings import Settings
from spadework.tools.search.dispatch.provider_choice import PROVIDERS, Known
from tests.sessions.health.conftest import KEY, NOBODY, Machine
from tests.tools.search.services import Fault, Services
from tests.tools.search.test_providers import MAKE
from tests.world.background import Background, listen
from tests.world.fault import Fault as ModelFault
from tests.world.model import Model
from tests.world.searx import Searx

KEYS = {f"{name}_api_key": KEY for name in ("serper", "tavily", "brave", "openalex")}


def settings_of(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in machine.env.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


def of(found: list[Check], word: str) -> list[Check]:
    return [check for check in found if word in check.line]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (None, "it answers"),
        ("hang", "did not answer within 0."),
        ("limited", "answered"),
        ("error", "status 500"),
        ("empty", "answers, and finds nothing for “water”."),
        ("refused", "could not be asked: All connection attempts failed."),
    ],
)
async def test_every_provider_is_asked_and_says_how_it_is(
    services: Services, monkeypatch: pytest.MonkeyPatch, fault: Fault | None, said: str
) -> None:
    if fault == "refused":
        for name, make in MAKE.items():
            known = Known(lambda _, make=make: make(NOBODY), PROVIDERS[name].setting)
            monkeypatch.setitem(PROVIDERS, name, known)
    elif fault == "empty":
        services.empty = True
    else:
        services.fault = fault
    seconds = 0.4 if fault == "hang" else 5.0
    settings = Settings.load(search=",".join(MAKE), health_seconds=seconds, **KEYS)
    found = await probe(settings)
    told = of(found, said)
    assert len(told) == len(MAKE), [check.line for check in found]
    assert all(check.works is (fault in (None, "empty")) for check in told), [c.line for c in told]
    # The service says it to all; only those who have it know that it is one.
    keyless = ("Wikipedia", "arXiv", "PubMed")
    assert [c.line for c in found if KEY in c.line and not c.text.startswith(keyless)] == []
    if fault is None:  # each once
        assert {asked.service for asked in services.requests} == set(MAKE)


@pytest.mark.timed
async def test_all_that_hangs_is_waited_for_at_the_same_time(
    machine: Machine, model: Model, searx: Searx, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script("", ModelFault("hang"))
    searx.fail("hang")
    settings = settings_of(machine, monkeypatch).with_(health_seconds=0.8)
    await probe(settings)  # what is loaded once
    began = time.monotonic()
    found = await probe(settings)
    assert time.monotonic() - began < 1.3
    assert {"slow"} == {c.state for c in (*of(found, "searxng did"), *of(found, "world-model did"))}


async def test_the_model_is_asked_for_one_word_and_each_model_once(
    machine: Machine, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(machine, monkeypatch).with_(judge_model="openai:other")
    found = await probe(settings)
    assert [check.text for check in of(found, "language model")] == [
        "language model openai:world-model answers",
        "language model openai:other answers",
    ]
    assert [request.data.get("max_tokens") for request in model.requests] == [16, 16]


async def test_a_fallback_model_is_tried_at_its_own_server(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(machine, monkeypatch).with_(
        fallback_model="openai:spare", fallback_base_url=f"{NOBODY}/v1"
    )
    found = await probe(settings)
    assert [check.works for check in of(found, "openai:world-model")] == [True]
    assert [check.works for check in of(found, "openai:spare cannot be reached.")] == [False]


async def test_a_key_is_never_repeated(
    machine: Machine, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script("", ModelFault("refused", words="no such thing for sk-world-0123456789"))
    found = await probe(settings_of(machine, monkeypatch))
    assert of(found, "no such thing for …")
    assert not of(found, "sk-world-0123456789")


class Nearby:
    """A model server and a SearXNG in one, on a port of this machine."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answers = {
            "/v1/models": {"data": [{"id": "llama3.2"}, {"id": "qwen3"}, {"no": "name"}, 7]},
            "/config": {"engines": [{"name": "wikipedia"}], "instance_name": "SearXNG"},
        }
        await JSONResponse(answers.get(scope["path"]))(scope, receive, send)


def hints(found: Sequence[Check]) -> list[str]:
    """What is hinted at, but for a browser, which not every machine has."""
    said = [check.line for check in found if check.state == "hint"]
    return [each for each in said if not each.startswith("no browser")]


async def test_what_runs_on_this_machine_is_named_and_not_used(
    background: Background, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sock = listen("127.0.0.1")
    port = sock.getsockname()[1]
    background.serve(Nearby(), [sock])
    monkeypatch.setattr(nearby, "MODEL_PORTS", {port: "Ollama", 1: "vLLM"})
    monkeypatch.setattr(nearby, "SEARXNG_PORTS", (port, 1))
    notes = tmp_path / "notes.md"
    notes.write_text("# Quillon\n\nA radio.\n")
    found = await probe(Settings.load(search="library", library=(notes,)))
    assert hints(found) == [
        f"a model server is at http://127.0.0.1:{port}/v1, the usual port of Ollama, with llama3.2,"
        f" qwen3. To use it, set OPENAI_BASE_URL=http://127.0.0.1:{port}/v1 and"
        " SPADEWORK_MODEL=openai:llama3.2.",
        f"a SearXNG is at http://127.0.0.1:{port}. To search with it, set"
        f" SEARXNG_URL=http://127.0.0.1:{port}.",
    ]
    assert of(found, "no language model is set")
    assert all(check.works for check in found)
    assert of(found, "its index is made or brought up to date by the first run")


async def test_nobody_is_named_where_a_model_and_a_search_are_set(
    machine: Machine, background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    sock = listen("127.0.0.1")
    port = sock.getsockname()[1]
    background.serve(Nearby(), [sock])
    monkeypatch.setattr(nearby, "MODEL_PORTS", {port: "Ollama"})
    monkeypatch.setattr(nearby, "SEARXNG_PORTS", (port,))
    found = await probe(settings_of(machine, monkeypatch))
    assert not hints(found)

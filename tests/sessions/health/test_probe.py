"""What is tried, side by side and within its time; what is only named."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from spadework.errors import Unreachable
from spadework.sessions.health import Check, check as nearby, probe
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.search.provider_choice import PROVIDERS, Spec
from spadework.tools.web.connections import certificates
from tests.sessions.health.conftest import KEY, NOBODY, Machine, hurry
from tests.tools.search.services import Fault, Services
from tests.tools.search.test_providers import MAKE
from tests.world.background import Background, listen
from tests.world.fault import Fault as ModelFault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.zoo.animal import Animal, read
from tests.world.zoo.cage import Cage, caged
from tests.world.zoo.certificates import Maker
from tests.world.zoo.serving import http
from tests.world.zoo.visit import Visit

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
        (None, "search works"),
        ("hang", "did not answer within 0."),
        ("limited", "received too many"),
        ("error", "status 500"),
        ("empty", "answers, but found nothing for “water”."),
        ("refused", "could not be queried: All connection attempts failed."),
    ],
)
async def test_every_provider_is_asked_and_says_how_it_is(
    services: Services, monkeypatch: pytest.MonkeyPatch, fault: Fault | None, said: str
) -> None:
    if fault == "refused":
        for name, make in MAKE.items():
            known = Spec(lambda _, make=make: make(NOBODY), PROVIDERS[name].setting)
            monkeypatch.setitem(PROVIDERS, name, known)
    elif fault == "empty":
        services.empty = True
    else:
        services.fault = fault
    hurry(monkeypatch, 0.4 if fault == "hang" else 5.0)
    settings = Settings.load(search=",".join(MAKE), **KEYS)
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
    settings = settings_of(machine, monkeypatch)
    hurry(monkeypatch, 0.8)
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


PAGE = "<html><title>Pier</title><main><p>The outer pier is 84 metres long.</p></main></html>"


async def serve_office(visit: Visit) -> None:
    """Answer as a SearXNG, as a page that it finds and as a model."""
    message = {"role": "assistant", "content": "OK"}
    hit = {"url": f"https://{visit.host}/page", "title": "Pier", "content": "water at the pier"}
    answers: dict[str, Any] = {
        "/search": {"results": [hit], "unresponsive_engines": []},
        "/v1/chat/completions": {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]
        },
    }
    await visit.reader.read(int(visit.headers.get("content-length", 0)))
    found = answers.get(visit.path.partition("?")[0])
    await visit.send(
        http(json.dumps(found), media_type="application/json") if found else http(PAGE)
    )


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Cage]:
    """Serve over TLS with a certificate by the maker in maker.pem, whom no process trusts yet."""
    animal = Animal("an office", serve_office, read("84 metres"), tls="good")
    certificates.cache_clear()
    async with caged(animal, Maker(tmp_path).context("good", ("http/1.1",))) as cage:
        yield cage
    certificates.cache_clear()


def settings_at(office: Cage) -> Settings:
    return Settings.load(
        **{"searxng_url": office.url, "search": "searxng", "allow_hosts": ("127.0.0.1",)},
        **{"model": "openai:m", "openai_base_url": f"{office.url}v1", "openai_api_key": KEY},
    )


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
async def test_an_authority_of_ones_own_is_trusted_by_search_pages_and_model(
    office: Cage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "maker.pem"))
    assert {
        f"certificate authorities from {variable} are trusted",
        "language model openai:m answers",
        "search works: the web, through SearXNG",
        "pages can be fetched",
    } <= {check.line for check in await probe(settings_at(office))}


async def test_an_authority_that_nobody_knows_is_named_by_search_pages_and_model(
    office: Cage,
) -> None:
    settings = settings_at(office)
    lines = [check.line for check in await probe(settings) if check.state == "broken"]
    async with Web(settings) as web:
        with pytest.raises(Unreachable) as raised:
            await web.fetch(f"{office.url}page", seconds=5)
    why = (
        "its certificate is not valid: unable to get local issuer certificate; to trust your own"
        " certificate authority, set SSL_CERT_FILE"
    )
    assert [why in line for line in (*lines, str(raised.value))] == [True] * 3
    assert not office.visits


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
        f"a model server, probably Ollama, is running at http://127.0.0.1:{port}/v1 and serves"
        f" llama3.2, qwen3. To use it, set OPENAI_BASE_URL=http://127.0.0.1:{port}/v1 and"
        " SPADEWORK_MODEL=openai:llama3.2.",
        f"SearXNG is running at http://127.0.0.1:{port}. To search with it, set"
        f" SEARXNG_URL=http://127.0.0.1:{port}.",
    ]
    assert of(found, "no language model is set")
    assert all(check.works for check in found)
    assert of(found, "the first run creates or updates the index")


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

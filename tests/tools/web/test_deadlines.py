"""Whatever a server does instead of answering, whoever asks it has an error of ours in time."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from spadework.agents.llm import probe as model_probe
from spadework.agents.llm.limits import Lessons
from spadework.agents.llm.probe import default_model
from spadework.budget import Budget
from spadework.errors import FetchError, KnowledgeError, ModelError, SearchError, SpadeworkError
from spadework.prompts import Prompt
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.knowledge import qdrant
from spadework.tools.ranking.embedder import EndpointEmbedder
from spadework.tools.search.mcp_tool import mcp_searches
from spadework.tools.search.provider import Service
from spadework.tools.search.provider_choice import reachable
from spadework.tools.stores.journal import Journal
from spadework.tools.web import connections
from spadework.tools.web.connections import Resolver
from spadework.values import Query
from tests.world.background import Background, Conversation, listen
from tests.world.slow import Verse

#: What an exchange may take here, how much later its error may come where eleven come at once on a
#: busy machine, and when it is held to come never.
SECONDS, LATER, NEVER = 1.0, 4.0, 10.0
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
Exchange = Callable[[str], Awaitable[Any]]


def _says(first: bytes, then: bytes = b"") -> Conversation:
    """A server that says something, and goes on saying a byte now and then for ever."""

    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read(1)
            writer.write(first)
            while True:
                writer.write(then)
                await writer.drain()
                await asyncio.sleep(0.1)

    return conversation


SAID = {
    "accepts": _says(b""),
    "begins": _says(b"HTTP/1.1 200"),
    "has a head": _says(_HEAD),
    "trickles its head": _says(b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
    "trickles its body": _says(_HEAD, b" "),
    "trickles events": _says(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b": still here\n\n"
    ),
}


@pytest.fixture(scope="module")
def addresses(background: Background) -> Iterator[dict[str, str]]:
    """Where each kind of server is."""
    found = {}
    for kind, conversation in SAID.items():
        background.converse(conversation, sock := listen("127.0.0.1"))
        found[kind] = f"http://127.0.0.1:{sock.getsockname()[1]}"
    found["shakes no hand"] = found["accepts"].replace("http:", "https:")
    found["has no name"] = "http://nobody.invalid:80"
    with socket.create_server(("127.0.0.1", 0)) as closed:
        found["refuses"] = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        socket.socket() as first,
        socket.socket() as second,
    ):
        for filler in (first, second):  # a full queue of connections answers no more
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        found["does not accept"] = f"http://127.0.0.1:{full.getsockname()[1]}"
        found["is nowhere known"] = "http://silent.example:80"
        yield found


@pytest.fixture(autouse=True)
def _one_silent_name(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The look-up of one name ends only with the test."""
    let_go = threading.Event()

    def look_up(host: Any, *args: Any) -> list[Any]:
        if host == "silent.example":
            let_go.wait(60)
        return socket.getaddrinfo(host, *args)

    monkeypatch.setattr(connections, "RESOLVER", Resolver(look_up))
    yield
    let_go.set()


async def _search(url: str) -> None:
    await Service("The service", url).json("/search", seconds=SECONDS)


async def _mcp(url: str) -> None:
    [provider] = mcp_searches(f"find@{url}/mcp")
    try:
        await provider.search(Query(text="lighthouses"), limit=3, seconds=SECONDS)
    finally:
        await provider.close()


async def _probe(url: str) -> None:
    host, _, port = url.partition("//")[2].partition(":")
    await reachable(host, int(port), seconds=SECONDS)
    raise SearchError("One is reached, another is not; both are known.")


async def _models(url: str) -> None:
    await default_model(Settings(openai_base_url=f"{url}/v1"))


def _model(*, stream: bool) -> Exchange:
    async def ask(url: str) -> None:
        async with _asking(f"{url}/v1", stream=stream) as model:
            await model.ask("lead", Prompt("You write.", "A line."), Verse, seconds=SECONDS)

    return ask


@asynccontextmanager
async def _asking(url: str, *, stream: bool) -> AsyncIterator[Any]:
    from spadework.agents.llm.client import Model

    settings = Settings(openai_base_url=url, model="openai:m", context_tokens=8_000)
    settings.home.mkdir(parents=True, exist_ok=True)
    lessons = Lessons(settings.home, f"{url}\nopenai:m")  # as after a request that was refused
    await lessons.load()
    lessons.learn(streams=stream)
    await lessons.save()
    async with AsyncExitStack() as closing:
        journal = await Journal.open(settings.home / f"{time.monotonic_ns()}.sqlite", Budget())
        closing.push_async_callback(journal.close)
        model = Model(settings, Budget(), journal)
        closing.push_async_callback(model.close)
        yield model


async def _embed(url: str) -> None:
    embedder = EndpointEmbedder("m", f"{url}/v1", seconds=SECONDS)
    try:
        await embedder.embed(["a text"])
    finally:
        await embedder.close()


async def _knowledge(url: str) -> None:
    store = qdrant.QdrantKnowledge(qdrant.client_of(url, "", SECONDS, SECONDS), "pages", "there")
    try:
        await store.find("https://example.org/", since=datetime.now(UTC))
    finally:
        await store.close()


def _fetch(*, robots: bool) -> Exchange:
    async def fetch(url: str) -> None:
        settings = Settings(allow_hosts=("127.0.0.1",), robots=robots, cache_mb=0)
        async with Web(settings) as web:
            await web.fetch(f"{url}/page", seconds=SECONDS)

    return fetch


EXCHANGES: dict[str, tuple[Exchange, type[SpadeworkError]]] = {
    "search": (_search, SearchError),
    "search by MCP": (_mcp, SearchError),
    "probe": (_probe, SearchError),
    "models": (_models, ModelError),
    "model": (_model(stream=False), ModelError),
    "model, streaming": (_model(stream=True), ModelError),
    "embeddings": (_embed, ModelError),
    "knowledge": (_knowledge, KnowledgeError),
    "page": (_fetch(robots=False), FetchError),
    "robots.txt": (_fetch(robots=True), FetchError),
}


# httpcore leaves the socket of a handshake that is broken off to the garbage collector.
@pytest.mark.filterwarnings("ignore:.*unclosed")
@pytest.mark.filterwarnings("ignore:Exception ignored")
@pytest.mark.timed
@pytest.mark.parametrize("which", EXCHANGES)
async def test_every_exchange_ends_in_time(
    addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch, which: str
):
    exchange, error = EXCHANGES[which]
    monkeypatch.setattr(model_probe, "LIST_SECONDS", SECONDS)

    async def ended(kind: str, url: str) -> tuple[str, str]:
        began = time.monotonic()
        try:
            async with asyncio.timeout(NEVER):
                await exchange(url)
        except error:
            took = time.monotonic() - began
            return kind, "in time" if took < SECONDS + LATER else f"after {took:.1f} s"
        except TimeoutError:
            return kind, "never"
        return kind, "without an error"

    await ended("refuses", addresses["refuses"])  # what is loaded by the first one
    found = dict(await asyncio.gather(*(ended(*at) for at in addresses.items())))
    assert found == dict.fromkeys(addresses, "in time")
    gc.collect()  # what is left by httpcore is found here, and not by whichever test runs next

"""Who is cancelled while it closes what a run has opened leaves nothing open all the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from spadework.agents.llm.client import Model as Client
from spadework.budget import Budget
from spadework.errors import SearchError, SettingsError
from spadework.graph.context import SessionContext
from spadework.prompts import Prompt
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.search.failover import Search
from spadework.tools.stores.journal import Journal
from spadework.values import Hit, Query
from tests.world.model import Model
from tests.world.sites import World
from tests.world.slow import Verse
from tests.world.timing import eventually

SITES = ("archive", "docs", "forum")


def connections(*ports: int) -> int:
    """Connections that this process has open as a client of these ports."""
    opened = psutil.Process().net_connections("tcp")
    established = [each for each in opened if each.status == psutil.CONN_ESTABLISHED]
    return sum(bool(each.raddr) and each.raddr.port in ports for each in established)


def port_of(url: str) -> int:
    return int(url.split("/")[2].rpartition(":")[2])


async def struck(closing: asyncio.Task[None], turns: int) -> None:
    """Let it run for so many turns of the event loop, cancel it, and wait for its end."""
    for _ in range(turns):
        await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait({closing}, timeout=10)
    assert closing.done()


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_pages_of_many_hosts(world: World, turns: int) -> None:
    settings = Settings.load(allow_hosts=world.hosts, robots=False)
    ports = [port_of(world.url(site)) for site in SITES]
    web = Web(settings)
    await web.__aenter__()
    await asyncio.gather(*(web.fetch(world.url(site), seconds=10) for site in SITES))
    assert connections(*ports) == len(SITES)
    await struck(asyncio.create_task(web.__aexit__(None, None, None)), turns)
    await eventually(lambda: connections(*ports) == 0, seconds=3)


@pytest.fixture
def env(model: Model, monkeypatch: pytest.MonkeyPatch) -> int:
    """The environment of a model; the port of its server."""
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    model.script("Verse", {"words": "the sea is calm tonight", "feet": 3})
    return port_of(model.url)


async def versed(client: Client) -> None:
    """Have the client open connections to both of its models."""
    for role in ("lead", "writer"):
        await client.ask(role, Prompt("You write verse.", "One line."), Verse, seconds=10)


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_several_models(model: Model, env: int, tmp_path: Path, turns: int) -> None:
    settings = Settings.load(writer_model="openai:other", home=tmp_path)
    journal = await Journal.open(tmp_path / "journal.sqlite", Budget())
    client = Client(settings, Budget(), journal, "openai:world-model")
    await versed(client)
    assert connections(env) == 2
    await struck(asyncio.create_task(client.close()), turns)
    await eventually(lambda: connections(env) == 0, seconds=3)
    await journal.close()


async def test_a_desk_whose_examination_does_not_end_at_once(
    model: Model, env: int, world: World, tmp_path: Path
) -> None:
    settings = Settings.load(
        allow_hosts=world.hosts,
        robots=False,
        search="searxng",
        searxng_url="http://127.0.0.1:9",
        home=tmp_path,
    )
    context = await SessionContext.open(tmp_path / "sessions" / "one", settings)
    assert context.model
    await versed(context.model)
    going_on = asyncio.Event()

    async def examination() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            await going_on.wait()
        return ""

    context.examination = asyncio.create_task(examination())
    await asyncio.sleep(0)
    closing = asyncio.create_task(context.close())
    await asyncio.sleep(0.05)
    asyncio.get_running_loop().call_later(0.2, going_on.set)
    await struck(closing, 1)
    await eventually(lambda: connections(env) == 0, seconds=3)
    assert not _open(tmp_path)


def _open(folder: Path) -> list[str]:
    """Files in a folder that this process holds open."""
    return [
        each.path for each in psutil.Process().open_files() if each.path.startswith(f"{folder}")
    ]


@pytest.mark.parametrize("turns", range(0, 40, 3))
async def test_who_is_cancelled_while_it_opens(
    env: int, library: Settings, tmp_path: Path, turns: int
) -> None:
    opening = asyncio.create_task(SessionContext.open(tmp_path / "sessions" / "one", library))
    for _ in range(turns):
        await asyncio.sleep(0.005)
    opening.cancel()
    await asyncio.wait({opening}, timeout=10)
    if not opening.cancelled():  # it was open by then
        await opening.result().close()
    assert not _open(tmp_path)


async def test_a_desk_that_cannot_be_opened_to_its_end(library: Settings, tmp_path: Path) -> None:
    unusable = library.with_(model="openai:world-model")
    with pytest.raises(SettingsError, match="needs an API key"):
        await SessionContext.open(tmp_path / "sessions" / "one", unusable)
    assert not _open(tmp_path)


@pytest.fixture
def library(tmp_path: Path) -> Settings:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "quillon.md").write_text("# The Quillon\n\nIt is wound forty times.\n")
    return Settings.load(search="library", library=(notes,), home=tmp_path)


class Provider:
    """A search that takes so long to close, or fails to."""

    describes = "notes"

    def __init__(self, name: str, seconds: float | None) -> None:
        self.name, self._seconds, self.closed = name, seconds, False

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        return []

    async def close(self) -> None:
        if self._seconds is None:
            raise SearchError("It cannot be closed.")
        await asyncio.sleep(self._seconds)
        self.closed = True


async def test_searches_of_which_one_cannot_be_closed() -> None:
    broken, slow = Provider("broken", None), Provider("slow", 0.1)
    with pytest.raises(SearchError, match="cannot be closed"):
        await Search([broken, slow]).close()
    assert slow.closed


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_searches_that_take_their_time_to_close(turns: int) -> None:
    searches = [Provider("one", 0.1), Provider("two", 0.2)]
    await struck(asyncio.create_task(Search(searches).close()), turns)
    assert [each.closed for each in searches] == [True, True]

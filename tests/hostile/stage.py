"""All servers of an attack: honest ones behind fronts, those that nobody may visit, and the
environment in which spadework meets them.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.hostile import place
from tests.hostile.attack import SITES, Assault, Attack
from tests.hostile.front import Front
from tests.hostile.naming import Name
from tests.tools.fetch import tls
from tests.world.background import Background, Conversation
from tests.world.brain import play
from tests.world.embedding import Embeddings
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "How many passengers does the ferry of Port Aldermere carry, and when does it leave?"
TOPICS = {"Passengers": "ferry passengers", "Timetable": "ferry timetable full hour"}
DOMAIN = "hostile.example"
#: Where the fronts are, of sites and of services.
_SITE_HOST, _SERVICE_HOST = "127.0.3.{}", "127.0.4.{}"
#: What is found: pages that answer.
_PAGES = [(site, f"/ferry-{n}") for n in range(3) for site in SITES]
_HTML, _JSON = "text/html; charset=utf-8", "application/json"


@dataclass
class Stage:
    """What stands ready. `did`: what was done, by service and site; `intruded` counts requests to
    where nobody may be.
    """

    env: dict[str, str]
    world: World
    fronts: dict[str, Front] = field(default_factory=dict)

    @property
    def did(self) -> dict[str, Counter[str]]:
        """How often each fault was done, by service and site."""
        return {name: front.did for name, front in self.fronts.items() if front.did}

    @property
    def intruded(self) -> int:
        """Requests to the server that nobody may visit."""
        return len(self.world.asked("private"))


@asynccontextmanager
async def staged(attack: Attack, folder: Path) -> AsyncIterator[Stage]:
    """The servers of an attack, while the block runs. `folder` is for files of the servers."""
    async with AsyncExitStack() as stack:
        background = stack.enter_context(Background())
        world = World(background)
        private = world.url("private", "")
        building = _Building(attack, folder, stack, private)
        stage = Stage({}, world, building.fronts)
        for n, site in enumerate(SITES):
            assault = attack.sites.get(site, Assault())
            paths = {"/": assault, "/robots.txt": attack.services.get("robots", Assault())}
            host = _SITE_HOST.format(n + 1)
            # From here on the world names itself by its fronts.
            world.bases[site] = await building.front(site, host, world.bases[site], paths, _HTML)
        for n, (site, path) in enumerate(_PAGES):
            world.put(site, path, _page(n))
        building.names["inside." + DOMAIN] = Name("127.0.2.1")
        building.names["turning." + DOMAIN] = Name("127.0.2.1", "turning")
        stage.env = await _environment(attack, building, background, world)
        if attack.names:
            await place.serve_names(building.names)
        yield stage


async def _environment(
    attack: Attack, building: _Building, background: Background, world: World
) -> dict[str, str]:
    searx = Searx(background, world)
    # Among the first, for no search shows more than some of them.
    searx.script("", building.traps + [world.url(site, path) for site, path in _PAGES])
    env = {
        "SPADEWORK_SEARCH": attack.search,
        "SPADEWORK_EFFORT": attack.effort,
        "SPADEWORK_MINUTES": repr(attack.seconds / 60),
        "SPADEWORK_ALLOW_HOSTS": ",".join(building.allowed),
    }
    if "searxng" in attack.search:
        env["SEARXNG_URL"] = await building.service("search", searx.url)
    if "mcp" in attack.search:
        env["SPADEWORK_MCP_SEARCH"] = await _mcp(attack, building)
    if attack.model:
        model = Model(background)
        play(model, TOPICS)
        model.streams_only = attack.stream
        env |= model.env | {"OPENAI_BASE_URL": await building.service("model", model.url)}
    if "embeddings" in attack.services:
        behind = Embeddings(background).url
        env["SPADEWORK_EMBEDDINGS_URL"] = await building.service("embeddings", behind)
        env |= {"SPADEWORK_EMBEDDINGS": "m", "SPADEWORK_EMBEDDINGS_API_KEY": "sk-world"}
    if "knowledge" in attack.services:
        from tests.world.qdrant import Qdrant  # a library that most attacks do not need

        env["QDRANT_URL"] = await building.service("knowledge", Qdrant(background).url)
    return env


async def _mcp(attack: Attack, building: _Building) -> str:
    from tests.tools.search import mcp_servers  # another one

    if attack.process:
        *ways, tool = attack.process.split()
        return f"{tool} @ {mcp_servers.command(*ways)}"
    behind = await building.stack.enter_async_context(mcp_servers.over_http())
    return f"structured @ {await building.service('mcp', behind)}"


def _page(n: int) -> str:
    return (
        f"<title>Ferry passengers {n}</title><article><h1>Ferry passengers {n}</h1><p>The ferry of"
        f" Port Aldermere carries exactly {212 + n % 2} passengers, as paper {n} said.</p><p>It"
        " leaves the old pier at every full hour between six in the morning and ten at night, and"
        f" it does not sail in fog, which house number {n} of the harbour street knows.</p>"
        "</article>"
    )


@dataclass
class _Building:
    """Makes fronts. `allowed` are the hosts that may be visited, `names` those of the name
    server, `traps` addresses that lead inside.
    """

    attack: Attack
    folder: Path
    stack: AsyncExitStack
    private: str
    fronts: dict[str, Front] = field(default_factory=dict)
    allowed: list[str] = field(default_factory=list)
    names: dict[str, Name] = field(default_factory=dict)

    @property
    def traps(self) -> list[str]:
        """Addresses at which nobody may be asked for anything."""
        port = urlsplit(self.private).port
        names = ("inside", "turning") if self.attack.names else ()
        by_name = [f"http://{name}.{DOMAIN}:{port}/ferry-passengers" for name in names]
        return [self.private + "/ferry-passengers", *by_name]

    async def service(self, name: str, behind: str) -> str:
        """The address of a service, whose honest server is at the URL `behind`."""
        n = len(self.fronts) + 1
        paths = {"/": self.attack.services.get(name, Assault())}
        return await self.front(name, _SERVICE_HOST.format(n), behind, paths, _JSON)

    async def front(
        self, name: str, host: str, behind: str, paths: Mapping[str, Assault], media_type: str
    ) -> str:
        """The address of a front at `host`, or of what connections come to instead of it."""
        assault, honest = paths["/"], urlsplit(behind)
        elsewhere = (*self.traps, "ftp://files.example/", "http://127.0.9.9:9/", "//[::1/")
        upstream = (str(honest.hostname), int(honest.port or 80))
        front = Front(f"{self.attack.seed} {name}", paths, upstream, media_type, elsewhere)
        self.fronts[name] = front
        port = await self._listen(assault.connect, host, front)
        scheme = "https" if assault.connect.startswith("TLS") else "http"
        shown = host
        if name in self.attack.names:
            shown = f"{name}.{DOMAIN}"
            self.names[shown] = Name(host, self.attack.names[name])
        if media_type == _HTML:
            self.allowed.append(shown)
        return f"{scheme}://{shown}:{port}{honest.path}"

    async def _listen(self, connect: str, host: str, front: Front) -> int:
        """The port of a server that treats connections so."""
        if connect == "refused":
            with socket.create_server((host, 0)) as closed:
                return int(closed.getsockname()[1])
        if connect == "full":
            return self._full(host)
        context = None
        if connect == "TLS untrusted":
            folder = self.folder / host
            folder.mkdir()
            context = tls.certified(host, folder)
        conversation = _SPEAKS.get(connect, front)
        server = await asyncio.start_server(conversation, host, 0, ssl=context, limit=1 << 20)
        self.stack.callback(server.close)
        return int(server.sockets[0].getsockname()[1])

    def _full(self, host: str) -> int:
        """A queue of connections that is full answers no more."""
        full = self.stack.enter_context(socket.create_server((host, 0), backlog=0))
        for _ in range(2):
            filler = self.stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        return int(full.getsockname()[1])


def _shakes(hand: bytes, *, stays: bool) -> Conversation:
    """A server that says something of its own in the place of TLS."""

    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            await reader.read(1)
            writer.write(hand)
            while stays and await reader.read(65_536):
                pass

    return conversation


_SPEAKS = {
    "TLS silent": _shakes(b"", stays=True),
    "TLS garbage": _shakes(b"\x16\x03\x03\x40\x00" + b"\xfe" * 20_000, stays=True),
    "TLS closed": _shakes(b"", stays=False),
}

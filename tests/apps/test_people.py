"""Two users of one server: by no door does anything of one reach the other."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from spadework.sessions.files import read_metadata, session_folder
from spadework.sessions.listing import list_sessions
from spadework.sessions.people.people import USERS
from spadework.sessions.people.tokens import Tokens
from tests.apps.mcp.serving import with_token
from tests.apps.mcp.test_versions import HEADERS, opening
from tests.apps.web.server import Server
from tests.world.searx import Searx
from tests.world.sites import World

#: A word that stands only in what Anna asked, gave along and read.
WORD = "zyxomma"
QUESTION = f"How many petals does the {WORD} of Port Aldermere have?"
PAGE = (
    f"<html><title>The {WORD}</title><body><main><h1>The {WORD}</h1><p>The {WORD} of Port Aldermere"
    f" has 17 petals, as the gardeners counted in 1931. The {WORD} grows on the north wall of the"
    " harbour and flowers in May.</p></main></body></html>"
)
#: Parts of a session that MCP gives.
PARTS = ("overview", "progress", "plan", "report", "evidence", "sources", "conflicts", "problems")


@dataclass
class Two:
    """The server, the tokens of its users, and what Anna has: a session that is done, one that
    runs, and the address of a page that she has read.
    """

    server: Server
    tokens: dict[str, str]
    done: str = ""
    runs: str = ""
    page: str = ""

    @property
    def home(self) -> Path:
        return self.server.home / USERS / "anna"

    def client(self, user: str, **headers: str) -> httpx.AsyncClient:
        own = {"Authorization": f"Bearer {self.tokens[user]}"} if user else {}
        return httpx.AsyncClient(base_url=self.server.url, headers={**own, **headers}, timeout=60)

    def hashes(self) -> list[str]:
        return [path.stem for path in (self.home / "sessions" / self.done / "pages").glob("*.md")]


async def ask(client: httpx.AsyncClient, question: str, **more: Any) -> httpx.Response:
    csrf = re.search(r'name="csrf" value="([^"]+)"', (await client.get("/")).text)
    assert csrf
    files = more.pop("files", None)
    data = {"csrf": csrf[1], "question": question, "unseen": "1", "minutes": "1", **more}
    return await client.post("/ask", data=data, files=files)


async def asked(client: httpx.AsyncClient, question: str, **more: Any) -> str:
    answer = await ask(client, question, **more)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]


async def report(client: httpx.AsyncClient, session: str) -> httpx.Response:
    """The result of a session, waited for by its events."""
    async with asyncio.timeout(60), client.stream("GET", f"/s/{session}/events") as events:
        async for _ in events.aiter_lines():
            pass
    return await client.get(f"/s/{session}/report.json")


@pytest.fixture
def served(world: World, searx: Searx, tmp_path: Path) -> Iterator[Two]:
    home = tmp_path / "served"
    tokens = {name: Tokens(home).add(name) for name in ("anna", "bob")}
    tokens["reader"] = Tokens(home).add("anna", ["read"])
    tokens["asker"] = Tokens(home).add("anna", ["ask"])
    tokens["watch"] = Tokens(home).add("watch", ["admin"])
    env = {
        **world.env,
        **searx.env,
        "SPADEWORK_ITERATIONS": "1",
        "SPADEWORK_USER_HEADER": "X-Forwarded-User",
        "SPADEWORK_TRUSTED_PROXIES": "127.0.0.9",
    }
    server = Server(env, home)
    yield Two(server, tokens)
    server.stop()


@pytest.fixture
async def two(served: Two, world: World, searx: Searx) -> Two:
    """Anna has a session that is done."""
    served.page = world.put("archive", f"/{WORD}", PAGE)
    searx.script(WORD, [served.page])
    async with served.client("anna") as anna:
        note = {"files": ("note.md", f"# Note\n\nThe {WORD} is mine.\n".encode())}
        served.done = await asked(anna, QUESTION, files=note)
        assert WORD in (await report(anna, served.done)).text
    return served


@pytest.fixture
async def busy(two: Two, world: World) -> AsyncIterator[Two]:
    """Anna has a session that runs, too; what others have tried has changed nothing."""
    world.hang_everything = True
    async with two.client("anna") as anna:
        two.runs = await asked(anna, f"Where does the {WORD} grow?")
        yield two
        assert (await anna.get(f"/s/{two.done}/report.json")).status_code == 200
        csrf = re.search(r'name="csrf" value="([^"]+)"', (await anna.get("/")).text)
        assert csrf
        stopped = await anna.post(f"/s/{two.runs}/cancel", data={"csrf": csrf[1]})
        assert stopped.status_code == 303, "it still runs"


def pages_to_look_at(two: Two) -> list[str]:
    done, runs = two.done, two.runs
    own = f"users/anna/sessions/{done}"
    return [
        *("/", "/statistics", f"/s/{done}", f"/s/{runs}", f"/?follows={done}", "/?user=anna"),
        *(f"/s/{session}/events?after=0" for session in (done, runs)),
        *(f"/s/{done}/report.{kind}" for kind in ("md", "html", "json", "bib", "docx")),
        *(f"/s/{done}/pages/{one}" for one in two.hashes()[:2]),
        f"/s/{done}/pages/{two.hashes()[0]}?plain",
        *(f"/s/..%2f..%2f{own}", f"/s/..%2f..%2f{own}/report.json", f"/s/%2e%2e%2f%2e%2e%2f{own}"),
        *(f"/{own}/result.json", f"/static/../../{own}/result.json", f"/static/%2e%2e/{own}"),
        f"/s/{done}%2f/events",
        *("/settings", "/settings/findings", "/metrics", "/v1/models", f"/v1/sessions/{done}"),
    ]


async def look(two: Two) -> list[tuple[str, str]]:
    """What Bob is answered where he looks, as (where, answer)."""
    found = []
    async with two.client("bob") as bob:
        for path in pages_to_look_at(two):
            found.append((path, (await bob.get(path)).text))
    hers = two.tokens["anna"]
    kept = Tokens(two.server.home).listed()[0]
    async with two.client("") as nobody:
        for headers in (
            {},
            {"X-Forwarded-User": "anna"},
            {"X-Forwarded-User": "anna", "X-Forwarded-For": "127.0.0.9"},
            {"X-Forwarded-User": "anna", "Forwarded": "for=127.0.0.9"},
            {"Authorization": "Bearer"},
            {"Authorization": f"Bearer {hers[:-1]}"},
            {"Authorization": f"Bearer {kept.sha256}"},
            {"Authorization": f"Bearer {kept.id}"},
            {"Cookie": f"spadework_token_{two.server.port}=anna"},
        ):
            answer = await nobody.get(f"/s/{two.done}", headers=headers)
            assert answer.status_code == 401, headers
            found.append((str(headers), answer.text))
    return found


async def act(two: Two) -> list[tuple[str, str]]:
    """What Bob is answered where he does something."""
    found = []
    async with two.client("bob") as bob:
        csrf = re.search(r'name="csrf" value="([^"]+)"', (await bob.get("/")).text)
        assert csrf
        for what in ("answer", "plan", "stop", "cancel", "resume", "delete"):
            for session in (two.done, two.runs):
                answer = await bob.post(f"/s/{session}/{what}", data={"csrf": csrf[1]})
                assert what == "plan" or answer.status_code >= 400, what
                found.append((f"{what} {session}", answer.text))
        hers = f"../users/anna/sessions/{two.done}"
        for follows in (two.done, two.runs, f"../../../{hers}", hers):
            answer = await ask(bob, "How many petals?", follows=follows)
            assert answer.status_code == 404, follows
            found.append((f"follow {follows}", answer.text))
        mine: dict[str, Any] = {"model": "spadework-quick"}
        mine["messages"] = [{"role": "user", "content": "How many petals?"}]
        for session in (two.done, two.runs):
            body = mine | {"metadata": {"session_id": session}}
            answer = await bob.post("/v1/chat/completions", json=body)
            assert answer.status_code == 404
            found.append((f"/v1 {session}", answer.text))
    return found


async def call(client: Client, tool: str, **arguments: Any) -> str:
    return str(await client.call_tool(tool, arguments))


async def speak(two: Two) -> list[tuple[str, str]]:
    """What Bob is answered over MCP."""
    found, done = [], two.done
    own = f"users%2Fanna%2Fsessions%2F{done}"
    async with with_token(f"{two.server.url}/mcp", two.tokens["bob"]) as bob:
        for part in PARTS:
            found.append((part, await call(bob, "get_session_data", session_id=done, part=part)))
        for page in ("1", two.hashes()[0]):
            asked = {"session_id": done, "part": "page", "page": page}
            found.append((f"page {page}", await call(bob, "get_session_data", **asked)))
        found.append(("latest", await call(bob, "get_session_data", session_id="latest")))
        found.append(("report", await call(bob, "create_research_report", session_id=done)))
        for name in ("follows", "session_id"):
            asked = {"query": "How many petals?", name: done}
            found.append((name, await call(bob, "agentic_search", **asked)))
        found.append(("resources", str(await bob.list_resources())))
        for uri in (
            done,
            "latest",
            f"{done}/pages/1",
            f"..%2F..%2F{own}",
        ):
            try:
                read = str(await bob.read_resource(f"spadework://sessions/{uri}"))
            except MCPError as error:
                read = str(error)
            found.append((uri, read))
    async with two.client("anna", **HEADERS) as anna, two.client("bob", **HEADERS) as bob_by_hand:
        opened = await anna.post("/mcp", json=opening("2025-06-18")[0])
        line = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        for method in ("POST", "GET", "DELETE"):
            body = {"jsonrpc": "2.0", "id": 7, "method": "resources/list"}
            answer = await bob_by_hand.request(method, "/mcp", json=body, headers=line)
            assert answer.status_code == 404, "her connection is hers"
            found.append((f"{method} /mcp", answer.text))
    return found


async def test_sixty_tries_of_one_user_to_see_what_another_has(busy: Two) -> None:
    tries = [*await look(busy), *await act(busy), *await speak(busy)]
    assert len(tries) >= 60
    assert [where for where, answer in tries if WORD in answer] == []


async def test_what_one_user_has_read_is_neither_known_nor_cached_for_another(
    two: Two, world: World, searx: Searx
) -> None:
    before, queries = len(world.asked("archive", f"/{WORD}")), len(searx.queries)
    async with two.client("bob") as bob:
        result = (await report(bob, await asked(bob, QUESTION))).json()
    assert len(world.asked("archive", f"/{WORD}")) > before
    assert len(searx.queries) - queries == result["usage"]["searches"] > 0
    assert {source["known"] for source in result["sources"]} == {False}
    assert {one.query for one in list_sessions(two.server.home / USERS / "bob")} == {QUESTION}
    assert list(list_sessions(two.server.home)) == []


async def test_an_answer_that_somebody_passes_on_leads_nobody_to_its_session(two: Two) -> None:
    first, again = ({"role": "user", "content": text} for text in ("What is it?", "How high?"))
    async with two.client("anna") as anna, two.client("bob") as bob:
        body: dict[str, Any] = {"model": "spadework-quick", "messages": [first]}
        told = (await anna.post("/v1/chat/completions", json=body)).json()
        body["messages"] = [first, told["choices"][0]["message"], again]
        for client, user in ((bob, "bob"), (anna, "anna")):
            answer = (await client.post("/v1/chat/completions", json=body)).json()
            home = two.server.home / USERS / user
            kept = read_metadata(session_folder(home, answer["spadework"]["session_id"]))
            hers = told["spadework"]["session_id"] if user == "anna" else ""
            assert kept.follows == hers


async def test_what_a_token_is_for(served: Two) -> None:
    async with served.client("reader") as reader:
        assert (await reader.get("/")).status_code == 200
        refused = await ask(reader, "What is the Quillon?")
        assert (refused.status_code, refused.text) == (
            403,
            "This needs the scope ask, which your token does not have.\n",
        )
        assert (await reader.get("/settings")).status_code == 403
    async with served.client("asker") as asker:
        assert (await asker.get("/")).status_code == 403
    async with served.client("watch") as watch:
        assert [(await watch.get(path)).status_code for path in ("/settings", "/", "/mcp")] == [
            200,
            403,
            403,
        ]
    url = f"{served.server.url}/mcp"
    async with with_token(url, served.tokens["reader"]) as reader_by_mcp:
        said = await call(reader_by_mcp, "serp_search", query="petals")
        assert "needs the scope ask" in said
    async with with_token(url, served.tokens["asker"]) as asker_by_mcp:
        said = await call(asker_by_mcp, "get_session_data", session_id="latest")
        assert "needs the scope read" in said


async def test_a_trusted_proxy_names_the_user_and_nobody_else_does(served: Two) -> None:
    near = httpx.AsyncHTTPTransport(local_address="127.0.0.9")
    url = served.server.url
    async with httpx.AsyncClient(base_url=url, transport=near) as proxy:
        named = {"X-Forwarded-User": "Anna"}
        assert "anna" in (await proxy.get("/", headers=named)).text
        assert (await proxy.get("/")).status_code == 401
        twice = [("X-Forwarded-User", "bob"), ("X-Forwarded-User", "anna")]
        assert (await proxy.get("/", headers=twice)).status_code == 401
        for name in ("..", "a/b", "", "anna, bob"):
            assert (await proxy.get("/", headers={"X-Forwarded-User": name})).status_code == 401
        # Behind a proxy that says so, cookies are for https alone.
        proxy.cookies.clear()
        secure = await proxy.get("/", headers=named | {"X-Forwarded-Proto": "https"})
        assert "secure" in secure.headers["set-cookie"].lower()
    async with served.client("bob", **{"X-Forwarded-User": "anna"}) as bob:
        assert 'title="bob"' in (await bob.get("/")).text
    async with served.client("") as nobody:
        forged = await nobody.get("/", headers=named | {"X-Forwarded-For": "127.0.0.9"})
        assert forged.status_code == 401
    Tokens(served.server.home).revoke("bob")
    async with served.client("bob") as bob:
        assert (await bob.get("/")).status_code == 401, "at once"

"""Two users of one server: by no door does anything of one reach the other."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.sessions.storage.session_list import list_sessions
from spadework.sessions.users import USERS
from tests.apps.mcp.serving import with_token
from tests.apps.mcp.test_versions import HEADERS, opening
from tests.apps.people.two_users import QUESTION, WORD, Two, ask, asked, call, report
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = pytest.mark.process

#: Parts of a session that MCP gives.
PARTS = ("overview", "progress", "plan", "report", "evidence", "sources", "conflicts", "problems")


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
    kept = two.kept.listed()[0]
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
        for uri in (done, "latest", f"{done}/pages/1", f"..%2F..%2F{own}"):
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


@pytest.mark.full
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

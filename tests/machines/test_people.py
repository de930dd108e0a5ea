"""Two servers with homes of their own on one database: they know the same users, and by
no door of either does anything of one user reach another.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.sessions.users import Tokens
from tests.apps.mcp.serving import with_token
from tests.apps.people.test_two_users import act, look, speak
from tests.apps.people.two_users import PAGE, QUESTION, WORD, Two, asked, call, csrf_of, report
from tests.apps.web.server import Server
from tests.machines.fleet import Fleet
from tests.machines.test_shared_sessions import eventually
from tests.world.postgres import Postgres
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = [pytest.mark.machines, pytest.mark.slow]
USERS = {"anna": "anna", "bob": "bob", "carol": "carol"}


@pytest.fixture
def servers(database: str, world: World, searx: Searx, tmp_path: Path) -> Iterator[tuple[Two, Two]]:
    """Anna is asked by the first; the tokens were made on a machine with a third home."""
    env = {
        **world.env,
        **searx.env,
        "SPADEWORK_ITERATIONS": "1",
        "SPADEWORK_DATABASE_URL": database,
    }
    kept = Tokens(tmp_path / "third", SecretStr(database))
    tokens = {name: kept.add(name) for name in USERS}
    with Fleet(tmp_path, env, sessions=2) as fleet:
        fleet.start(1)
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        one, two = Server(env, tmp_path / "one"), Server(env, tmp_path / "two")
        at = SecretStr(database)
        yield Two(one, tokens, database=at), Two(two, tokens, database=at)
        left = [server.stop() for server in (one, two)]
    assert "Traceback" not in one.log() + two.log() + fleet.logs()
    assert left == [130, 130]


@pytest.fixture
async def asked_one(servers: tuple[Two, Two], world: World, searx: Searx) -> AsyncIterator[Two]:
    """Anna has a session that is done and one that runs; both began at the first server."""
    one, two = servers
    one.page = world.put("archive", f"/{WORD}", PAGE)
    searx.script(WORD, [one.page])
    async with one.client("anna") as anna:
        note = {"files": ("note.md", f"# Note\n\nThe {WORD} is mine.\n".encode())}
        one.done = two.done = await asked(anna, QUESTION, files=note)
        assert WORD in (await report(anna, one.done)).text
        world.hang_everything = True
        one.runs = two.runs = await asked(anna, f"Where does the {WORD} grow?")
        yield one
        stopped = await anna.post(f"/s/{one.runs}/cancel", data={"csrf": await csrf_of(anna)})
        assert stopped.status_code == 303, "it still runs"


def ours(two: Two, one: Two) -> Two:
    """The second server, which knows the pages that the first has on its disk."""
    two.page = one.page
    two.hashes = one.hashes  # type: ignore[method-assign]
    return two


@pytest.mark.timeout(300)
async def test_sixty_tries_at_each_of_two_servers(servers: tuple[Two, Two], asked_one: Two) -> None:
    one, two = servers
    for server in (ours(two, one), one):
        tries = [*await look(server), *await act(server), *await speak(server)]
        assert len(tries) >= 60
        assert [where for where, answer in tries if WORD in answer] == []
    async with two.client("anna") as anna:  # what is hers is hers at every door of either
        assert WORD in (await anna.get("/")).text
        assert WORD in (await anna.get(f"/s/{one.done}/report.json")).text
        async with with_token(f"{two.server.url}/mcp", two.tokens["anna"]) as by_mcp:
            told = await call(by_mcp, "get_session_data", session_id=one.done, part="report")
            assert WORD in told


@pytest.mark.timeout(300)
async def test_a_token_revoked_at_one_server_is_refused_by_the_other(
    servers: tuple[Two, Two],
) -> None:
    one, two = servers
    async with two.client("bob") as bob, two.client("carol") as carol:
        assert (await bob.get("/")).status_code == 200
        one.kept.revoke("bob")
        assert (await bob.get("/")).status_code == 401
        assert (await carol.get("/")).status_code == 200


@pytest.mark.timeout(300)
async def test_a_chat_goes_on_at_another_server_for_who_began_it_alone(
    servers: tuple[Two, Two],
) -> None:
    one, two = servers
    first, again = ({"role": "user", "content": text} for text in ("What is it?", "How high?"))
    body: dict[str, Any] = {"model": "spadework-quick", "messages": [first]}
    async with one.client("anna") as asking, two.client("anna") as anna, two.client("bob") as bob:
        told = (await asking.post("/v1/chat/completions", json=body)).json()
        body["messages"] = [first, told["choices"][0]["message"], again]
        for client, user in ((bob, "bob"), (anna, "anna")):
            answer = (await client.post("/v1/chat/completions", json=body)).json()
            home = two.server.home / "users" / user
            kept = read_metadata(session_folder(home, answer["spadework"]["session_id"]))
            assert kept.follows == (told["spadework"]["session_id"] if user == "anna" else "")


async def test_nobody_is_let_in_while_the_database_is_away(
    world: World, searx: Searx, tmp_path: Path
) -> None:
    with Postgres() as own:
        address = own.database()
        env = {**world.env, **searx.env, "SPADEWORK_DATABASE_URL": address}
        token = Tokens(tmp_path, SecretStr(address)).add("anna")
        (tmp_path / "one").mkdir()
        server = Server(env, tmp_path / "one")
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as anna:
            assert (await anna.get("/")).status_code == 200
            own.stop()
            refused = await anna.get("/")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert "database" in refused.text
            assert (await anna.get("/healthz")).status_code == 200
            ready = await anna.get("/readyz")
            assert (ready.status_code, ready.text) == (503, "The database does not answer.\n")
            own.start()

            async def again() -> bool:
                return (await anna.get("/")).status_code == 200

            await eventually(again)
        server.stop()


def test_users_of_one_machine_keep_the_door_closed_when_a_database_is_named(
    database: str, tmp_path: Path
) -> None:
    Tokens(tmp_path).add("anna")
    assert Tokens(tmp_path, SecretStr(database)).any_user
    assert not Tokens(tmp_path / "other", SecretStr(database)).any_user

"""Two users of a server over the test world, without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.sessions.users import Tokens
from tests.apps.people.two_users import PAGE, QUESTION, WORD, Two, asked, report
from tests.apps.web.server import Server
from tests.world.searx import Searx
from tests.world.sites import World


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

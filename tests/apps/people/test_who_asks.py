"""What tokens and proxies say of who asks."""

from __future__ import annotations

import httpx
import pytest

from spadework.sessions.users import Tokens
from tests.apps.mcp.serving import with_token
from tests.apps.people.two_users import WORD, Two, call

pytestmark = pytest.mark.process

_PATHS = ("/settings", "/metrics", "/", "/mcp")


async def test_what_a_token_is_for(served: Two) -> None:
    async with served.client("reader") as reader:
        assert (await reader.get("/")).status_code == 200
        refused = await reader.post("/ask", data={"question": "What is the Quillon?"})
        assert (refused.status_code, refused.text) == (
            403,
            "Your token does not have the scope ask, required for this request.\n",
        )
        assert (await reader.get("/settings")).status_code == 403
        assert (await reader.get("/metrics")).status_code == 403
    async with served.client("asker") as asker:
        assert (await asker.get("/")).status_code == 403
    async with served.client("watch") as watch:
        seen = {path: (await watch.get(path)).status_code for path in _PATHS}
        assert seen == {"/settings": 200, "/metrics": 200, "/": 403, "/mcp": 403}
    url = f"{served.server.url}/mcp"
    async with with_token(url, served.tokens["reader"]) as reader_by_mcp:
        said = await call(reader_by_mcp, "serp_search", query="petals")
        assert "needs the scope ask" in said
    async with with_token(url, served.tokens["asker"]) as asker_by_mcp:
        said = await call(asker_by_mcp, "get_session_data", session_id="latest")
        assert "needs the scope read" in said


async def test_who_may_only_read_is_offered_nothing_else(two: Two) -> None:
    async with two.client("anna") as anna, two.client("reader") as reader:
        for path in ("/", f"/s/{two.done}"):
            hers, read = [(await one.get(path)).text for one in (anna, reader)]
            assert ('method="post"' in hers, 'method="post"' in read) == (True, False), path
            assert WORD in read
            assert ("New question" in hers, "New question" in read) == (True, False), path
            assert "/settings" not in hers + read, "for administrators"


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
        assert (await nobody.get("/healthz")).text == "ok\n", "told to everybody"
        assert (await nobody.get("/readyz")).text == "ready\n"
        assert (await nobody.get("/metrics")).status_code == 401, "also on this machine"
    Tokens(served.server.home).revoke("bob")
    async with served.client("bob") as bob:
        assert (await bob.get("/")).status_code == 401, "at once"

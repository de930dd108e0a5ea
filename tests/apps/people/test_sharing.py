"""Sessions that are shared: looked at by those they are shared with, and by nobody else; changed by
their owner alone.
"""

from __future__ import annotations

import re

import httpx

from spadework.sessions.people.tokens import Tokens
from tests.apps.mcp.serving import with_token
from tests.apps.people.two_users import WORD, Two, ask, call


async def csrf_of(client: httpx.AsyncClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', (await client.get("/")).text)
    assert found
    return found[1]


async def share(client: httpx.AsyncClient, session: str, names: str) -> int:
    data = {"csrf": await csrf_of(client), "names": names}
    return (await client.post(f"/s/{session}/share", data=data)).status_code


def ways(two: Two) -> list[str]:
    session = f"/s/{two.done}"
    [first, *_] = two.hashes()
    return [session, f"{session}/report.md", f"{session}/events", f"{session}/pages/{first}"]


async def seen(client: httpx.AsyncClient, two: Two) -> set[int]:
    return {(await client.get(path)).status_code for path in ways(two)}


async def test_a_session_is_seen_by_whom_it_is_shared_with(two: Two) -> None:
    two.tokens["carol"] = Tokens(two.server.home).add("carol")
    async with two.client("anna") as anna, two.client("bob") as bob, two.client("carol") as carol:
        assert "Share" in (await anna.get(f"/s/{two.done}")).text
        assert await share(anna, two.done, "Bob, dora") == 303
        assert [await seen(one, two) for one in (bob, carol)] == [{200}, {404}]
        page = (await bob.get(f"/s/{two.done}")).text
        assert "Shared by anna." in page
        assert f"/s/{two.done}/share" not in page
        assert f"/s/{two.done}/delete" not in page
        assert "Follow up" not in page
        home = (await bob.get("/")).text
        assert WORD in home, "in the list of what is shared"
        assert WORD not in (await carol.get("/")).text
        async with with_token(f"{two.server.url}/mcp", two.tokens["bob"]) as by_mcp:
            told = await call(by_mcp, "get_session_data", session_id=two.done, part="report")
            assert WORD in told
            latest = await call(by_mcp, "get_session_data", session_id="latest")
            assert WORD not in latest
        await share(anna, two.done, "everyone")
        assert [await seen(one, two) for one in (bob, carol)] == [{200}, {200}]
        await share(anna, two.done, "")
        assert [await seen(one, two) for one in (bob, carol)] == [{404}, {404}]
        assert await seen(anna, two) == {200}


async def test_who_may_look_at_a_session_can_change_nothing_of_it(two: Two) -> None:
    async with two.client("anna") as anna, two.client("bob") as bob:
        await share(anna, two.done, "bob")
        csrf = await csrf_of(bob)
        for what in ("resume", "delete", "share", "stop", "cancel", "answer"):
            data = {"csrf": csrf, "names": "everyone"}
            answer = await bob.post(f"/s/{two.done}/{what}", data=data)
            assert answer.status_code in (404, 409), what
        assert (await ask(bob, "How high?", follows=two.done)).status_code == 404
        for name in ("follows", "session_id"):
            async with with_token(f"{two.server.url}/mcp", two.tokens["bob"]) as by_mcp:
                said = await call(by_mcp, "agentic_search", query="How high?", **{name: two.done})
                assert "There is no session" in said
        # What is shared of a session ends with it.
        deleted = await anna.post(f"/s/{two.done}/delete", data={"csrf": await csrf_of(anna)})
        assert deleted.status_code == 303
        assert (await bob.get(f"/s/{two.done}")).status_code == 404
        assert WORD not in (await bob.get("/")).text

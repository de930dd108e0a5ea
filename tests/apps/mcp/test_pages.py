"""The tools that gather pages: they read as a run does, in a browser where that is needed, and
leave a session that can be opened.
"""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest
from mcp import Client

from spadework.sessions.storage.files import read_metadata, read_result
from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from tests.apps.mcp.serving import given, over_http, over_stdio, served, text, tokens, until
from tests.apps.process import Terminal
from tests.tools.fetch.browsing import needs_chromium
from tests.world.searx import Searx
from tests.world.sites import World

SCRAPE, GATHER = "advanced_scrape_url", "intelligent_research_with_advanced_scraping"
WORDS = "The lighthouse of Port Aldermere is 41 metres tall and was first lit on 3 October 1887. "
ARTICLE = f"<article><h1>The lighthouse</h1><p>{WORDS * 4}</p></article>"


def made_by_a_script(html: str) -> str:
    return (
        "<title>The lighthouse</title><div id=root></div><script>setTimeout(() =>"
        f" root.innerHTML = {html}, 100)</script>"
    )


#: What only a browser shows.
PAGE = made_by_a_script(json.dumps(ARTICLE))


@pytest.fixture(params=[pytest.param("stdio", marks=pytest.mark.full), "http"])
def connected(
    request: pytest.FixtureRequest, env: dict[str, str], settings: Settings
) -> AbstractAsyncContextManager[Client]:
    return over_stdio(env) if request.param == "stdio" else over_http(settings)


async def test_a_page_that_needs_a_browser_is_read_in_one_and_its_session_can_be_opened(
    connected: AbstractAsyncContextManager[Client], settings: Settings, world: World, tmp_path: Path
) -> None:
    needs_chromium()
    async with connected as client:
        url = world.put("archive", "/made", PAGE)
        answer = await client.call_tool(SCRAPE, {"url": url}, read_timeout_seconds=60)
        read = given(answer)
        assert (read["level"], read["url"]) == (2, url)
        assert WORDS.strip() in read["markdown"]
        session_id = read["session_id"]
        assert session_id in text(answer)
        stored = {"session_id": session_id, "part": "page", "page": "1"}
        assert WORDS.strip() in given(await client.call_tool("get_session_data", stored))["text"]
        [report] = (await client.read_resource(f"spadework://sessions/{session_id}")).contents
        assert url in report.text
        shown = Terminal({}, tmp_path).run("sessions", "show", session_id)
        assert shown[0] == 0
        assert url in shown[1]
        folder = settings.home / "sessions" / session_id
        [work] = folder.glob("search_workproduct_*.md")
        assert url.rpartition("/")[2] in work.read_text()


@pytest.mark.full
async def test_gathering_opens_a_browser_where_a_page_needs_one(
    settings: Settings, searx: Searx, world: World
) -> None:
    needs_chromium()
    url = world.put("archive", "/made", PAGE)
    searx.script("lighthouse", [url])
    async with over_http(settings) as client:
        data = given(await client.call_tool(GATHER, {"query": "lighthouse"}))
    assert [(page["url"], page["level"]) for page in data["pages"]] == [(url, 2)]
    assert WORDS.strip() in data["pages"][0]["content"]


async def test_gathering_leaves_a_session_with_what_was_searched_and_read(
    settings: Settings, searx: Searx, world: World
) -> None:
    told: list[str] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    good = world.put("forum", "/keeper", f"<main><h1>Keeper</h1><p>{WORDS * 4}</p></main>")
    bad = world.put("blog", "/gone", "", status=404)
    searx.script("keeper", [bad, good])
    async with over_http(settings) as client:
        data = given(
            await client.call_tool(
                GATHER, {"query": "keeper of the lamp"}, progress_callback=on_progress
            )
        )
        listed = {str(one.uri) for one in (await client.list_resources()).resources}
        page = await client.read_resource(f"spadework://sessions/{data['session_id']}/pages/1")
    [metadata] = list_sessions(settings.home)
    assert (metadata.id, metadata.kind, metadata.status) == (
        data["session_id"],
        "gather",
        "completed",
    )
    assert listed == {f"spadework://sessions/{metadata.id}"}
    assert WORDS.strip() in page.contents[0].text
    folder = settings.home / "sessions" / metadata.id
    result = read_result(folder)
    assert result is not None
    assert [source.url for source in result.sources] == [good]
    assert [problem.subject for problem in result.problems] == [bad]
    [work] = folder.glob("search_workproduct_*.md")
    assert "keeper of the lamp" in work.read_text()
    assert "1 page read" in told, "what failed is no page that was read"
    assert not any("Round" in message for message in told)


async def test_what_lies_under_the_threshold_waits_for_what_does_not(
    settings: Settings, searx: Searx, world: World
) -> None:
    fit, unfit = (
        world.put("forum", f"/{name}", f"<main><h1>{name}</h1><p>{WORDS * 4}</p></main>")
        for name in ("quillon-dial", "elsewhere")
    )
    searx.script("quillon", [*(f"{unfit}?{n}" for n in range(9)), fit])
    async with over_http(settings.with_(preset="precise")) as client:
        hits = given(await client.call_tool("serp_search", {"query": "quillon dial"}))["hits"]
        data = given(await client.call_tool(GATHER, {"query": "quillon dial", "max_pages": 1}))
    best = max(hits, key=lambda hit: hit["relevance"] >= 0.5)
    assert [page["url"] for page in data["pages"]] == [best["url"]]


async def test_a_call_that_is_cancelled_leaves_a_session_that_says_so(
    settings: Settings, searx: Searx, world: World
) -> None:
    read = world.put("forum", "/first", f"<main><h1>First</h1><p>{WORDS * 4}</p></main>")
    world.hanging = {"archive"}
    searx.script("harbour", [read, world.url("archive", "/second")])

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        if "1 page read" in (message or ""):
            group.cancel_scope.cancel()

    async with served(settings) as url, Client(url) as client:
        async with anyio.create_task_group() as group:
            call = {"query": "harbour", "max_pages": 2}
            group.start_soon(lambda: client.call_tool(GATHER, call, progress_callback=on_progress))
        [session] = list_sessions(settings.home)
        folder = settings.home / "sessions" / session.id
        await until(lambda: read_result(folder))
        asked = {"session_id": session.id, "part": "sources"}
        data = given(await client.call_tool("get_session_data", asked))
    assert data["state"] == "partial"
    assert [row["url"] for row in data["rows"]] == [read]
    assert read_metadata(folder).status == "partial"


async def test_a_long_page_is_read_on_in_its_session_without_being_fetched_anew(
    settings: Settings, world: World
) -> None:
    paragraphs = "".join(f"<p>Night {n}. {WORDS}</p>" for n in range(90))
    url = world.put("blog", "/long", f"<main><h1>Long</h1>{paragraphs}</main>")
    async with over_http(settings) as client:
        first = given(await client.call_tool(SCRAPE, {"url": url, "max_chars": 500}))
        world.put("blog", "/long", "", status=404)
        more = {"url": url, "offset": first["next_offset"], "max_chars": 500}
        second = given(await client.call_tool(SCRAPE, more))
    assert second["session_id"] == first["session_id"]
    assert second["offset"] == first["next_offset"]
    assert len(world.asked("blog", "/long")) == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (SCRAPE, {"url": ""}),
        (GATHER, {"query": "Port Aldermere lighthouse"}),
        ("serp_search", {"query": "Port Aldermere lighthouse"}),
    ],
)
async def test_a_client_may_ask_for_a_text_that_is_json(
    settings: Settings, world: World, tool: str, arguments: dict[str, str]
) -> None:
    if "url" in arguments:
        arguments = {"url": world.put("blog", "/lamp", ARTICLE)}
    async with over_http(settings) as client:
        answer = await client.call_tool(tool, {**arguments, "as_json": True})
    assert json.loads(text(answer)) == given(answer)
    assert tokens(answer) <= 20_000

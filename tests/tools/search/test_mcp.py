"""Search tools of MCP servers are providers, over standard input and output and over HTTP, and no
server outlives its session.
"""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from spadework.errors import QuotaSpent, SearchError, SettingsError
from spadework.settings import Settings
from spadework.tools.search.mcp_tool import McpSearch, mcp_searches
from spadework.tools.search.provider_choice import choose
from spadework.tools.search.result_rows import find_links
from spadework.values import Hit, Query
from tests.hostile.attack import Assault
from tests.hostile.front import Front
from tests.tools.search.mcp_servers import LABELLED, MARKDOWN, command, over_http
from tests.world.processes import children

ASKED = Query(text="census Port Aldermere")
ROOT = Path(__file__).resolve().parents[3]


def servers() -> list[psutil.Process]:
    return children("tests.tools.search.mcp_servers")


@asynccontextmanager
async def searching(tool: str, where: str) -> AsyncIterator[McpSearch]:
    provider = McpSearch(tool, where)
    try:
        yield provider
    finally:
        await provider.close()
        assert servers() == []


async def ask(
    provider: McpSearch, query: Query = ASKED, limit: int = 5, seconds: float = 20
) -> list[Hit]:
    return await provider.search(query, limit=limit, seconds=seconds)


@pytest.mark.parametrize(
    "tool", ["structured", "listed", "as_json", "markdown", "labelled", "links"]
)
async def test_results_of_every_usual_shape_are_hits(tool: str):
    async with over_http() as url, searching(tool, url) as provider:
        one, two = await ask(provider)
        assert len(await ask(provider, limit=1)) == 1
    assert [(hit.url, hit.position, hit.provider) for hit in (one, two)] == [
        ("https://news.example/census", 1, "mcp"),
        ("https://history.example/harbour", 2, "mcp"),
    ]
    assert (one.title, two.title) == ("Census of Port Aldermere", "History")
    if tool != "links":
        assert ("48,210" in one.snippet or tool == "labelled", two.snippet) == (
            True,
            "Opened in 1932.",
        )
    assert one.published_at == (
        datetime(2026, 3, 4, tzinfo=UTC) if tool in ("structured", "listed", "as_json") else None
    )


async def test_over_standard_input_and_output_one_process_serves_all_searches():
    async with searching("echo", f"HARBOUR_KEY=k3y {command()}") as provider:
        first, second = await asyncio.gather(
            ask(provider, limit=7),
            ask(provider, Query(text="x", exclude_domains=("b.example",)), limit=7),
        )
        assert len(servers()) == 1
    assert first[0].url == second[0].url
    assert (first[0].title, second[0].title) == (ASKED.text, "x -site:b.example")
    assert "/7/" in first[0].url
    assert first[0].url.endswith("/k3y")


async def test_a_server_that_prints_between_its_answers_is_used_all_the_same():
    async with searching("listed", command("noisy")) as provider:
        for _ in range(2):
            assert [hit.title for hit in await ask(provider)] == [
                "Census of Port Aldermere",
                "History",
            ]
        assert len(servers()) == 1


async def test_nothing_found_is_no_failure():
    async with over_http() as url, searching("nothing", url) as provider:
        assert await ask(provider) == []


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("refuses", r"mcp answered with an error: Error 429: rate limit exceeded\."),
        ("breaks", r"mcp answered with an error"),
        ("alta", r"mcp has no tool 'alta'; its tools: structured, listed"),
        ("counts", r"mcp has no parameter that could be a query\."),
    ],
)
async def test_a_failure_says_what_failed(tool: str, words: str):
    async with over_http() as url, searching(tool, url) as provider:
        with pytest.raises(SearchError, match=words) as caught:
            await ask(provider)
    assert isinstance(caught.value, QuotaSpent) is (tool == "refuses")


@pytest.mark.parametrize(
    "where",
    [
        "http://127.0.0.1:9/mcp",
        "no-such-command --flag",
        *(pytest.param(end, marks=pytest.mark.full) for end in ("true", "false")),
    ],
)
async def test_a_server_that_is_not_there_is_an_error(where: str):
    async with searching("structured", where) as provider:
        for _ in range(2):
            with pytest.raises(
                SearchError,
                match=r"^mcp (could not be reached: [\w ,]+|did not answer within \d+ s)\.$",
            ):
                await ask(provider, seconds=5)


@pytest.mark.timed
@pytest.mark.parametrize(
    "where",
    [
        command(),
        *(pytest.param(command(how), marks=pytest.mark.full) for how in ("stubborn", "mute")),
    ],
)
async def test_a_server_that_hangs_is_cut_at_the_deadline_and_its_process_ends_with_the_session(
    where: str,
):
    async with searching("hangs", where) as provider:
        before = time.monotonic()
        with pytest.raises(SearchError, match="mcp did not answer within 1 s"):
            await ask(provider, seconds=1)
        assert time.monotonic() - before < 2


@pytest.mark.full
async def test_a_session_that_is_cancelled_while_it_closes_leaves_no_process():
    provider = McpSearch("structured", command("stubborn"))
    assert await ask(provider)
    closing = asyncio.create_task(provider.close())
    await asyncio.sleep(0.05)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert servers() == []


#: A program whose event loop ends while a connection closes, and says how many servers are left.
ENDS = """
import asyncio
from spadework.tools.search.mcp_tool import McpSearch
from tests.tools.search import test_mcp

async def run():
    provider = McpSearch("structured", test_mcp.command("stubborn"))
    assert await test_mcp.ask(provider)
    closing = asyncio.create_task(provider.close())
    await asyncio.wait({closing}, timeout=0.05)

asyncio.run(run())
print(len(test_mcp.servers()))
"""


@pytest.mark.process
async def test_an_event_loop_that_ends_while_a_connection_closes_leaves_no_process():
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ENDS, cwd=ROOT, stdout=PIPE
    )
    async with asyncio.timeout(20):
        said, _ = await running.communicate()
    assert said == b"0\n"


async def test_a_server_that_died_is_started_again():
    async with searching("dies", command()) as provider:
        with pytest.raises(SearchError, match="mcp could not be searched"):
            await ask(provider)
        provider._tool = "structured"
        provider._asking = None
        assert len(await ask(provider)) == 2


async def test_the_settings_name_the_tools(no_keys: None):
    settings = Settings.load(mcp_search=f"structured @ {command()}; echo@http://127.0.0.1:9/mcp")
    choice = await choose(settings, None)  # type: ignore[arg-type]
    assert [provider.name for provider in choice.providers] == ["mcp", "mcp-2"]
    assert choice.providers[0].describes == "the sources of the MCP tool structured"
    search = choice.search(settings)
    assert len(await search.ask(search.providers[0], ASKED, limit=5, seconds=20)) == 2
    await search.close()
    assert servers() == []


@pytest.mark.parametrize(
    "setting",
    ["https://x.example/mcp?key=k3y", "tool @ ", "to ol @ k3y", "tool @ KEY=k3y", 'tool @ "k3y'],
)
def test_what_cannot_be_read_is_a_settings_error_without_its_secrets(setting: str):
    with pytest.raises(SettingsError, match="mcp_search is not valid") as caught:
        mcp_searches(setting)
    assert "k3y" not in str(caught.value)


async def test_a_tool_that_is_not_named_cannot_be_searched():
    with pytest.raises(SettingsError, match="Set SPADEWORK_MCP_SEARCH"):
        await choose(Settings.load(search="mcp"), None)  # type: ignore[arg-type]


def test_links_of_a_text_come_with_their_words():
    assert [(row.url, row.title) for row in find_links(MARKDOWN)] == [
        (row.url, row.title) for row in find_links(LABELLED)
    ]
    assert (
        find_links("See https://a.example/x. And https://a.example/x again.")[0].url
        == "https://a.example/x"
    )
    assert find_links("no address") == []


@pytest.mark.process
async def test_what_a_server_says_beside_its_answers_is_not_for_standard_error():
    code = (
        "import asyncio, sys\n"
        "from spadework.errors import SearchError\n"
        "from spadework.tools.search.mcp_tool import mcp_searches\n"
        "from spadework.values import Query\n"
        "async def main():\n"
        "    [found] = mcp_searches('structured @ ' + sys.argv[1])\n"
        "    try:\n"
        "        await found.search(Query(text='harbour'), limit=3, seconds=20)\n"
        "    except SearchError as error:\n"
        "        print(error)\n"
        "    await found.close()\n"
        "asyncio.run(main())"
    )
    async with attacked("another shape") as url:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code, url), stdout=PIPE, stderr=PIPE
        )
        said, errors = await process.communicate()
    assert said.startswith(b"mcp could not be reached") and errors == b""


@asynccontextmanager
async def attacked(fault: str) -> AsyncIterator[str]:
    """The address of a server that does this to all who ask it."""
    front = Front(
        "", {"/": Assault(share=1.0, faults=(fault,))}, ("127.0.0.1", 9), "application/json"
    )
    async with await asyncio.start_server(front, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"

"""Search with an MCP server's tool over a connection that stays open."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import psutil

from spadework.errors import QuotaSpent, SearchError, SettingsError
from spadework.tools.search.provider import held_to, tells_of_quota
from spadework.tools.search.result_rows import (
    Row,
    find_links,
    find_list,
    number_rows,
    row,
    with_sites,
)
from spadework.tools.text.language import ENGLISH
from spadework.tools.web.background_threads import ended_by, kill_group
from spadework.values import Hit, Query

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client
    from mcp_types import CallToolResult


T = TypeVar("T")
#: Maps the names of error classes to causes. Names are used because the MCP client's classes are
#: imported only on demand.
_CAUSES = {
    "FileNotFoundError": "there is no such program",
    "PermissionError": "its program is not allowed to run",
    "ConnectError": "nothing answers at its address",
    "MCPError": "it ended, or is not an MCP server",
}
#: Seconds to wait for the connection to close. The client needs up to seven seconds to kill the
#: server's process and its child processes.
CLOSE_SECONDS = 10.0
_MARK = "SPADEWORK_MCP_CONNECTION"
#: Keeps the MCP client from printing its errors to standard error, because they are also raised as
#: exceptions.
_UNHEARD = logging.NullHandler()


class Connection:
    """A client of the server at `where`, opened on first use. It runs in a dedicated task, because
    context managers must exit in the task that entered them.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._ready: asyncio.Future[Client] | None = None
        self._closing = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: Tasks that were already cancelled. A second cancellation would end the client before it
        #: has killed the server's process.
        self._was_cut: set[asyncio.Task[None]] = set()

    async def use(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Run `work` with the client. After a failure, the next use reconnects."""
        if self._ready is None:
            self._ready, self._closing = asyncio.get_running_loop().create_future(), asyncio.Event()
            self._serving = asyncio.create_task(_serve(self._where, self._ready, self._closing))
            self._tasks.add(self._serving)
            self._serving.add_done_callback(partial(self._ended, self._ready))
        ready = self._ready
        client = await asyncio.shield(ready)
        try:
            return await work(client)
        except Exception:
            self._drop(ready)
            raise

    async def close(self) -> None:
        """Close the connection and end the server's process. Wait for both, even if cancelled."""
        cancelled: asyncio.CancelledError | None = None
        self._drop(self._ready)
        cut = asyncio.get_running_loop().call_later(CLOSE_SECONDS, lambda: self._cut(self._tasks))
        while self._tasks:
            try:
                await asyncio.wait(self._tasks)
            except asyncio.CancelledError as error:
                cancelled = error
        cut.cancel()
        if cancelled:
            raise cancelled

    def _drop(self, ready: asyncio.Future[Client] | None) -> None:
        if ready is None or ready is not self._ready:
            return
        self._ready = None
        self._closing.set()
        if not ready.done() and self._serving:
            self._cut({self._serving})

    def _cut(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        for task in set(tasks) - self._was_cut:
            self._was_cut.add(task)
            task.cancel()

    def _ended(self, ready: asyncio.Future[Client], task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._was_cut.discard(task)
        error = None if task.cancelled() else task.exception()
        if not ready.done():
            why = _innermost(error) if error else "it was closed"
            ready.set_exception(SearchError(f"could not be reached: {why}"))
            ready.exception()  # mark it as retrieved even if nobody waits for it
        if ready is self._ready:
            self._ready = None


async def _serve(where: str, ready: asyncio.Future[Client], closing: asyncio.Event) -> None:
    async with _client(where) as client:
        if not ready.done():
            ready.set_result(client)
        await closing.wait()


@asynccontextmanager
async def _client(where: str) -> AsyncIterator[Client]:
    from mcp import Client  # importing takes 0.1 s
    from mcp.client.stdio import StdioServerParameters, stdio_client

    for name in ("mcp", "client"):  # loggers of the client
        logging.getLogger(name).addHandler(_UNHEARD)
    if is_address(where):
        async with Client(where) as client:
            yield client
        return
    env, command = command_of(where)
    mark = uuid4().hex
    with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230, PTH123 - what a server says on standard error is nobody's
        env[_MARK] = mark
        started = StdioServerParameters(command=command[0], args=command[1:], env=env)
        guard = asyncio.create_task(_guard(mark))
        try:
            with ended_by(partial(_kill, mark)):
                async with Client(stdio_client(started, errlog=nowhere)) as client:
                    yield client
        finally:
            guard.cancel()


async def _guard(mark: str) -> None:
    """Kill the server at once when this task is cancelled, for example when the event loop ends."""
    try:
        await asyncio.Event().wait()
    finally:
        _kill(mark)


def _kill(mark: str) -> None:
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if child.environ().get(_MARK) == mark:
                kill_group(child)


def is_address(where: str) -> bool:
    """Return whether `where` is an address rather than a command line."""
    return where.lower().startswith(("http://", "https://"))


def command_of(where: str) -> tuple[dict[str, str], list[str]]:
    """Split a command into environment variables and words. Raises SettingsError without words."""
    try:
        words = shlex.split(where)
    except ValueError:
        words = []
    env: dict[str, str] = {}
    while words and words[0].partition("=")[0].isidentifier() and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    if not words:
        raise SettingsError(
            "mcp_search is not valid: each @ must be followed by the address of an MCP server or"
            " the command that starts it."
        )
    return env, words


def _innermost(error: BaseException) -> str:
    """Describe the innermost error by its type, because its message may contain a key."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    names = [kind.__name__ for kind in type(error).__mro__]
    return next((words for kind, words in _CAUSES.items() if kind in names), names[0])


#: Common parameter names of search tools, most common first.
# fmt: off
_QUERY = (
    "query", "q", "search_query", "searchquery", "search_term", "keywords", "question", "text",
    "input",
)
_LIMIT = (
    "max_results", "limit", "count", "num_results", "numresults", "num", "top_k", "k", "n", "size",
)
# fmt: on
_WORDS_CHARS = 200


@dataclass(frozen=True)
class _Asking:
    query: str
    limit: str = ""
    most: int = 100


class McpSearch:
    """A provider that searches by calling `tool` on the MCP server at `where`."""

    def __init__(self, tool: str, where: str, name: str = "mcp") -> None:
        self.name = name
        self.describes = ENGLISH("scope_sources", tool=f"the MCP tool {tool}")
        self._tool = tool
        self.where = where if is_address(where) else ""
        self._connection = Connection(where)
        self._asking: _Asking | None = None

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the tool's results that have a web address or text."""

        async def work(client: Client) -> CallToolResult:
            asking = self._asking = self._asking or await self._how(client)
            arguments: dict[str, Any] = {asking.query: with_sites(query)}
            if asking.limit:
                arguments[asking.limit] = min(limit, asking.most)
            return await client.call_tool(self._tool, arguments)

        async with held_to(self.name, seconds):
            try:
                answer = await self._connection.use(work)
            except SearchError as error:
                raise SearchError(f"{self.name} {error}.") from None
        return number_rows(self._rows(answer), self.name, query, limit)

    async def close(self) -> None:
        """Close the connection and the server's process."""
        await self._connection.close()

    async def _how(self, client: Client) -> _Asking:
        page = await client.list_tools(cursor=None)
        tools = page.tools
        while page.next_cursor:
            page = await client.list_tools(cursor=page.next_cursor)
            tools += page.tools
        found = next((tool for tool in tools if tool.name == self._tool), None)
        if found is None:
            there = ", ".join(tool.name for tool in tools)[:200] or "none"
            raise SearchError(f"has no tool {self._tool[:80]!r}; its tools: {there}")
        return _choose_parameters(found.input_schema)

    def _rows(self, answer: CallToolResult) -> list[Row]:
        texts = [part.text for part in answer.content if part.type == "text"]
        if answer.is_error:
            raise self._failed(texts)
        links = [part for part in answer.content if part.type == "resource_link"]
        resources = [Row(str(one.uri), one.title or one.name, one.description) for one in links]
        candidates = [answer.structured_content, *texts]
        found = [results for results in map(find_list, candidates) if results is not None]
        if found:
            return [row(result) for result in found[0]] + resources
        rows = resources + [link for text in texts for link in find_links(text)]
        if not rows and tells_of_quota(" ".join(texts)):
            raise self._failed(texts)
        return rows

    def _failed(self, texts: list[str]) -> SearchError:
        words = " ".join(" ".join(texts).split())[:_WORDS_CHARS].rstrip(".")
        kind = QuotaSpent if tells_of_quota(words) else SearchError
        return kind(f"{self.name} answered with an error{': ' * bool(words)}{words}.")


def mcp_searches(setting: str) -> list[McpSearch]:
    """Return the providers in a setting such as `TOOL @ ADDRESS; TOOL @ COMMAND`. Raises
    SettingsError if the setting is invalid. The message omits the text after @, which might
    contain a key.
    """
    made: list[McpSearch] = []
    for n, one in enumerate(filter(None, (part.strip() for part in setting.split(";"))), 1):
        tool, at, where = (part.strip() for part in one.partition("@"))
        if not at or not re.fullmatch(r"[\w./-]{1,128}", tool):
            raise SettingsError(
                f"Part {n} of mcp_search is not valid. Write TOOL @ ADDRESS, or TOOL @"
                " COMMAND LINE."
            )
        if not is_address(where):
            command_of(where)
        made.append(McpSearch(tool, where, "mcp" if n == 1 else f"mcp-{n}"))
    return made


def _choose_parameters(schema: Mapping[str, Any]) -> _Asking:
    given = schema.get("properties")
    properties: dict[str, Any] = given if isinstance(given, dict) else {}
    known = {name.lower(): name for name in properties}
    needed = [(name, properties.get(name)) for name in schema.get("required", [])]
    kinds = [(name, kind) for name, kind in needed if isinstance(kind, dict)]
    texts = [name for name, kind in kinds if kind.get("type") == "string"]
    only = texts[0] if len(texts) == 1 else ""
    query = next((known[name] for name in _QUERY if name in known), only)
    if not query:
        raise SearchError("has no parameter that could be a query")
    limit = next((known[name] for name in _LIMIT if name in known), "")
    told = properties.get(limit)
    most = told.get("maximum") if isinstance(told, dict) else None
    return _Asking(query, limit, int(most) if isinstance(most, int | float) else 100)

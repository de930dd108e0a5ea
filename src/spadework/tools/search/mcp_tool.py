"""A search tool of an MCP server as a provider, and its connection."""

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

from spadework.child_processes import ended_by
from spadework.errors import QuotaSpent, SearchError, SettingsError
from spadework.tools.search.provider import held_to, tells_of_quota
from spadework.tools.search.result_rows import Row, find_links, find_list, number_rows, row
from spadework.tools.search.search_filters import with_sites
from spadework.tools.web.process_groups import kill_group
from spadework.values import Hit, Query

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client
    from mcp_types import CallToolResult


T = TypeVar("T")
#: What kinds of errors mean before there is a connection. Those of the client are known by their
#: names: it is imported when it is needed.
_CAUSES = {
    "FileNotFoundError": "there is no such program",
    "PermissionError": "its program may not be run",
    "ConnectError": "nobody answers at its address",
    "MCPError": "it ended, or is no MCP server",
}
#: A connection that was told to end is cut after so long. The client itself kills a process that
#: does not end, with all its children, which takes it seven seconds at most, and must not be
#: disturbed while it does.
CLOSE_SECONDS = 10.0
#: The variable by which the process of a connection is known among the children of this one.
_MARK = "SPADEWORK_MCP_CONNECTION"
#: Where what the client says of a server's answers goes, unless who uses us listens to it: not to
#: standard error. What matters of it comes as an error.
_UNHEARD = logging.NullHandler()


class Connection:
    """One client of the server at `where`, opened at first use and again when it broke, in a task
    of its own: its parts must end in the task in which they began, and searches are many.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._ready: asyncio.Future[Client] | None = None
        self._closing = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: A second cancellation would end the client before it has killed its process.
        self._was_cut: set[asyncio.Task[None]] = set()

    async def use(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """What `work` gives with the client; its deadline is the caller's. After a failure the next
        use connects anew.
        """
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
        """End the connection and its process; waits for that however often it is cancelled."""
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
        """Let this client go; one that is not connected yet is cut off."""
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
        """A client is gone: who still waits is told why. No way of failing is an error of ours."""
        self._tasks.discard(task)
        self._was_cut.discard(task)
        error = None if task.cancelled() else task.exception()
        if not ready.done():
            why = _innermost(error) if error else "it was closed"
            ready.set_exception(SearchError(f"could not be connected to: {why}"))
            ready.exception()  # also where nobody waits any more
        if ready is self._ready:
            self._ready = None


async def _serve(where: str, ready: asyncio.Future[Client], closing: asyncio.Event) -> None:
    """Hold a client open until it is to close."""
    async with _client(where) as client:
        if not ready.done():
            ready.set_result(client)
        await closing.wait()


@asynccontextmanager
async def _client(where: str) -> AsyncIterator[Client]:
    from mcp import Client  # a tenth of a second, which only those pay who search with it
    from mcp.client.stdio import StdioServerParameters, stdio_client

    for name in ("mcp", "client"):  # the names of its loggers
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
    """End the process when the event loop ends: its client would wait before killing it."""
    try:
        await asyncio.Event().wait()
    finally:
        _kill(mark)


def _kill(mark: str) -> None:
    """End the process that bears a mark, and what it has started."""
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if child.environ().get(_MARK) == mark:
                kill_group(child)


def is_address(where: str) -> bool:
    """Whether a server is at an address rather than started by a command line."""
    return where.lower().startswith(("http://", "https://"))


def command_of(where: str) -> tuple[dict[str, str], list[str]]:
    """The variables and the words of a command line. Raises SettingsError without a command."""
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
            "mcp_search cannot be read: behind each @ stands the address of an MCP server, or the"
            " command that starts it."
        )
    return env, words


def _innermost(error: BaseException) -> str:
    """Why, by the innermost kind of error; its words may hold a key."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    names = [kind.__name__ for kind in type(error).__mro__]
    return next((words for kind, words in _CAUSES.items() if kind in names), names[0])


#: Names that tools give to what is searched for and to the number of results, the usual ones first.
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
    """How a tool is asked: the names of its parameters, "" for none, and the most it gives."""

    query: str
    limit: str = ""
    most: int = 100


class McpSearch:
    """Searches with `tool` of the MCP server at `where`, address or command, once it is asked."""

    def __init__(self, tool: str, where: str, name: str = "mcp") -> None:
        self.name = name
        self.describes = f"what the MCP tool {tool} searches"
        self._tool = tool
        self.where = where if is_address(where) else ""
        self._connection = Connection(where)
        self._asking: _Asking | None = None

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """What the tool found, results without an address left out. See `Provider.search`."""

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
        """End the connection, and the server's process where there is one."""
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
            raise SearchError(f"has no tool {self._tool[:80]!r}, but {there}")
        return _asking(found.input_schema)

    def _rows(self, answer: CallToolResult) -> list[Row]:
        """The results: structured, JSON in a text, links to resources, or links in a text."""
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
    """The providers of the setting, `TOOL @ ADDRESS or COMMAND; …`: mcp, mcp-2, … Raises
    SettingsError, without what stands behind an @, which may be a key.
    """
    made: list[McpSearch] = []
    for n, one in enumerate(filter(None, (part.strip() for part in setting.split(";"))), 1):
        tool, at, where = (part.strip() for part in one.partition("@"))
        if not at or not re.fullmatch(r"[\w./-]{1,128}", tool):
            raise SettingsError(
                f"mcp_search cannot be read at its part {n}: write TOOL @ ADDRESS, or TOOL @"
                " COMMAND LINE."
            )
        if not is_address(where):
            command_of(where)
        made.append(McpSearch(tool, where, "mcp" if n == 1 else f"mcp-{n}"))
    return made


def _asking(schema: Mapping[str, Any]) -> _Asking:
    """How to ask a tool, from the JSON schema of its input."""
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

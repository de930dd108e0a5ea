"""A search tool of an MCP server as a provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spadework.errors import QuotaSpent, SearchError, SettingsError
from spadework.tools.search.domain_filter import with_sites
from spadework.tools.search.failure import tells_of_quota
from spadework.tools.search.mcp_connection import Connection, command_of, is_address
from spadework.tools.search.provider import held_to
from spadework.tools.search.result_rows import Row, number_rows
from spadework.tools.search.result_shapes import find_links, find_list, row
from spadework.values import Hit, Query

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult

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

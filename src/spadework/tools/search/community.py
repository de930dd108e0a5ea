"""Any search tool or retriever of LangChain as a provider, without importing LangChain."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

from spadework.errors import SearchError
from spadework.tools.search.domain_filter import with_sites
from spadework.tools.search.provider import held_to
from spadework.tools.search.result_rows import number_rows
from spadework.tools.search.result_shapes import find_list, row
from spadework.tools.web.background_threads import aside
from spadework.values import Hit, Query


class LangChainSearch:
    """Searches with a LangChain tool or retriever. One that only blocks has a thread of its own,
    which goes on after the deadline unwaited for; LangChain would take one of the event loop's few.
    """

    def __init__(self, tool_or_retriever: Any, name: str, *, describes: str = "") -> None:
        self.name = name
        self.describes = describes or f"what {name} searches"
        self._source = tool_or_retriever

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """What the tool found, results without an address left out. See `Provider.search`."""
        async with held_to(self.name, seconds):
            try:
                answer = await self._asked(with_sites(query))
            except SearchError as error:  # a foreign tool's words may hold its key, ours or not
                why = f"{self.name} could not be searched: {type(error).__name__}."
                raise SearchError(why) from error
        results = find_list(answer)
        if results is None:
            raise SearchError(f"{self.name} answered without a list of results.")
        return number_rows((row(result) for result in results), self.name, query, limit)

    async def _asked(self, text: str) -> Any:
        if _only_blocks(self._source):
            return await aside(copy_context().run, self._source.invoke, text)
        return await self._source.ainvoke(text)


def _only_blocks(source: Any) -> bool:
    """Whether a tool or retriever has no asynchronous way but LangChain's own around the other."""
    if getattr(source, "coroutine", None) is not None:
        return False
    ways = (getattr(type(source), name, None) for name in ("_arun", "_aget_relevant_documents"))
    return any(way is not None and way.__module__.startswith("langchain_core.") for way in ways)

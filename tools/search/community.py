"""Any search tool or retriever of LangChain as a provider. LangChain itself is not imported: the object brings what is needed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from spadework.errors import SearchError
from spadework.tools.search.rows import Row, numbered
from spadework.values import Hit, Query

#: Under which names, in lower case, tools and retrievers keep what a hit needs, the first that is there counts.
_URL = ("url", "link", "href", "source", "entry id")
_TITLE = ("title", "name")
_SNIPPET = ("snippet", "content", "body", "description", "summary", "page_content")
_DATE = ("published_at", "published_date", "publish_date", "date", "published")


class LangChainSearch:
    """Searches with a LangChain tool or retriever. `name` is one lower-case word.

    A tool that only blocks runs in a thread, which goes on after the deadline until the tool ends by itself.
    """

    def __init__(self, tool_or_retriever: Any, name: str, *, describes: str = "") -> None:
        self.name = name
        self.describes = describes or f"what {name} searches"
        self._source = tool_or_retriever

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """What the tool found, results without an address left out. See `Provider.search`."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self._source.ainvoke(query.text)
        except TimeoutError:
            raise SearchError(f"{self.name} did not answer within {seconds:g} s.") from None
        except Exception as error:  # what a foreign tool raises is not known, and its words may hold its key
            raise SearchError(f"{self.name} could not be searched: {type(error).__name__}.") from error
        return numbered((_row(result) for result in self._results(answer)), self.name, query, limit)

    def _results(self, answer: Any) -> list[Any]:
        """The results in an answer: a list, JSON of one, or an object that holds one under `results`."""
        if isinstance(answer, str):
            answer = _parsed(answer)
        if isinstance(answer, dict):
            answer = answer.get("results")
        if isinstance(answer, list):
            return answer
        raise SearchError(f"{self.name} answered without a list of results.")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _row(result: Any) -> Row:
    """A result, which is a mapping or a Document with its metadata."""
    fields = result if isinstance(result, Mapping) else getattr(result, "metadata", {})
    known = {str(name).lower(): value for name, value in fields.items()} if isinstance(fields, Mapping) else {}
    known.setdefault("page_content", getattr(result, "page_content", ""))
    url, title, snippet, date = (
        next((known[name] for name in names if known.get(name)), None) for names in (_URL, _TITLE, _SNIPPET, _DATE)
    )
    return Row(url, title, snippet, None if date is None else str(date))

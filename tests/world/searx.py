"""A search engine for the world that speaks as SearXNG does: it ranks the world's pages by shared
terms, and fails on demand.

Keys, statuses and habits (`number_of_results` 0, `publishedDate` null where unknown) are those of a
real server with the JSON format.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from tests.world.background import Background, listen
from tests.world.document import Document
from tests.world.ranking import ranked, snippet
from tests.world.reception import asked, attend
from tests.world.record import Asked
from tests.world.sites import World
from tests.world.waits import Silence

HOST = "127.0.1.20"

#: Results on one page of answers; a real server merges 16 to 20.
PAGE = 18

Fault = Literal["forbidden", "limited", "error", "html", "unresponsive", "truncated", "hang"]
_FORBIDDEN = (
    "<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1><p>You don't have the permission"
    " to access this.</p>"
)
_FORM = '<!doctype html><title>SearXNG</title><form action="/search"><input name="q"></form>'
_TIMED_OUT = [
    ["brave", "timeout"],
    ["duckduckgo", "CAPTCHA"],
    ["google", "Suspended: too many requests"],
]


@dataclass
class Failing:
    """A fault that meets the next `times` queries (None: all) which contain `query`."""

    fault: Fault
    times: int | None
    query: str

    def meets(self, query: str) -> bool:
        """True when this query is to fail; counts it."""
        if self.times == 0 or self.query.casefold() not in query.casefold():
            return False
        self.times = None if self.times is None else self.times - 1
        return True


class Searx:
    """The search engine. `delay` is in seconds before every answer; `requests` is the log,
    `queries` what was searched.
    """

    def __init__(self, background: Background, world: World) -> None:
        sock = listen(HOST)
        self.url = "http://{}:{}".format(*sock.getsockname())
        self._world = world
        self.reset()
        background.serve(self, [sock])

    def reset(self) -> None:
        """An empty log, no faults, no scripted answers."""
        self.requests: list[Asked] = []
        self.delay = 0.0
        self._failing: list[Failing] = []
        self._scripts: list[tuple[str, tuple[str, ...]]] = []

    @property
    def env(self) -> dict[str, str]:
        """The environment in which spadework searches here."""
        return {"SEARXNG_URL": self.url}

    @property
    def queries(self) -> list[str]:
        """What was searched, in the order of arrival."""
        return [record.args.get("q", "") for record in self.requests if record.path == "/search"]

    def fail(self, fault: Fault, *, times: int | None = None, query: str = "") -> None:
        """Fail the next `times` queries that contain `query`; without them, all.

        forbidden: 403, the JSON format is off. limited: 429. error: 500. html: a page instead of
        JSON. unresponsive: no results, and the engines that did not answer. truncated: JSON that
        stops half way. hang: no answer.
        """
        self._failing.append(Failing(fault, times, query))

    def script(self, query: str, urls: Sequence[str]) -> None:
        """Answer queries that contain `query` with these URLs, in this order, or with nothing; the
        newest script counts.
        """
        self._scripts.insert(0, (query.casefold(), tuple(urls)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        record = asked("searx", scope)
        self.requests.append(record)
        await attend(record, self._answer, (scope, receive, send))

    async def _answer(self, record: Asked) -> Response:
        await asyncio.sleep(self.delay)
        if record.path == "/healthz":
            return PlainTextResponse("OK")
        if record.path != "/search":
            return HTMLResponse(_FORM, 200 if record.path == "/" else 404)
        query, page = record.args.get("q", ""), int(record.args.get("pageno", 1))
        failing = next((rule for rule in self._failing if rule.meets(query)), None)
        if failing:
            return _FAULTS[failing.fault](self._found(query, page))
        if record.args.get("format") != "json" or not query:
            return HTMLResponse(_FORM, 200 if query else 400)
        return JSONResponse(self._found(query, page))

    def _found(self, query: str, page: int) -> dict[str, Any]:
        pages = {self._world.url(found.site, found.path): found for found in self._world.documents}
        scripted = next((urls for part, urls in self._scripts if part in query.casefold()), None)
        urls = (
            [self._world.url(found.site, found.path) for found in ranked(query, pages.values())]
            if scripted is None
            else scripted
        )
        shown = urls[(page - 1) * PAGE : page * PAGE]
        return _envelope(
            query, [_result(url, pages.get(url), query, n) for n, url in enumerate(shown, 1)]
        )


def _envelope(query: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    lists: dict[str, list[Any]] = {
        key: []
        for key in ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines")
    }
    return {"query": query, "number_of_results": 0, "results": results, **lists}


def _result(url: str, found: Document | None, query: str, position: int) -> dict[str, Any]:
    parts = urlsplit(url)
    return {
        "url": url,
        "title": found.title if found else url,
        "content": snippet(query, found.text) if found else "",
        "thumbnail": "",
        "engine": "brave",
        "engines": ["brave"],
        "positions": [position],
        "score": round(1 / position, 4),
        "category": "general",
        "template": "default.html",
        "publishedDate": found.published if found and found.published else None,
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
    }


_FAULTS: dict[Fault, Callable[[dict[str, Any]], Response]] = {
    "forbidden": lambda _: HTMLResponse(_FORBIDDEN, 403),
    "limited": lambda _: PlainTextResponse("Too Many Requests", 429),
    "error": lambda _: HTMLResponse("<title>500 Internal Server Error</title>", 500),
    "html": lambda _: HTMLResponse(_FORM),
    "unresponsive": lambda found: JSONResponse(
        found | {"results": [], "unresponsive_engines": _TIMED_OUT}
    ),
    "truncated": lambda found: Response(
        JSONResponse(found).body[:-25], media_type="application/json"
    ),
    "hang": lambda _: Silence(),
}

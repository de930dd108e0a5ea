"""A server in which every search service answers as its documentation says, each under its own
path, and fails on demand.

Each service has two results on Port Aldermere, the first of 4 March 2026. A service with a key
refuses another key as the real one does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.world.background import Background, listen
from tests.world.waits import Broken, Silence

HOST = "127.0.1.21"
KEY = "k3y-of-the-owner"

Fault = Literal[
    "limited",
    "credits",
    "spent",
    "forbidden",
    "error",
    "html",
    "truncated",
    "broken",
    "redirect",
    "other",
    "hang",
    "unauthorised",
    "endless",
    "drip",
]

_ONE, _TWO = "Census of Port Aldermere", "History of the harbour"
_SAID_ONE, _SAID_TWO = (
    "Port Aldermere had 48,210 inhabitants & 3 piers.",
    "The harbour of Port Aldermere opened in 1932.",
)
_U1, _U2 = "https://news.example/census", "https://history.example/harbour"


def _serper(listed: str, date: str) -> dict[str, Any]:
    results = [
        {
            "title": _ONE,
            "link": _U1,
            "snippet": _SAID_ONE,
            "date": date,
            "position": 1,
            "source": "Aldermere Herald",
        },
        {
            "title": _TWO,
            "link": _U2,
            "snippet": _SAID_TWO,
            "position": 2,
            "sitelinks": [{"title": "Piers", "link": f"{_U2}/piers"}],
        },
    ]
    return {
        "searchParameters": {"q": "port aldermere", "type": "search", "engine": "google"},
        listed: results,
        "credits": 1,
    }


_TAVILY = {
    "query": "port aldermere",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "url": _U1,
            "title": _ONE,
            "content": _SAID_ONE,
            "score": 0.91,
            "published_date": "Wed, 04 Mar 2026 05:06:07 GMT",
            "raw_content": None,
        },
        {"url": _U2, "title": _TWO, "content": _SAID_TWO, "score": 0.62, "raw_content": None},
    ],
    "response_time": 1.09,
    "request_id": "123e4567-e89b-12d3-a456-426614174111",
}
_BRAVE_WEB = {
    "type": "search",
    "results": [
        {
            "title": "Census of <strong>Port Aldermere</strong>",
            "url": _U1,
            "description": "<strong>Port Aldermere</strong> had 48,210 inhabitants &amp; 3 piers.",
            "page_age": "2026-03-04T05:06:07",
            "age": "March 4, 2026",
            "language": "en",
            "type": "search_result",
            "subtype": "generic",
            "profile": {"name": "Aldermere Herald", "url": _U1, "img": "https://x.example/i.png"},
        },
        {
            "title": _TWO,
            "url": _U2,
            "description": _SAID_TWO,
            "language": "en",
            "type": "search_result",
            "subtype": "generic",
        },
    ],
    "family_friendly": True,
}
_BRAVE_NEWS = [
    {**result, "type": "news_result", "meta_url": {"hostname": "news.example"}}
    for result in _BRAVE_WEB["results"]
]
_BRAVE = {
    "query": {"original": "port aldermere", "more_results_available": False},
    "mixed": {"type": "mixed", "main": []},
    "type": "search",
}
_WIKI_ONE = 'Port <span class="searchmatch">Aldermere</span> had 48,210 inhabitants &amp; 3 piers.'
_WIKIPEDIA = [
    {
        "ns": 0,
        "title": _ONE,
        "pageid": 71,
        "snippet": _WIKI_ONE,
        "timestamp": "2026-03-04T05:06:07Z",
    },
    {
        "ns": 0,
        "title": _TWO,
        "pageid": 72,
        "snippet": _SAID_TWO,
        "timestamp": "2025-01-02T00:00:00Z",
    },
]
_OPENALEX = [
    {
        "id": "https://openalex.org/W1",
        "doi": "https://doi.org/10.1000/1",
        "display_name": "Census of <i>Port Aldermere</i>",
        "publication_date": "2026-03-04",
        "primary_location": {
            "is_oa": True,
            "landing_page_url": _U1,
            "pdf_url": None,
            "source": {"display_name": "Annals of Port Aldermere", "type": "journal"},
        },
        "abstract_inverted_index": {
            "Port": [0],
            "Aldermere": [1],
            "had": [2],
            "48,210": [3],
            "inhabitants": [4],
            "&": [5],
            "3": [6],
            "piers.": [7],
        },
    },
    {
        "id": "https://openalex.org/W2",
        "doi": _U2,
        "display_name": _TWO,
        "publication_date": None,
        "primary_location": None,
    }
    | {"abstract_inverted_index": None},
]
_ARTICLES = {
    "uids": ["40000001", "40000002"],
    "40000001": {
        "uid": "40000001",
        "pubdate": "2026 Mar 4",
        "sortpubdate": "2026/03/04 00:00",
        "title": "Census of &lt;i&gt;Port Aldermere&lt;/i&gt;.",
        "fulljournalname": "Annals of Port Aldermere",
        "authors": [
            {"name": f"{name} A", "authtype": "Author", "clusterid": ""}
            for name in ("Fisher", "Miller", "Potter", "Smith")
        ],
    },
    "40000002": {
        "uid": "40000002",
        "pubdate": "2025",
        "sortpubdate": "2025/01/01 00:00",
        "title": _TWO,
        "source": "Ann",
        "authors": [],
    },
}
_ENTRY = """<entry><id>http://arxiv.org/abs/{id}</id><updated>2026-03-05T00:00:00Z</updated><published>{date}</published>
<title>{title}</title><summary>  Port Aldermere had
  48,210 inhabitants &amp; 3 piers.
</summary><author><name>A. Fisher</name></author><link href="http://arxiv.org/abs/{id}" rel="alternate" type="text/html"/></entry>"""  # noqa: E501
_FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://arxiv.org/api/query?search_query%3Dx" rel="self"/>
<title type="html">ArXiv Query: search_query=x</title><id>http://arxiv.org/api/x</id><updated>2026-03-05T00:00:00-05:00</updated>
<opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">2</opensearch:totalResults>{}</feed>"""  # noqa: E501
_ARXIV = _ENTRY.format(id="2603.00001v2", date="2026-03-04T05:06:07Z", title=_ONE) + _ENTRY.format(
    id="2501.00002v1", date="", title=_TWO
)


@dataclass(frozen=True)
class Asking:
    """One request as it came: the service, the rest of the path, and the parameters of its address
    or body.
    """

    service: str
    path: str
    method: str
    headers: dict[str, str]
    args: dict[str, Any]


class Services:
    """The server. `requests` is the log; `fault` meets every request but for `spare` more; `empty`
    lets all find nothing.

    `retry_after` goes with the fault "limited". A `leaf` stands in the place of every value that is
    no list or object.
    """

    def __init__(self, background: Background) -> None:
        sock = listen(HOST)
        self._base = "http://{}:{}".format(*sock.getsockname())
        self.reset()
        background.serve(self, [sock])

    def reset(self) -> None:
        """An empty log, everything found, no fault."""
        self.requests: list[Asking] = []
        self.fault: Fault | None = None
        self.spare = 0
        self.empty = False
        self.retry_after = "30"
        self.leaf: Any = ...

    def url(self, service: str) -> str:
        """The base address of a service."""
        return f"{self._base}/{service}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        request = Request(scope, receive)
        body = await request.body()
        _, service, path = request.url.path.split("/", 2)
        args = json.loads(body) if body else dict(request.query_params)
        asked = Asking(service, f"/{path}", request.method, dict(request.headers), args)
        self.requests.append(asked)
        await self._answer(asked)(scope, receive, send)

    def _answer(self, asked: Asking) -> Response:
        good = _refusal(asked) or self._found(asked)
        if self.fault and self.spare:
            self.spare -= 1
            return good
        return _failed(self.fault, good, self.retry_after) if self.fault else good

    def _found(self, asked: Asking) -> Response:
        found = _answers(asked.service, asked.path, self.empty)
        if self.leaf is not ... and isinstance(found, dict):
            return JSONResponse(_with_leaves(found, self.leaf))
        if found is None:
            return JSONResponse({"message": "Not found"}, 404)
        return (
            Response(found, media_type="application/atom+xml")
            if isinstance(found, str)
            else JSONResponse(found)
        )


def _answers(service: str, path: str, empty: bool) -> dict[str, Any] | str | None:
    def some(results: Any) -> Any:
        return type(results)() if empty else results

    match service, path:
        case "serper", "/search" | "/news":
            listed, date = (
                ("news", "Mar 4, 2026") if path == "/news" else ("organic", "Mar 4, 2026")
            )
            answer = _serper(listed, date)
            return answer | {listed: some(answer[listed])}
        case "tavily", "/search":
            return _TAVILY | {"results": some(_TAVILY["results"])}
        case "brave", "/web/search" | "/news/search":
            news = {"type": "news", "query": _BRAVE["query"], "results": some(_BRAVE_NEWS)}
            web = {} if empty else {"web": _BRAVE_WEB}
            return news if path == "/news/search" else _BRAVE | web
        case "wikipedia", "/w/api.php":
            return {
                "batchcomplete": True,
                "query": {"searchinfo": {"totalhits": 2}, "search": some(_WIKIPEDIA)},
            }
        case "openalex", "/works":
            return {
                "meta": {"count": 2, "page": 1, "per_page": 15},
                "results": some(_OPENALEX),
                "group_by": [],
            }
        case "pubmed", "/esearch.fcgi":
            found = {
                "count": "2",
                "retmax": "2",
                "retstart": "0",
                "idlist": some(_ARTICLES["uids"]),
                "querytranslation": "x",
            }
            return {"header": {"type": "esearch", "version": "0.3"}, "esearchresult": found}
        case "pubmed", "/esummary.fcgi":
            return {"header": {"type": "esummary", "version": "0.3"}, "result": _ARTICLES}
        case "arxiv", "/query":
            return _FEED.format(some(_ARXIV))
    return None


def _refusal(asked: Asking) -> Response | None:
    """What a service with a key says to a wrong one."""
    match asked.service:
        case "serper" if asked.headers.get("x-api-key") != KEY:
            return JSONResponse({"message": "Unauthorized.", "statusCode": 403}, 403)
        case "tavily" if asked.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse(
                {"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401
            )
        case "brave" if asked.headers.get("x-subscription-token") != KEY:
            error = {
                "id": "x",
                "status": 422,
                "code": "SUBSCRIPTION_TOKEN_INVALID",
                "detail": "The provided subscription token is invalid.",
            }
            return JSONResponse({"type": "ErrorResponse", "error": error}, 422)
        case "openalex" if asked.args.get("api_key", KEY) != KEY:
            return JSONResponse(
                {"error": "Unauthorized", "message": f"API key {asked.args['api_key']} not found"},
                401,
            )
    return None


def _failed(fault: Fault, good: Response, retry_after: str) -> Response:
    made: dict[Fault, Callable[[], Response]] = {
        "limited": lambda: JSONResponse(
            {"message": f"Too many requests for {KEY}"}, 429, {"Retry-After": retry_after}
        ),
        "credits": lambda: JSONResponse({"message": "Not enough credits", "statusCode": 400}, 400),
        "spent": lambda: JSONResponse(
            {"detail": {"error": "This request exceeds your plan's set usage limit."}}, 432
        ),
        "forbidden": lambda: JSONResponse({"message": f"{KEY} is not allowed"}, 403),
        "error": lambda: JSONResponse({"error": f"Failed\nfor {KEY}."}, 500),
        "html": lambda: HTMLResponse(f"<!doctype html><title>Just a moment...</title><p>{KEY}"),
        "truncated": lambda: Response(bytes(good.body)[:-20], media_type=good.media_type),
        "broken": lambda: Broken(bytes(good.body)[:20]),
        "redirect": lambda: Response(
            status_code=302, headers={"Location": "ftp://elsewhere.example/"}
        ),
        "other": lambda: JSONResponse({"status": "fine"}),
        "hang": Silence,
        "unauthorised": lambda: JSONResponse({"message": f"{KEY} is not known"}, 401),
        "endless": lambda: StreamingResponse(_endless(), media_type=good.media_type),
        "drip": lambda: StreamingResponse(_drip(bytes(good.body)), media_type=good.media_type),
    }
    return made[fault]()


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield b'{"results": [' + b" " * 65_536
        await asyncio.sleep(0)


async def _drip(body: bytes) -> AsyncIterator[bytes]:
    for byte in body:
        yield bytes([byte])
        await asyncio.sleep(0.05)


def _with_leaves(found: Any, leaf: Any) -> Any:
    """The same shape with another value in every place."""
    if isinstance(found, dict):
        return {name: _with_leaves(value, leaf) for name, value in found.items()}
    return [_with_leaves(value, leaf) for value in found] if isinstance(found, list) else leaf

"""What a search provider is, how a service is asked, and its failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import httpx

from spadework.errors import QuotaSpent, SearchError
from spadework.tools.fetch.exchange import reason as broken_by
from spadework.tools.stores.exchanges import Piece
from spadework.tools.web.connections import certificates, closing_lines, proxy_for
from spadework.tools.web.http_dates import (
    RATE_LIMIT_HEADERS,
    http_date,
    rate_limit_reset,
    retry_after,
)
from spadework.tools.web.recorded_traffic import over_the_wire
from spadework.values import Hit, Query


class Provider(Protocol):
    """A place to search. `name` stands in events, hits and reports."""

    @property
    def name(self) -> str:
        """One lower-case word, such as "searxng"."""
        ...

    @property
    def describes(self) -> str:
        """What is searched, in words for a report, such as "the web, through SearXNG"."""
        ...

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """At most `limit` hits within `seconds`, best first, positions from 1, `provider` and
        `query` set; [] for none. Raises SearchError (QuotaSpent) when it failed, which is not none.
        """
        ...


@runtime_checkable
class Placed(Protocol):
    """A provider known by `where` it is: an address, or "" for what is on this machine alone."""

    where: str


@runtime_checkable
class Closing(Protocol):
    """A provider that holds something open: a connection, or a process."""

    async def close(self) -> None:
        """End it; the provider is not asked again."""
        ...


@asynccontextmanager
async def held_to(name: str, seconds: float) -> AsyncIterator[None]:
    """Foreign code ends in time and raises SearchError, without words that may hold a key."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise SearchError(f"{name} did not answer within {seconds:g} s.") from None
    except SearchError:
        raise
    except Exception as error:
        raise SearchError(f"{name} could not be searched: {type(error).__name__}.") from error


#: The quota is used up: payment required; Tavily's for a plan and for pay-as-you-go.
_SPENT = (402, 432, 433)
_REFUSED = (401, 403)
#: What services write when the quota is used up or the key is wrong, also under other statuses:
#: Serper 400, Brave 422, MediaWiki 200.
_QUOTA = ("credits", "quota", "rate limit", "ratelimit", "too many requests")
_KEY = ("api key", "api_key", "subscription token")
#: Where services say in words what went wrong, the most telling first.
_SAYING = ("message", "detail", "info", "error", "code")
_WORDS_CHARS = 200


@dataclass(frozen=True)
class Access:
    """How a service lets us in: its headers, our secret, and what mends a refusal."""

    headers: Mapping[str, str] = field(default_factory=dict)
    secret: str = ""
    mend: str = ""

    def shown(self, text: str) -> str:
        """A text of the service in one line, short, without the secret."""
        said = text.replace(self.secret, "…") if self.secret else text
        return " ".join(said.split())[:_WORDS_CHARS].rstrip(".")


#: No key, and nothing to mend.
OPEN = Access()


def failure(label: str, access: Access, answer: httpx.Response) -> SearchError:
    """The error of a status other than 200; QuotaSpent says how long to wait where known."""
    status, words = answer.status_code, access.shown(_words(parse_json(answer)))
    wait = answer.headers.get("retry-after", "").strip()
    busy = "it is busy" if status == httpx.codes.SERVICE_UNAVAILABLE and _wait(wait) else ""
    if status == httpx.codes.TOO_MANY_REQUESTS:
        busy = "there were too many requests"
    if busy:
        said = f"{label} answered that {busy}{_wait(wait)}."
        seconds = retry_after(wait)
        seconds = rate_limit_reset(answer.headers) if seconds is None else seconds
        return QuotaSpent(said, retry_after=seconds, busy=True)
    if status in _SPENT or tells_of_quota(words):
        return QuotaSpent(f"{label} answered that the quota is used up (status {status}).")
    if status in _REFUSED or any(sign in words.lower() for sign in _KEY):
        return SearchError(
            f"{label} refused the request (status {status}){': ' * bool(access.mend)}{access.mend}."
        )
    return SearchError(f"{label} answered with status {status}{': ' * bool(words)}{words}.")


def without_results(label: str, access: Access, answer: Any) -> SearchError:
    """The error of JSON that holds no list of results, in the words of the service."""
    words = access.shown(_words(answer))
    kind = QuotaSpent if tells_of_quota(words) else SearchError
    return kind(f"{label} answered without results{': ' * bool(words)}{words}.")


def parse_json(answer: httpx.Response) -> Any:
    """The JSON of an answer, None where it is none."""
    try:
        return answer.json()
    except (ValueError, RecursionError):
        return None


def _words(answer: Any) -> str:
    """What a service says about a failure, "" when it says nothing that is known."""
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, dict):
        return ""
    return next((words for name in _SAYING if (words := _words(answer.get(name)))), "")


def tells_of_quota(words: str) -> bool:
    """Whether words say that a quota is used up or a rate too high."""
    return any(sign in words.lower() for sign in _QUOTA)


def _wait(header: str) -> str:
    """The end of a sentence from a Retry-After header."""
    if header.isdecimal():
        return f"; it asks to wait {header[:9]} s"
    until = http_date(header)
    return f"; it asks to wait until {until:%Y-%m-%d %H:%M:%S %Z}" if until else ""


#: How we name ourselves where nobody says otherwise.
AGENT = "spadework"
#: The largest answer that is read, in bytes; a hundred results with abstracts take a tenth of it.
MOST_BYTES = 5_000_000
#: The headers that are looked at.
_TELLING = ("content-type", "retry-after", *RATE_LIMIT_HEADERS)
#: Both are undone in small pieces, so that the limit is met before memory is.
_ENCODINGS = "gzip, deflate"


class Service:
    """The service `label` at the address `url`. It is asked as `agent`."""

    def __init__(self, label: str, url: str, access: Access = OPEN, agent: str = AGENT) -> None:
        self._label = label
        self._url = url.rstrip("/")
        self._access = access
        self._headers = {"User-Agent": agent, "Accept-Encoding": _ENCODINGS, **access.headers}
        self._verify = certificates() if url.lower().startswith("https://") else False

    async def json(
        self,
        path: str,
        *,
        seconds: float,
        params: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> Any:
        """The JSON of a GET, or with a `body` of a POST. Raises SearchError within `seconds`."""
        answer = await self._heard(path, seconds, params, body)
        found = parse_json(answer)
        if found is None:
            kind = answer.headers.get("content-type", "").partition(";")[0]
            raise SearchError(
                f"{self._label} did not answer with whole JSON ({kind[:40] or 'of no type'})."
            )
        return found

    async def content(self, path: str, *, seconds: float, params: Mapping[str, str]) -> bytes:
        """The bytes that the service answers to a GET. Errors as for `json`."""
        return (await self._heard(path, seconds, params, None)).content

    def results(self, answer: Any, *path: str) -> list[dict[str, Any]]:
        """The objects in the list at `path` of an answer. Errors as for `listed`."""
        return [item for item in self.listed(answer, *path) if isinstance(item, dict)]

    def listed(self, answer: Any, *path: str) -> list[Any]:
        """The list at `path`. Raises SearchError (QuotaSpent), in the service's words, without."""
        found = answer
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, list):
            raise without_results(self._label, self._access, answer)
        return found

    def late(self, seconds: float) -> SearchError:
        """The error of an answer that did not come in time."""
        return SearchError(f"{self._label} did not answer within {seconds:.3g} s.")

    async def _heard(
        self, path: str, seconds: float, params: Mapping[str, str] | None, body: Any
    ) -> httpx.Response:
        """The answer as it came. Raises SearchError for another status than 200."""

        async def send() -> Piece:
            answer = await self._ask(path, seconds, params, body)
            said = {"status": answer.status_code, "headers": dict(answer.headers)}
            # What is asked with a key may say it again.
            secret = self._access.secret.encode()
            return Piece(said, answer.content.replace(secret, b"") if secret else answer.content)

        asked = {name: text for name, text in (params or {}).items() if text != self._access.secret}
        piece = await over_the_wire([self._label, path, asked, body], send)
        answer = httpx.Response(
            piece.head["status"], headers=piece.head["headers"], content=piece.body
        )
        if answer.status_code != httpx.codes.OK:
            raise failure(self._label, self._access, answer)
        return answer

    async def _ask(
        self, path: str, seconds: float, params: Mapping[str, str] | None, body: Any
    ) -> httpx.Response:
        method, url = "GET" if body is None else "POST", self._url + path
        client = closing_lines(
            httpx.AsyncClient(
                verify=self._verify, proxy=proxy_for(url), trust_env=False, timeout=None
            )
        )
        try:
            async with asyncio.timeout(seconds), client:
                request = client.build_request(
                    method, url, params=params, json=body, headers=self._headers
                )
                redirects = not self._access.secret  # a key goes nowhere else
                return await self._whole(
                    await client.send(request, follow_redirects=redirects, stream=True)
                )
        except TimeoutError:
            raise self.late(seconds) from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            why = self._access.shown(broken_by(error)) or type(error).__name__
            raise SearchError(f"{self._label} could not be asked: {why}.") from None

    async def _whole(self, answer: httpx.Response) -> httpx.Response:
        """The answer with its body. Raises SearchError for one without end."""
        body = bytearray()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > MOST_BYTES:
                raise SearchError(f"{self._label} answered with more than {MOST_BYTES / 1e6:g} MB.")
        kept = {name: text for name, text in answer.headers.items() if name in _TELLING}
        return httpx.Response(answer.status_code, headers=kept, content=bytes(body))

"""Define search providers, call them over HTTP, and record or replay their traffic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import httpx

from spadework.errors import QuotaSpent, SearchError
from spadework.settings.sources import Effort
from spadework.tools.fetch.exchange import reason as broken_by
from spadework.tools.stores.exchanges import Piece, Tape
from spadework.tools.web.connections import (
    RATE_LIMIT_HEADERS,
    certificates,
    closing_lines,
    http_date,
    proxy_for,
    rate_limit_reset,
    retry_after,
)
from spadework.values import Hit, Query

#: Number of hits requested per query, by effort.
RESULTS: dict[Effort, int] = {"quick": 15, "normal": 15, "deep": 30}
Send = Callable[[], Awaitable[Piece]]
_wire: ContextVar[Callable[[Any, Send], Awaitable[Piece]] | None] = ContextVar("wire", default=None)


class Provider(Protocol):
    """A search provider. `name` identifies it in events, hits and reports."""

    @property
    def name(self) -> str:
        """The provider's name: one lower-case word, such as "searxng"."""
        ...

    @property
    def describes(self) -> str:
        """What the provider searches, as shown in reports, such as "the web, through SearXNG"."""
        ...

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most `limit` hits within `seconds`, best first. Set their `position` (from 1),
        `provider` and `query`. Raises SearchError or QuotaSpent.
        """
        ...


@runtime_checkable
class Placed(Protocol):
    """A provider with its address in `where` ("" if only this machine uses the provider)."""

    where: str


@runtime_checkable
class Preparing(Protocol):
    """A provider that needs preparation, which can take longer than a search's time limit."""

    async def prepare(self, query: Query) -> None:
        """Prepare for the query. Raises SearchError."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A provider that holds a connection or process."""

    async def close(self) -> None:
        """Release the connection or process. The provider is not used afterwards."""
        ...


@asynccontextmanager
async def held_to(name: str, seconds: float) -> AsyncIterator[None]:
    """Run external code with a deadline. Convert errors to SearchError, omitting their messages."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise SearchError(f"{name} did not answer within {seconds:g} s.") from None
    except SearchError:
        raise
    except Exception as error:
        raise SearchError(f"{name} could not be searched: {type(error).__name__}.") from error


#: HTTP statuses for an exhausted quota. 432 and 433 are Tavily's.
_SPENT = (402, 432, 433)
_REFUSED = (401, 403)
#: Words in messages about quotas or keys, which may come with an unexpected status (Serper 400,
#: Brave 422, MediaWiki 200).
_QUOTA = ("credits", "quota", "rate limit", "ratelimit", "too many requests")
_KEY = ("api key", "api_key", "subscription token")
_SAYING = ("message", "detail", "info", "error", "code")
_WORDS_CHARS = 200


@dataclass(frozen=True)
class Access:
    """A service's request headers and secret. `mend` is a hint to users if a request is refused."""

    headers: Mapping[str, str] = field(default_factory=dict)
    secret: str = ""
    mend: str = ""

    def redact(self, text: str) -> str:
        """Return a text from the service as one short line, without the secret."""
        said = text.replace(self.secret, "…") if self.secret else text
        return " ".join(said.split())[:_WORDS_CHARS].rstrip(".")


OPEN = Access()


def failure(label: str, access: Access, answer: httpx.Response) -> SearchError:
    """Convert a failed response to an error. QuotaSpent carries the seconds to wait, if known."""
    status, words = answer.status_code, access.redact(_words(parse_json(answer)))
    wait = answer.headers.get("retry-after", "").strip()
    busy = "is busy" if status == httpx.codes.SERVICE_UNAVAILABLE and _wait(wait) else ""
    if status == httpx.codes.TOO_MANY_REQUESTS:
        busy = "received too many requests"
    if busy:
        said = f"{label} {busy}{_wait(wait)}."
        seconds = retry_after(wait)
        seconds = rate_limit_reset(answer.headers) if seconds is None else seconds
        return QuotaSpent(said, retry_after=seconds, busy=True)
    if status in _SPENT or tells_of_quota(words):
        return QuotaSpent(f"The quota of {label} is used up (status {status}).")
    if status in _REFUSED or any(sign in words.lower() for sign in _KEY):
        return SearchError(
            f"{label} refused the request (status {status}){': ' * bool(access.mend)}{access.mend}."
        )
    return SearchError(f"{label} answered with status {status}{': ' * bool(words)}{words}.")


def without_results(label: str, access: Access, answer: Any) -> SearchError:
    """Return the error for JSON without results. It includes the service's message."""
    words = access.redact(_words(answer))
    kind = QuotaSpent if tells_of_quota(words) else SearchError
    return kind(f"{label} returned no results{': ' * bool(words)}{words}.")


def parse_json(answer: httpx.Response) -> Any:
    """Return a response's JSON, or None if it is invalid."""
    try:
        return answer.json()
    except (ValueError, RecursionError):
        return None


def _words(answer: Any) -> str:
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, dict):
        return ""
    return next((words for name in _SAYING if (words := _words(answer.get(name)))), "")


def tells_of_quota(words: str) -> bool:
    """Return whether a message is about a quota or rate limit."""
    return any(sign in words.lower() for sign in _QUOTA)


def _wait(header: str) -> str:
    if header.isdecimal():
        return f"; it asks to wait {header[:9]} s"
    until = http_date(header)
    return f"; it asks to wait until {until:%Y-%m-%d %H:%M:%S %Z}" if until else ""


AGENT = "spadework"
#: Maximum response size in bytes. A hundred results with abstracts take a tenth of this.
MOST_BYTES = 5_000_000
_TELLING = ("content-type", "retry-after", *RATE_LIMIT_HEADERS)
#: Accepted encodings. httpx decodes these in small pieces, so reading can stop at the size limit.
_ENCODINGS = "gzip, deflate"


class Service:
    """An HTTP client for the service called `label` at `url`."""

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
        """Send a GET, or a POST if there is a `body`, and return the JSON. Raises SearchError."""
        answer = await self._heard(path, seconds, params, body)
        found = parse_json(answer)
        if found is None:
            kind = answer.headers.get("content-type", "").partition(";")[0]
            raise SearchError(
                f"{self._label} did not return complete JSON ({kind[:40] or 'no content type'})."
            )
        return found

    async def content(self, path: str, *, seconds: float, params: Mapping[str, str]) -> bytes:
        """Send a GET request and return the response's body. Raises SearchError."""
        return (await self._heard(path, seconds, params, None)).content

    def results(self, answer: Any, *path: str) -> list[dict[str, Any]]:
        """Return the JSON objects in a response's list at `path`. Raises what `listed` raises."""
        return [item for item in self.listed(answer, *path) if isinstance(item, dict)]

    def listed(self, answer: Any, *path: str) -> list[Any]:
        """Return the list at `path` in a response. Raises SearchError or QuotaSpent if missing."""
        found = answer
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, list):
            raise without_results(self._label, self._access, answer)
        return found

    def deadline_error(self, seconds: float) -> SearchError:
        """Return the error for a missed deadline."""
        return SearchError(f"{self._label} did not answer within {seconds:.3g} s.")

    async def _heard(
        self, path: str, seconds: float, params: Mapping[str, str] | None, body: Any
    ) -> httpx.Response:
        async def send() -> Piece:
            answer = await self._ask(path, seconds, params, body)
            said = {"status": answer.status_code, "headers": dict(answer.headers)}
            # Remove the key, because the service may echo it.
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
                redirects = not self._access.secret  # a key must not be sent to another host
                return await self._whole(
                    await client.send(request, follow_redirects=redirects, stream=True)
                )
        except TimeoutError:
            raise self.deadline_error(seconds) from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            why = self._access.redact(broken_by(error)) or type(error).__name__
            raise SearchError(f"{self._label} could not be queried: {why}.") from None

    async def _whole(self, answer: httpx.Response) -> httpx.Response:
        body = bytearray()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > MOST_BYTES:
                raise SearchError(f"{self._label} answered with more than {MOST_BYTES / 1e6:g} MB.")
        kept = {name: text for name, text in answer.headers.items() if name in _TELLING}
        return httpx.Response(answer.status_code, headers=kept, content=bytes(body))


async def over_the_wire(request: Any, send: Send) -> Piece:
    """Call `send` or, in a replay, return the recording. `request` is JSON without API keys."""
    wire = _wire.get()
    return await (wire(request, send) if wire else send())


def tape_traffic(tape: Tape) -> AbstractContextManager[None]:
    """Record all traffic within the context on `tape`."""

    async def wire(request: Any, send: Send) -> Piece:
        piece = await send()
        tape.add({"request": request, **piece.head}, piece.body)
        return piece

    return _set(wire)


def replay_traffic(tape: Tape) -> AbstractContextManager[None]:
    """Answer all requests within the context with responses recorded on `tape`."""

    async def wire(request: Any, send: Send) -> Piece:
        found = [piece for piece in tape.pieces if piece.head.get("request") == request]
        if not found:
            raise SearchError("The recording has no answer: the recorded request differs.")
        return found[-1]

    return _set(wire)


@contextmanager
def _set(wire: Callable[[Any, Send], Awaitable[Piece]]) -> Iterator[None]:
    token = _wire.set(wire)
    try:
        yield
    finally:
        _wire.reset(token)

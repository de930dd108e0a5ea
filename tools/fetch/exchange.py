"""One request, one answer: the errors of the connection in our words, the body within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus

import httpcore
import httpx

from spadework.errors import Blocked, TooLarge, TooSlow, Unreachable, Unreadable
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import shown
from spadework.tools.fetch.unpack import unpack

#: What a connection can end with. TLS faults in the middle of an answer come as OSError.
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError, OSError)


@dataclass(frozen=True)
class Answer:
    """What a server answered to one request. The body is read only for a status below 300."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes = b""

    @property
    def media_type(self) -> str:
        """The type in the header Content-Type, lower-case without parameters, or ""."""
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    def check(self) -> None:
        """Raises Blocked, Unreachable or Unreadable when the status says that there is no page."""
        if self.status < 300:
            return
        phrase = HTTPStatus(self.status).phrase.lower() if self.status in set(HTTPStatus) else "an unknown status"
        refusal = Unreadable if self.status < 400 else Blocked if self.status < 500 else Unreachable
        raise refusal(f"{shown(self.url)} answered {self.status} ({phrase}).")

    def fetched(self, level: int) -> Fetched:
        """The page of an answer that passes `check`."""
        message = Message()
        message["content-type"] = self.headers.get("content-type", "")
        return Fetched(self.url, self.status, self.media_type, message.get_content_charset(""), self.body, level)


async def exchange(
    pool: httpcore.AsyncConnectionPool, url: str, headers: Mapping[str, str], *, first_byte_seconds: float, most_bytes: int
) -> Answer:
    """The answer to a GET of `url`; redirects are answers too.

    Raises NotAllowed (by the guard), TooSlow, TooLarge, Unreadable, Unreachable.
    """
    timeouts = dict.fromkeys(("connect", "read", "write"), first_byte_seconds)
    try:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(first_byte_seconds):
                request = pool.stream("GET", url, headers=list(headers.items()), extensions={"timeout": timeouts})
                response = await stack.enter_async_context(request)
            answered = httpx.Headers(response.headers)
            body = await _body(response.aiter_stream(), answered, most_bytes) if response.status < 300 else b""
            return Answer(url, response.status, answered, body)
    except (TimeoutError, httpcore.TimeoutException):
        raise TooSlow(f"{shown(url)} sent nothing for {first_byte_seconds:.3g} s.") from None
    except _BROKEN as error:
        what = "could not be reached" if isinstance(error, httpcore.ConnectError) else "sent a broken answer"
        raise Unreachable(f"{shown(url)} {what}: {str(error)[:150].strip(' .') or 'the connection ended'}.") from error


async def _body(chunks: AsyncIterable[bytes], headers: httpx.Headers, most: int) -> bytes:
    """The body without its content encoding; it is unpacked in one bounded step, some 30 ms for ten megabytes."""
    announced = headers.get("content-length", "")
    if announced.isdecimal() and float(announced) > most:
        raise TooLarge(f"The page is larger than {most:,} bytes.")
    body = bytearray()
    async with aclosing(aiter(chunks)) as stream:  # type: ignore[type-var]
        async for chunk in stream:
            body += chunk
            if len(body) > most:
                raise TooLarge(f"The page is larger than {most:,} bytes.")
    return unpack(bytes(body), headers.get("content-encoding", ""), most)

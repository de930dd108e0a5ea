"""One request, one answer: errors in our words, the body within its limits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from email.message import Message
from functools import partial
from http import HTTPStatus
from typing import Any

import httpcore
import httpx

from spadework.errors import Blocked, FetchError, TooLarge, TooSlow, Unreachable, Unreadable
from spadework.tools.extract.expected_type import refused_type
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import printable_url
from spadework.tools.fetch.server_faults import reason
from spadework.tools.fetch.unpack import Unpacker
from spadework.tools.web.http_dates import http_date, retry_after

#: So many bytes of a body are unpacked at a time: even a bomb takes a few milliseconds for them.
SLICE = 16_384
#: Statuses with which servers turn away what does not look like a browser.
TURNED_AWAY = frozenset({403, 406, 429, 503})
#: A range that begins with the first byte: its last byte, and how many bytes there are.
_RANGE = re.compile(r"bytes 0-(\d{1,15})/(\d{1,15})")
#: What a connection can end with. TLS faults in the middle of an answer come as OSError.
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError, OSError)


@dataclass(frozen=True)
class Answer:
    """An answer; its body is read only for a status below 300. `from_cache`: a kept copy, which the
    server has called good; `stale`: it could not be asked.
    """

    url: str
    status: int
    headers: httpx.Headers
    body: bytes = b""
    from_cache: bool = False
    stale: bool = False

    @property
    def media_type(self) -> str:
        """The type in the header Content-Type, lower-case without parameters, or ""."""
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    @property
    def dated(self) -> datetime | None:
        """When the server sent it, by the header Date."""
        return http_date(self.headers.get("date", ""))

    @property
    def later(self) -> float | None:
        """In how many seconds to come back, by the header Retry-After."""
        return retry_after(self.headers.get("retry-after", ""))

    @property
    def _whole(self) -> bool:
        """Does the header Content-Range name all the bytes there are?"""
        place = _RANGE.fullmatch(self.headers.get("content-range", "").strip())
        return place is not None and int(place[1]) + 1 == int(place[2])

    @property
    def turned_away(self) -> bool:
        """Was it refused as not a browser, rather than asked to come back later?"""
        return self.status in TURNED_AWAY and self.later is None

    @property
    def refusal(self) -> str:
        """What `check` raises in words, "" for a page."""
        try:
            self.check()
        except FetchError as error:
            return str(error)
        return ""

    def check(self) -> None:
        """Raises Blocked, Unreachable or Unreadable when the status says that there is no page."""
        page, known = printable_url(self.url), self.status in set(HTTPStatus)
        if self.status == 206 and not self._whole:
            raise Unreachable(
                f"{page} sent a part of the page (206), though all of it was asked for."
            )
        if self.status < 300:
            return
        phrase = HTTPStatus(self.status).phrase.lower() if known else "an unknown status"
        failed = Unreachable if self.status in range(500, 600) else Blocked
        refusal = Unreadable if self.status < 400 else failed
        error = refusal(f"{page} answered {self.status} ({phrase}).")
        error.turned_away, error.status = self.turned_away, self.status
        raise error

    def fetched(self, level: int) -> Fetched:
        """The page of an answer that passes `check`."""
        message = Message()
        message["content-type"] = self.headers.get("content-type", "")
        charset, sent = message.get_content_charset(""), self.dated if self.from_cache else None
        came = (self.url, self.status, self.media_type, charset, self.body)
        return Fetched(*came, level, self.from_cache, self.stale, sent)


async def exchange(
    pool: httpcore.AsyncConnectionPool,
    url: str,
    headers: Mapping[str, str],
    *,
    first_byte_seconds: float,
    most_bytes: int,
) -> Answer:
    """The answer to a GET, also a redirect. Raises NotAllowed or another FetchError."""
    page = printable_url(url)
    extensions = {"timeout": dict.fromkeys(("connect", "read", "write"), first_byte_seconds)}
    request = pool.stream("GET", url, headers=list(headers.items()), extensions=extensions)
    try:
        async with asyncio.timeout(first_byte_seconds) as first_byte:
            came = partial(first_byte.reschedule, None)
            return await _tidy(_answer(url, request, most_bytes, came))
    except TimeoutError:
        late = f"did not begin its answer within {first_byte_seconds:.3g} s"
        raise TooSlow(f"{page} {late}.") from None
    except httpcore.TimeoutException:
        raise TooSlow(f"{page} sent nothing for {first_byte_seconds:.3g} s.") from None
    except _BROKEN as error:
        never = isinstance(error, httpcore.ConnectError)
        what = "could not be reached" if never else "sent a broken answer"
        raise Unreachable(f"{page} {what}: {reason(error)}.") from error


async def _answer(
    url: str,
    request: AbstractAsyncContextManager[httpcore.Response],
    most: int,
    came: Callable[[], None],
) -> Answer:
    """Send the request and read the answer; `came` is called when its headers are here."""
    async with request as response:
        came()
        headers = httpx.Headers(response.headers)
        answer = Answer(url, response.status, headers)
        if response.status >= 300:
            return answer
        if what := refused_type(answer.media_type):
            said = f"{what}: {answer.media_type} is not read yet"
            raise Unreadable(f"{printable_url(url)} is {said}.")
        return replace(answer, body=await _body(response.aiter_stream(), headers, most))


async def _body(chunks: AsyncIterable[bytes], headers: httpx.Headers, most: int) -> bytes:
    """The body, decoded as it arrives; the event loop has its turn between two slices."""
    unpacker, received = Unpacker(headers.get("content-encoding", ""), most), 0
    announced = headers.get("content-length", "")
    if announced.isdecimal() and float(announced) > most:
        raise TooLarge(f"The page is larger than {most:,} bytes.")
    async with aclosing(aiter(chunks)) as stream:  # type: ignore[type-var]
        async for chunk in stream:
            received += len(chunk)
            if received > most:
                raise TooLarge(f"The page is larger than {most:,} bytes.")
            for start in range(0, len(chunk), SLICE):
                unpacker.feed(chunk[start : start + SLICE])
                await asyncio.sleep(0)
    return unpacker.finish()


async def _tidy(work: Coroutine[Any, Any, Answer]) -> Answer:
    """What `work` returns or raises; cancelled with the caller, it ends before this goes on. A
    second cancellation, as by a deadline, would leave the connection open for good.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue  # the first one is raised below
        if not task.cancelled():
            task.exception()  # nobody is there for it any more
        raise

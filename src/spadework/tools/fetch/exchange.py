"""Send an HTTP request, limit its body, find redirects and explain errors."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from email.message import Message
from functools import partial
from html import unescape
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

import httpcore
import httpx

from spadework.errors import Blocked, FetchError, TooLarge, TooSlow, Unreachable, Unreadable
from spadework.tools.extract.expected_type import refused_type
from spadework.tools.fetch.guard import check_url, printable_url
from spadework.tools.fetch.unpack import ACCEPT_ENCODING, Unpacker
from spadework.tools.web.connections import http_date, retry_after
from spadework.values import Attempt

#: Maximum seconds to wait for the first byte of a response, and for each further part of it.
FIRST_BYTE_SECONDS = 20.0


@dataclass(frozen=True)
class Fetched:
    """A fetched page: its URL after redirects, and its decoded body.
    - `charset`: the charset in the Content-Type header, if any.
    - `dated`: the Date header of a cached copy.
    - `stale`: true if this is an old copy, because the server was unreachable.
    - `attempts`: all attempts, including failed ones.
    """

    url: str
    status: int
    media_type: str
    charset: str
    body: bytes
    level: int = 0
    from_cache: bool = False
    stale: bool = False
    dated: datetime | None = None
    attempts: tuple[Attempt, ...] = ()


def ended_in(error: FetchError, attempts: Sequence[Attempt]) -> FetchError:
    """Return the error with `attempts`. Its message becomes the `reason` of the last attempt."""
    last = [attempt.model_copy(update={"reason": str(error)}) for attempt in attempts[-1:]]
    error.attempts = (*attempts[:-1], *last)
    return error


_HONEST = {
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5",
    "Accept-Language": "en,*;q=0.5",
    "Accept-Encoding": ACCEPT_ENCODING,
}
_BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/142.0.0.0 Safari/537.36",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;"
    "q=0.8",
    "Accept-Language": "en-US,en;q=0.9",
    "Upgrade-Insecure-Requests": "1",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "same-origin",
}


def for_level(
    level: int, url: str, user_agent: str, cookies: httpx.Cookies | None = None
) -> dict[str, str]:
    """Return the request headers for fetch level 0 (plain) or 1 (browser-like)."""
    headers = {"User-Agent": user_agent} | _HONEST
    if level > 0:
        headers |= _BROWSER | {"Referer": urljoin(url, "/")}
    return headers | _cookie(url, cookies) if cookies else headers


def _cookie(url: str, cookies: httpx.Cookies) -> dict[str, str]:
    """Return the Cookie header, or {} if there are no cookies or a cookie is not ASCII."""
    request = httpx.Request("GET", url)
    try:
        cookies.set_cookie_header(request)
    except UnicodeEncodeError:
        return {}
    return {"Cookie": request.headers["cookie"]} if "cookie" in request.headers else {}


MAX_CHARS = 150
#: Fragments of library error messages and what they mean.
_MEANT = (
    ("Server disconnected", "the connection ended before the response began"),
    ("without sending complete message", "the connection ended in the middle"),
    ("Receive buffer too long", "its headers are too long"),
    ("illegal status line", "it does not begin like HTTP"),
    ("illegal header line", "one of its headers is malformed"),
    ("illegal chunk header", "one of its chunks has no size"),
    ("status_code should be", "its status is not an HTTP status"),
    ("_SWITCH_UPGRADE", "it switches to a protocol that was not requested"),
    ("StreamReset", "the server broke off the response"),
    ("ConnectionTerminated", "the server ended the connection"),
)
#: Parts of library error messages that are useless to users: code locations, byte strings and
#: object representations.
_INSIDES = re.compile(
    r"\s*\(_ssl\.c:\d+\)|\[SSL(?:: \w+)?\] ?|:? ?bytearray\(.*|<\w[^>]*>", re.DOTALL
)
#: OpenSSL's error codes for a certificate from an unknown authority.
_UNKNOWN = (18, 19, 20, 21)
_HOST = re.compile(r"//(?:[^/?#]*@)?([^/?#@]+)")


def name_server(error: FetchError, url: str) -> FetchError:
    """Return the error with `url` prepended to its message, unless it already names the host."""
    words, host = str(error), _HOST.search(url)
    if host and host[1].lower() in words.lower():
        return error
    full = f"{printable_url(url)}: {words}"
    made = type(error)(full if full.endswith((".", "!", "?")) else f"{full}.")
    made.__dict__.update(error.__dict__)
    return made


def reason(error: BaseException) -> str:
    """Describe in a few words why a connection failed."""
    secure = _of_tls(error)
    if isinstance(secure, ssl.SSLCertVerificationError):
        own = "; to trust your own certificate authority, set SSL_CERT_FILE" * (
            secure.verify_code in _UNKNOWN
        )
        return f"its certificate is not valid: {secure.verify_message.strip(' .')}{own}"
    if secure is not None:
        kind = (secure.reason or "unknown").replace("_", " ").lower()
        return f"its TLS connection failed ({kind})"
    words = str(error)
    meant = next((meaning for sign, meaning in _MEANT if sign in words), "")
    return meant or _INSIDES.sub("", words)[:MAX_CHARS].strip(" .:") or "the connection ended"


def certificate_fault(error: BaseException) -> str:
    """Describe a fault in the server's certificate, or return ""."""
    return reason(error) if is_permanent(error) else ""


def is_permanent(error: BaseException) -> bool:
    """Return whether retrying is pointless because the certificate is invalid."""
    return isinstance(_of_tls(error), ssl.SSLCertVerificationError)


def _of_tls(error: BaseException) -> ssl.SSLError | None:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause


#: Compressed bytes to unpack at a time. Even for a decompression bomb, this takes only
#: milliseconds.
SLICE = 16_384
#: Statuses with which servers refuse clients that are not browsers.
TURNED_AWAY = frozenset({403, 406, 429, 503})
#: A Content-Range that starts at the first byte, with groups for the last byte and the total size.
_RANGE = re.compile(r"bytes 0-(\d{1,15})/(\d{1,15})")
#: Errors raised when a connection breaks. TLS errors during a response are raised as OSError.
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError, OSError)


@dataclass(frozen=True)
class Answer:
    """A response. Its body is empty from status 300 on. `stale`: cached, as the server is down."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes = b""
    from_cache: bool = False
    stale: bool = False

    @property
    def media_type(self) -> str:
        """The lower-case media type without parameters, or ""."""
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    @property
    def dated(self) -> datetime | None:
        """The time in the Date header, or None."""
        return http_date(self.headers.get("date", ""))

    @property
    def later(self) -> float | None:
        """The seconds until a retry is allowed, from the Retry-After header, or None."""
        return retry_after(self.headers.get("retry-after", ""))

    @property
    def _whole(self) -> bool:
        place = _RANGE.fullmatch(self.headers.get("content-range", "").strip())
        return place is not None and int(place[1]) + 1 == int(place[2])

    @property
    def turned_away(self) -> bool:
        """True if the server seems to admit only browsers."""
        return self.status in TURNED_AWAY and self.later is None

    @property
    def refusal(self) -> str:
        """The message of the error that `check` would raise, or ""."""
        try:
            self.check()
        except FetchError as error:
            return str(error)
        return ""

    def check(self) -> None:
        """Raise Blocked, Unreachable or Unreadable unless the response is a complete page."""
        page, known = printable_url(self.url), self.status in set(HTTPStatus)
        if self.status == 206 and not self._whole:
            raise Unreachable(f"The server returned only part of {page} (status 206).")
        if self.status < 300:
            return
        phrase = HTTPStatus(self.status).phrase.lower() if known else "an unknown status"
        failed = Unreachable if self.status in range(500, 600) else Blocked
        refusal = Unreadable if self.status < 400 else failed
        error = refusal(f"{page} returned {self.status} ({phrase}).")
        error.turned_away, error.status = self.turned_away, self.status
        raise error

    def fetched(self, level: int) -> Fetched:
        """Convert the response to a page. Call `check` first."""
        message = Message()
        message["content-type"] = self.headers.get("content-type", "")
        charset, sent = message.get_content_charset(""), self.dated if self.from_cache else None
        came = (self.url, self.status, self.media_type, charset, self.body)
        return Fetched(*came, level, self.from_cache, self.stale, sent)


async def exchange(
    pool: httpcore.AsyncConnectionPool, url: str, headers: Mapping[str, str], most_bytes: int
) -> Answer:
    """Send a GET request without following redirects. Raises FetchError."""
    page = printable_url(url)
    extensions = {"timeout": dict.fromkeys(("connect", "read", "write"), FIRST_BYTE_SECONDS)}
    request = pool.stream("GET", url, headers=list(headers.items()), extensions=extensions)
    try:
        async with asyncio.timeout(FIRST_BYTE_SECONDS) as first_byte:
            came = partial(first_byte.reschedule, None)
            return await _tidy(_answer(url, request, most_bytes, came))
    except TimeoutError:
        late = f"did not begin to respond within {FIRST_BYTE_SECONDS:.3g} s"
        raise TooSlow(f"{page} {late}.") from None
    except httpcore.TimeoutException:
        raise TooSlow(f"{page} sent nothing for {FIRST_BYTE_SECONDS:.3g} s.") from None
    except _BROKEN as error:
        never = isinstance(error, httpcore.ConnectError)
        what = "could not be reached" if never else "sent a broken response"
        raise Unreachable(f"{page} {what}: {reason(error)}.") from error


async def _answer(
    url: str,
    request: AbstractAsyncContextManager[httpcore.Response],
    most: int,
    came: Callable[[], None],
) -> Answer:
    async with request as response:
        came()
        headers = httpx.Headers(response.headers)
        answer = Answer(url, response.status, headers)
        if response.status >= 300:
            return answer
        if what := refused_type(answer.media_type):
            said = f"{what}: {answer.media_type} is not supported"
            raise Unreadable(f"{printable_url(url)} is {said}.")
        return replace(answer, body=await _body(response.aiter_stream(), headers, most))


async def _body(chunks: AsyncIterable[bytes], headers: httpx.Headers, most: int) -> bytes:
    """Decode the body in slices, letting other tasks run after each one."""
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
    """Await `work`. When cancelled, wait for its cleanup to prevent connection leaks."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue  # the first cancellation is raised below
        if not task.cancelled():
            task.exception()  # mark the exception as retrieved
        raise


_STATUSES = frozenset({301, 302, 303, 307, 308})
#: A meta refresh counts as a redirect only if the page has at most this many bytes.
SIGNPOST_BYTES = 4_000
SIGNPOST_SECONDS = 5
_REFRESH = re.compile(r"""<meta\b[^>]*\bhttp-equiv\s*=\s*["']?refresh\b[^>]*>""", re.IGNORECASE)
_SENT = re.compile(r"""\s*(\d{1,3})[^;,]*[;,]\s*url\s*=\s*["']?\s*([^"'\s]+)""", re.IGNORECASE)
_TARGET = re.compile(
    r"""\bcontent\s*=\s*["']?\s*(\d{1,3})[^;,>]*[;,]\s*url\s*=\s*["']?\s*([^"'>\s]+)""",
    re.IGNORECASE,
)


def next_url(answer: Answer) -> str | None:
    """Return a response's redirect URL, or None. Raises NotAllowed or Unreachable."""
    if answer.status in _STATUSES:
        places = set(answer.headers.get_list("location"))
        if len(places) > 1:
            raise Unreachable(
                f"{printable_url(answer.url)} redirects to {len(places)} different addresses."
            )
        target = places.pop() if places else None
    else:
        target = _signpost(answer)
    if not target:
        return None
    try:
        return check_url(urljoin(answer.url, target))
    except ValueError:
        return check_url(target)  # the check raises a readable error


def _signpost(answer: Answer) -> str | None:
    header = _SENT.match(answer.headers.get("refresh", "")) if answer.status < 300 else None
    if header and int(header[1]) <= SIGNPOST_SECONDS:
        return header[2]
    html = answer.media_type in ("text/html", "application/xhtml+xml", "")
    if not html or len(answer.body) > SIGNPOST_BYTES:
        return None
    refresh = _REFRESH.search(answer.body.decode("latin-1"))
    target = _TARGET.search(refresh[0]) if refresh else None
    return unescape(target[2]) if target and int(target[1]) <= SIGNPOST_SECONDS else None

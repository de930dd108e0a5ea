"""Servers that are not there, break off, or do not speak HTTP."""

from __future__ import annotations

from spadework.errors import TooLarge, Unreachable
from tests.world.zoo.animal import Animal, Refused, read
from tests.world.zoo.serving import chunked, endless, http, says
from tests.world.zoo.texts import LAST, PAGE, WHOLE, WORDS
from tests.world.zoo.visit import Visit

_BODY = PAGE.encode()
_HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
_CHUNKED = _HTML + b"Transfer-Encoding: chunked\r\n\r\n"
_BROKEN = Refused(Unreachable, "sent a broken response")
_SMALL = {"page_bytes": 1_000_000}
_CUT = _BODY.index(b"It has burned")


async def _reset(visit: Visit) -> None:
    await visit.send(http(PAGE, f"Content-Length: {len(_BODY) * 2}"))
    visit.reset()


CONNECTIONS = (
    Animal(
        "connection refused",
        says(),
        Refused(Unreachable, "could not be reached"),
        visits=0,
        listens=False,
    ),
    Animal("closed before a byte", says(b""), _BROKEN, visits=2),
    Animal("closed in a header", says(_HTML + b"X-Cut: of"), _BROKEN, visits=2),
    Animal(
        "closed in the body",
        says(http(PAGE, f"Content-Length: {len(_BODY) + 500}")),
        _BROKEN,
        visits=2,
    ),
    Animal("reset in the body", _reset, _BROKEN, visits=2),
    Animal(
        "length too short",
        says(http(PAGE, f"Content-Length: {_CUT}")),
        read(WORDS, without=("It has burned",)),
    ),
    Animal("length of garbage", says(http(PAGE, "Content-Length: a few")), _BROKEN, visits=2),
    Animal("length below zero", says(http(PAGE, "Content-Length: -5")), _BROKEN, visits=2),
    Animal(
        "length beyond number",
        says(http(PAGE, "Content-Length: " + "9" * 19)),
        Refused(TooLarge, "larger than"),
    ),
    Animal(
        "two lengths",
        says(http(PAGE, "Content-Length: 10", f"Content-Length: {len(_BODY)}")),
        _BROKEN,
        visits=2,
    ),
    Animal(
        "length and chunks",
        says(http(chunked(_BODY), "Content-Length: 10", "Transfer-Encoding: chunked")),
        WHOLE,
    ),
    Animal("chunks", says(_CHUNKED, chunked(_BODY[:100], _BODY[100:])), WHOLE),
    Animal(
        "chunks with a trailer", says(_CHUNKED, chunked(_BODY)[:-2] + b"X-Sum: 1\r\n\r\n"), WHOLE
    ),
    Animal("chunk size of garbage", says(_CHUNKED, b"ZZ\r\n" + _BODY), _BROKEN, visits=2),
    Animal(
        "chunk size beyond number", says(_CHUNKED, b"f" * 40 + b"\r\n" + _BODY), _BROKEN, visits=2
    ),
    Animal(
        "chunk longer than its size",
        says(_CHUNKED, b"10\r\n" + _BODY + b"\r\n0\r\n\r\n"),
        _BROKEN,
        visits=2,
    ),
    Animal("last chunk missing", says(_CHUNKED, chunked(_BODY)[:-5]), _BROKEN, visits=2),
    Animal(
        "chunks without end",
        endless(_CHUNKED, b"1000\r\n" + b"a " * 2048 + b"\r\n"),
        Refused(TooLarge, "1,000,000 bytes"),
        settings=_SMALL,
    ),
    Animal(
        "chunks of one byte without end",
        endless(_CHUNKED, b"1\r\na\r\n" * 5_000),
        Refused(TooLarge, "10,000 bytes"),
        settings={"page_bytes": 10_000},
    ),
    Animal(
        "chunk extension without end", endless(_CHUNKED, b"1;" + b"a" * 10_000), _BROKEN, visits=2
    ),
    Animal(
        "body without end",
        endless(_HTML + b"\r\n", b"<p>More.</p>" * 1_000),
        Refused(TooLarge, "1,000,000 bytes"),
        settings=_SMALL,
    ),
    Animal(
        "coding of the transfer that nobody knows",
        says(http(PAGE, "Transfer-Encoding: gzip, chunked")),
        _BROKEN,
        visits=2,
    ),
    Animal("HTTP/0.9", says(_BODY), _BROKEN, visits=2),
    Animal(
        "HTTP/1.0 without a length", says(_HTML.replace(b"1.1", b"1.0") + b"\r\n" + _BODY), WHOLE
    ),
    Animal("HTTP/7.3", says(http(PAGE).replace(b"HTTP/1.1", b"HTTP/7.3")), WHOLE),
    Animal("a radio station", says(http(PAGE).replace(b"HTTP/1.1", b"ICY")), _BROKEN, visits=2),
    Animal("SSH", says(b"SSH-2.0-OpenSSH_9.6\r\n"), _BROKEN, visits=2),
    Animal(
        "a mail server",
        says(b"220 mail.example.com ESMTP\r\n500 unrecognised command\r\n"),
        _BROKEN,
        visits=2,
    ),
    Animal(
        "a database",
        says(b"J\x00\x00\x00\x0a8.0.36\x00\x08\x00\x00\x00" + bytes(range(64))),
        _BROKEN,
        visits=2,
    ),
    Animal(
        "random bytes without end",
        endless(b"", b"\x93\x00\xfe\x10\xa8\x77\x01" * 1_000),
        _BROKEN,
        visits=2,
    ),
    Animal("garbage behind the body", says(http(PAGE), b"\x00\xff garbage"), WHOLE),
    Animal(
        "another answer behind the body",
        says(http(PAGE) + http("<p>A second answer that nobody asked for.</p>")),
        read(LAST, without=("second answer",)),
    ),
)

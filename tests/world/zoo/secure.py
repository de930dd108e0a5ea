"""Servers that speak TLS and HTTP/2, or fail to."""

from __future__ import annotations

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from spadework.errors import TooLarge, TooSlow, Unreachable
from tests.world.zoo.animal import Animal, Refused, Serve
from tests.world.zoo.serving import http, mute, says
from tests.world.zoo.texts import PAGE, WHOLE
from tests.world.zoo.visit import Visit

_H2 = ("h2",)
_OPEN = says(http(PAGE))
_BROKEN = Refused(Unreachable, "sent a broken response")
_UNTRUSTED = "could not be reached"
_BODY = PAGE.encode()


def _h2(answer: str) -> Serve:
    """Speaks HTTP/2 and has no robots.txt; what it does with a page, `answer` says."""

    async def serve(visit: Visit) -> None:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        await visit.send(connection.data_to_send())
        while data := await visit.reader.read(65_536):
            for event in _events(connection, data):
                if isinstance(event, h2.events.RequestReceived):
                    path = dict(event.headers)[b":path"]
                    raw = (
                        _robots(connection, event.stream_id)
                        if path == b"/robots.txt"
                        else _ANSWERS[answer](connection, event.stream_id)
                    )
                    await visit.send(connection.data_to_send() + raw)
            await visit.send(connection.data_to_send())

    return serve


def _events(connection: h2.connection.H2Connection, data: bytes) -> list[h2.events.Event]:
    """What the client did; nothing once this side has ended the connection."""
    try:
        return list(connection.receive_data(data))
    except h2.exceptions.ProtocolError:
        return []


def _robots(connection: h2.connection.H2Connection, stream: int) -> bytes:
    connection.send_headers(stream, [(":status", "404")], end_stream=True)
    return b""


def _page(connection: h2.connection.H2Connection, stream: int) -> bytes:
    connection.send_headers(stream, [(":status", "200"), ("content-type", "text/html")])
    connection.send_data(stream, _BODY, end_stream=True)
    return b""


def _reset(connection: h2.connection.H2Connection, stream: int) -> bytes:
    connection.reset_stream(stream, 7)
    return b""


def _half(connection: h2.connection.H2Connection, stream: int) -> bytes:
    connection.send_headers(stream, [(":status", "200"), ("content-type", "text/html")])
    connection.send_data(stream, _BODY[:200])
    connection.reset_stream(stream, 2)
    return b""


def _goaway(connection: h2.connection.H2Connection, stream: int) -> bytes:
    connection.close_connection(1)
    return b""


def _garbage(connection: h2.connection.H2Connection, stream: int) -> bytes:
    return b"\x00\x00\x05\x00\x00\x00\x00\x00\x00hello"  # data for stream 0, which has none


def _frame(connection: h2.connection.H2Connection, stream: int) -> bytes:
    return b"\xff" * 500


def _short(connection: h2.connection.H2Connection, stream: int) -> bytes:
    connection.send_headers(
        stream,
        [(":status", "200"), ("content-type", "text/html"), ("content-length", "99999999999")],
        end_stream=False,
    )
    return b""


def _storm(connection: h2.connection.H2Connection, stream: int) -> bytes:
    ping = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + b"12345678"
    return ping * 2_000 + _page(connection, stream)


def _silence(connection: h2.connection.H2Connection, stream: int) -> bytes:
    return b""


_ANSWERS = {
    "page": _page,
    "reset": _reset,
    "half": _half,
    "goaway": _goaway,
    "garbage": _garbage,
    "frame": _frame,
    "length": _short,
    "pings": _storm,
    "silence": _silence,
}

SECURE = (
    Animal("TLS", _OPEN, WHOLE, tls="good"),
    Animal(
        "a certificate of its own making",
        _OPEN,
        Refused(Unreachable, _UNTRUSTED),
        tls="self-signed",
        visits=0,
    ),
    Animal(
        "a certificate out of date", _OPEN, Refused(Unreachable, "expired"), tls="expired", visits=0
    ),
    Animal(
        "a certificate of another",
        _OPEN,
        Refused(Unreachable, "127.0.0.1"),
        tls="wrong name",
        visits=0,
    ),
    Animal(
        "TLS that stalls", mute(), Refused(TooSlow, "0.4 s"), tls="mute", first_byte=0.4, visits=4
    ),
    Animal(
        "plain HTTP where TLS belongs",
        _OPEN,
        Refused(Unreachable, _UNTRUSTED),
        tls="mute",
        visits=6,
    ),
    Animal(
        "TLS that is garbage",
        says(b"\x16\x03\x01\xff\xff" * 100),
        Refused(Unreachable, _UNTRUSTED),
        tls="mute",
        visits=6,
    ),
    Animal("TLS that hangs up", says(), Refused(Unreachable, ""), tls="mute", visits=6),
    Animal("HTTP/2", _h2("page"), WHOLE, tls="good", protocols=_H2, visits=1),
    Animal(
        "HTTP/2 that resets the page", _h2("reset"), _BROKEN, tls="good", protocols=_H2, visits=2
    ),
    Animal(
        "HTTP/2 that resets half a page", _h2("half"), _BROKEN, tls="good", protocols=_H2, visits=2
    ),
    Animal("HTTP/2 that goes away", _h2("goaway"), _BROKEN, tls="good", protocols=_H2, visits=3),
    Animal("HTTP/2 of garbage", _h2("garbage"), _BROKEN, tls="good", protocols=_H2, visits=3),
    Animal(
        "HTTP/2 with a frame that never ends",
        _h2("frame"),
        Refused(TooSlow, "0.4 s"),
        tls="good",
        protocols=_H2,
        first_byte=0.4,
        visits=2,
    ),
    Animal(
        "HTTP/2 with a length beyond reason",
        _h2("length"),
        Refused(TooLarge, "larger than"),
        tls="good",
        protocols=_H2,
        visits=2,
    ),
    Animal(
        "HTTP/2 with a storm of pings", _h2("pings"), WHOLE, tls="good", protocols=_H2, visits=1
    ),
    Animal(
        "HTTP/2 that says nothing",
        _h2("silence"),
        Refused(TooSlow, "0.4 s"),
        tls="good",
        protocols=_H2,
        first_byte=0.4,
        visits=2,
    ),
)

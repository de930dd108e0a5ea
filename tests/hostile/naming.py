"""A name server that knows the names of an attack, each of which it may treat badly."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass

_A, _CNAME = 1, 5
_UNKNOWN, _FAILING = 3, 2
#: An address at which nobody listens.
_DEAD = "127.0.9.9"
_SLOW_SECONDS = 3.0


@dataclass
class Name:
    """Where a name leads, and what is done about it: see `attack.NAMINGS`. "turning" leads to a
    public address when it is first asked for, and to its own later.
    """

    address: str
    treated: str = ""
    asked: int = 0


class NameServer(asyncio.DatagramProtocol):
    """Answers what it is asked about `names`; of others it knows nothing."""

    def __init__(self, names: dict[str, Name]) -> None:
        self.names = names
        self._later: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is open."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a question, or not."""
        name, kind, question = _question(data)
        known = self.names.get(name, Name("", "unknown"))
        known.asked += kind == _A
        if known.treated == "silent":
            return
        answer = _answer(data[:2], question, known, kind)
        if known.treated == "slow":
            task = asyncio.get_running_loop().create_task(self._late(answer, addr))
            self._later.add(task)
            task.add_done_callback(self._later.discard)
        else:
            self._transport.sendto(answer, addr)  # type: ignore[attr-defined]

    async def _late(self, answer: bytes, to: tuple[str, int]) -> None:
        await asyncio.sleep(_SLOW_SECONDS)
        self._transport.sendto(answer, to)  # type: ignore[attr-defined]


def _question(data: bytes) -> tuple[str, int, bytes]:
    """The name that is asked for, the kind of its record, and the question as it came."""
    labels, at = [], 12
    while length := data[at]:
        labels.append(data[at + 1 : at + 1 + length].decode("latin-1"))
        at += 1 + length
    (kind,) = struct.unpack("!H", data[at + 1 : at + 3])
    return ".".join(labels).lower(), kind, data[12 : at + 5]


def _answer(number: bytes, question: bytes, name: Name, kind: int) -> bytes:
    if name.treated == "garbage":
        return number + b"\x81\x80" + b"\xff" * 60
    code = {"unknown": _UNKNOWN, "failing": _FAILING}.get(name.treated, 0)
    records = []
    if not code and name.treated == "circular":
        records = [_record(_CNAME, b"\xc0\x0c")]  # it is another name of its own
    elif not code and kind == _A:
        records = [_record(_A, socket.inet_aton(address)) for address in _addresses(name)]
    counts = struct.pack("!4H", 1, len(records), 0, 0)
    return number + struct.pack("!H", 0x8180 | code) + counts + question + b"".join(records)


def _addresses(name: Name) -> list[str]:
    if name.treated == "turning" and name.asked <= 1:
        return ["93.184.216.34"]
    return [_DEAD, name.address] if name.treated == "dead first" else [name.address]


def _record(kind: int, data: bytes) -> bytes:
    """A record about the name in the question, which may not be kept."""
    return b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(data)) + data

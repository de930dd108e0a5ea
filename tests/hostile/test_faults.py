"""The attackers do what they say: each fault keeps a client from what it asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from tests.hostile.attack import (
    CONNECTS,
    DISKS,
    DOORS,
    NAMINGS,
    PROCESSES,
    SERVICES,
    SIGNALS,
    SITES,
    Assault,
    attack,
)
from tests.hostile.faults import FAULTS
from tests.hostile.front import Front
from tests.hostile.naming import Name, NameServer

HONEST = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhonest"
#: These give what was asked for, only later than one would wish.
GIVING = {"never closed", "dripping", "late"}


@pytest.fixture
async def behind() -> AsyncIterator[tuple[str, int]]:
    """Where an honest server is."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HONEST)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[:2]


async def _heard(front: Front, path: str, seconds: float) -> bytes:
    """What a client that stays so long is told."""
    heard, over = b"", asyncio.Event()

    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await front(reader, writer)
        over.set()

    async with await asyncio.start_server(conversation, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(seconds):
                while piece := await reader.read(65_536):
                    heard += piece
        writer.close()
        await over.wait()
    return heard


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_withholds_the_answer(behind: tuple[str, int], name: str):
    assault = {"/": Assault(share=1.0, faults=(name,))}
    front = Front("5", assault, behind, "text/html", ("ftp://x.example/",))
    heard = await _heard(front, "/page", seconds=30 if name in GIVING - {"never closed"} else 1)
    assert heard.endswith(b"honest") == (name in GIVING)
    assert front.did == {name: 1}


async def test_what_is_not_attacked_is_handed_on(behind: tuple[str, int]):
    attacked = {"/": Assault(share=1.0, faults=("closed",)), "/robots.txt": Assault()}
    front = Front("a seed", attacked, behind, "text/html")
    assert await _heard(front, "/robots.txt", seconds=10) == HONEST
    assert await _heard(front, "/", seconds=10) == b""


def test_every_kind_of_fault_is_drawn():
    drawn = [attack(seed) for seed in range(1_000)]
    hurt = [a for each in drawn for a in (*each.services.values(), *each.sites.values())]
    assert {name for a in hurt for name in a.faults} == set(FAULTS)
    assert {a.connect for a in hurt} == {"", *CONNECTS}
    assert {name for each in drawn for name in each.services} == set(SERVICES)
    assert {name for each in drawn for name in each.sites} == set(SITES)
    assert {how for each in drawn for how in each.names.values()} == set(NAMINGS)
    assert {each.process for each in drawn} == {"", *PROCESSES}
    assert {each.disk for each in drawn} == {"", *DISKS}
    assert {each.signals for each in drawn} == {"", *SIGNALS}
    assert {each.door for each in drawn} == set(DOORS)
    assert all(10 <= each.seconds <= 60 for each in drawn)


class _Answer(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.came: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.came.set_result(data)


async def _asked(name: str, names: dict[str, Name]) -> bytes:
    """What the name server says of a name within a second."""
    loop = asyncio.get_running_loop()
    server, _ = await loop.create_datagram_endpoint(
        lambda: NameServer(names), local_addr=("127.0.0.1", 0)
    )
    client, answer = await loop.create_datagram_endpoint(
        _Answer, remote_addr=server.get_extra_info("sockname")
    )
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    client.sendto(b"\x12\x34\x01\x00\x00\x01" + b"\0" * 6 + labels + b"\0\0\x01\0\x01")
    try:
        return await asyncio.wait_for(answer.came, 1)
    except TimeoutError:
        return b""
    finally:
        client.close()
        server.close()


@pytest.mark.parametrize(
    ("treated", "code", "says"),
    [
        ("", 0, [b"\x7f\0\x03\x01"]),
        ("dead first", 0, [b"\x7f\0\x09\x09", b"\x7f\0\x03\x01"]),
        ("unknown", 3, []),
        ("failing", 2, []),
        ("circular", 0, [b"\xc0\x0c"]),
        ("turning", 0, [b"\x5d\xb8\xd8\x22"]),
    ],
)
async def test_a_name_is_treated_so(treated: str, code: int, says: list[bytes]):
    answer = await _asked("a.example", {"a.example": Name("127.0.3.1", treated)})
    assert answer[3] & 15 == code and answer[7] == len(says)
    assert all(said in answer for said in says)


async def test_a_silent_name_is_not_answered_and_others_are_unknown():
    names = {"a.example": Name("127.0.3.1", "silent")}
    assert await _asked("a.example", names) == b""
    assert (await _asked("b.example", names))[3] & 15 == 3

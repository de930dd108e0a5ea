"""Names and addresses: one resolution, every address judged, the connection to a judged one, the
name kept in TLS and in the request.
"""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from spadework.errors import NotAllowed, TooSlow, Unreachable
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.guard import Resolve, resolve
from spadework.tools.web import connections
from tests.tools.fetch.tls import PAGE, serve
from tests.world.sites import SITES, World


def answers(*rounds: list[str]) -> tuple[Resolve, list[str]]:
    """A resolver that gives one list of addresses after the other, the last one for ever, and the
    names it was asked.
    """
    asked: list[str] = []

    async def resolver(host: str) -> list[str]:
        asked.append(host)
        return rounds[min(len(asked), len(rounds)) - 1]

    return resolver, asked


def named(world: World, site: str, name: str, path: str = "/plain") -> str:
    return f"http://{name}:{urlsplit(world.url(site)).port}{path}"


async def test_the_connection_goes_to_the_address_that_was_judged(world: World):
    resolver, asked = answers([SITES["odd"]], [SITES["private"]])
    async with Web(Settings(allow_hosts=(SITES["odd"],), robots=False), resolve=resolver) as web:
        url = named(world, "odd", "rebinding.example")
        page = await web.fetch(url, seconds=5)
    assert page.url == url
    assert asked == ["rebinding.example"], "the name is resolved once for a connection"
    assert world.asked("odd", "/plain")[0].headers["host"] == urlsplit(url).netloc


async def test_a_name_that_turns_to_a_private_address_is_refused(world: World):
    resolver, asked = answers([SITES["odd"]], [SITES["private"]])
    async with Web(
        Settings(allow_hosts=(SITES["odd"],), robots=False, parallel_per_host=1), resolve=resolver
    ) as web:
        await web.fetch(named(world, "odd", "rebinding.example"), seconds=5)
        with pytest.raises(
            NotAllowed, match=r"rebinding\.example is refused: 127\.0\.2\.1 is not a public address"
        ):
            await web.fetch(named(world, "private", "rebinding.example", "/secret"), seconds=5)
    assert len(asked) == 2
    assert not world.asked("private")


@pytest.mark.timed
async def test_a_name_server_that_is_silent_is_named_and_not_asked_twice(
    monkeypatch: pytest.MonkeyPatch,
):
    let_go, asked = threading.Event(), []

    def silent(host: str, *_: object) -> list[Any]:
        asked.append(host)
        let_go.wait(60)
        return []

    monkeypatch.setattr(connections, "RESOLVER", connections.Resolver(silent, seconds=0.3))
    started = time.monotonic()
    async with Web(Settings(robots=False)) as web:
        with pytest.raises(Unreachable, match=r"no name server answered for silent\.example\.$"):
            await web.fetch("http://silent.example/", seconds=20)
    let_go.set()
    assert asked == ["silent.example"]
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.2.1"],
        ["1.1.1.1", "127.0.2.1"],
        ["127.0.2.1", "1.1.1.1"],
        ["::ffff:127.0.2.1"],
        ["fe80::1%lo"],
    ],
)
async def test_one_private_address_condemns_a_name(world: World, addresses):
    resolver, _ = answers(addresses)
    async with Web(Settings(), resolve=resolver) as web:
        with pytest.raises(NotAllowed):
            await web.fetch(named(world, "private", "mixed.example"), seconds=5)
    assert not world.asked("private")


async def test_an_owned_name_may_be_private_but_opens_no_other_name(world: World):
    resolver, _ = answers([SITES["private"]])
    world.put("private", "/plain", "<p>The owner's own page.</p>")
    async with Web(Settings(allow_hosts=("Wiki.LAN",)), resolve=resolver) as web:
        assert b"own page" in (await web.fetch(named(world, "private", "wiki.lan"), seconds=5)).body
        for other in ("other.lan", SITES["private"]):
            with pytest.raises(NotAllowed):
                await web.fetch(named(world, "private", other), seconds=5)


async def test_literal_addresses_are_not_resolved(world: World, settings: Settings):
    resolver, asked = answers(["1.1.1.1"])
    async with Web(settings, resolve=resolver) as web:
        await web.fetch(world.url("odd", "/plain"), seconds=5)
    assert asked == []


async def test_the_next_address_is_tried_when_one_does_not_answer(world: World):
    resolver, _ = answers(["127.0.3.3", SITES["odd"]])
    async with Web(Settings(allow_hosts=("127.0.3.3", SITES["odd"])), resolve=resolver) as web:
        assert (await web.fetch(named(world, "odd", "two.example"), seconds=5)).status == 200


async def test_a_port_where_nobody_listens_is_unreachable():
    async with Web(Settings(allow_hosts=("127.0.3.3",))) as web:
        with pytest.raises(Unreachable, match="could not be reached"):
            await web.fetch("http://127.0.3.3:9/", seconds=5)


async def test_a_name_without_addresses_is_unreachable_at_once():
    async def resolver(host: str) -> list[str]:
        asked.append(host)
        raise OSError(-2, "Name or service not known")

    asked: list[str] = []
    async with Web(Settings(robots=False), resolve=resolver) as web:
        with pytest.raises(Unreachable, match=r"no address was found for no\.example"):
            await web.fetch("http://no.example/", seconds=5)
    assert asked == ["no.example"], "a name that does not exist is not asked for again"


@pytest.mark.timed
async def test_a_resolver_that_hangs_is_left_at_the_deadline():
    async def resolver(host: str) -> list[str]:
        await asyncio.sleep(60)
        return []

    started = time.monotonic()
    async with Web(Settings(), resolve=resolver) as web:
        with pytest.raises(TooSlow):
            await web.fetch("http://slow.example/", seconds=0.3)
    assert time.monotonic() - started < 1


async def test_the_systems_resolver_finds_loopback_and_the_guard_refuses_it(world: World):
    assert "127.0.0.1" in await resolve("localhost")
    async with Web(Settings()) as web:
        with pytest.raises(NotAllowed, match="localhost is refused"):
            await web.fetch("http://localhost:9/", seconds=5)


@pytest.mark.parametrize("name", ["no-such-name.invalid", "a" * 70 + ".example", "\udcff.example"])
async def test_the_systems_resolver_says_when_a_name_is_none(name):
    with pytest.raises((OSError, UnicodeError)):
        await resolve(name)


async def test_tls_and_http2_keep_the_name_of_a_pinned_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    resolver, _ = answers(["127.0.3.4"])
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    async with (
        serve("127.0.3.4", "pinned.example", tmp_path) as server,
        Web(Settings(allow_hosts=("127.0.3.4",)), resolve=resolver) as web,
    ):
        page = await web.fetch(f"https://pinned.example:{server.port}/", seconds=5)
    assert page.body == PAGE
    assert set(server.greeted) == {"pinned.example"}
    assert set(server.authorities) == {f"pinned.example:{server.port}"}
    assert server.protocols == ["h2"], "one connection for robots.txt and the page"


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_certificate_must_be_trusted_and_name_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted
):
    resolver, _ = answers(["127.0.3.4"])
    async with serve(
        "127.0.3.4", "other.example" if trusted else "pinned.example", tmp_path
    ) as server:
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        async with Web(Settings(allow_hosts=("127.0.3.4",), robots=False), resolve=resolver) as web:
            with pytest.raises(Unreachable, match="certificate"):
                await web.fetch(f"https://pinned.example:{server.port}/", seconds=5)
    assert not server.authorities


async def test_a_server_that_speaks_no_tls_is_unreachable(world: World, settings: Settings):
    async with Web(settings) as web:
        with pytest.raises(Unreachable, match="could not be reached"):
            await web.fetch(world.url("odd", "/plain").replace("http:", "https:"), seconds=5)
    assert not world.asked("odd", "/plain")

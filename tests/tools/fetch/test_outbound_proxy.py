"""Where the only way out is a proxy, it is asked, and the address guard judges all the same."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpcore
import pytest

from spadework.errors import NotAllowed, SearchError, SettingsError
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.guard import GuardedBackend
from spadework.tools.search.web_services import SearXNG
from spadework.tools.web.connections import proxy_for, read_certificates
from spadework.values import Query

PAGE = b"<html><title>Pier</title><main><h1>Pier</h1><p>The pier is 84 metres long.</p></main>"
FOUND = b'{"results": [{"url": "https://a.example/x", "title": "Pier"}]}'


class Gateway:
    """A proxy that answers in the place of every server; `heads` are what it was asked."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.status = b"200 OK"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                if head.startswith("CONNECT"):
                    writer.write(b"HTTP/1.1 " + self.status + b"\r\n\r\n")
                    continue
                kind, body = ("text/html", PAGE) if "/search" not in head else ("x/json", FOUND)
                said = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
                writer.write(f"{said}\r\n\r\n".encode() + body)
        writer.close()


@pytest.fixture
async def gateway(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gateway]:
    gateway = Gateway()
    async with await asyncio.start_server(gateway.talk, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        monkeypatch.setenv("SPADEWORK_PROXY", f"http://me:p%40ss@{host}:{port}")
        yield gateway


async def unknown(host: str) -> list[str]:
    raise OSError("no name server")


async def inside(host: str) -> list[str]:
    return ["10.0.0.1"]


def settings(**given: object) -> Settings:
    return Settings(robots=False, cache_mb=0, **given)  # type: ignore[arg-type]


async def test_a_page_is_asked_of_the_proxy_by_its_whole_address(gateway: Gateway):
    async with Web(settings(), resolve=unknown) as web:
        page = await web.fetch("http://pages.example/pier", seconds=5)
    assert page.body == PAGE
    [head] = gateway.heads
    assert head.startswith("GET http://pages.example/pier HTTP/1.1\r\n")
    assert f"Basic {b64encode(b'me:p@ss').decode()}" in head


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://pages.example/", "https://a.example/"])
async def test_what_leads_inside_is_refused_before_the_proxy_is_asked(gateway: Gateway, url: str):
    async with Web(settings(), resolve=inside) as web:
        with pytest.raises(NotAllowed, match=r"10\.0\.0\.1 is not a public address"):
            await web.fetch(url, seconds=5)
    assert gateway.heads == []


async def test_a_name_of_the_inside_is_refused_unless_it_is_ones_own(gateway: Gateway):
    async with Web(settings(), resolve=unknown) as web:
        with pytest.raises(NotAllowed, match="wiki is not a public host name"):
            await web.fetch("http://wiki/", seconds=5)
    async with Web(settings(allow_hosts=("wiki",)), resolve=unknown) as web:
        assert (await web.fetch("http://wiki/", seconds=5)).body == PAGE


async def test_what_is_encrypted_goes_through_a_tunnel(gateway: Gateway):
    line = await GuardedBackend(unknown).connect_tcp("pages.example", 443)
    await line.write(b"GET / HTTP/1.1\r\nHost: pages.example\r\n\r\n")
    assert await line.read(4096)
    await line.aclose()
    assert gateway.heads[0].startswith("CONNECT pages.example:443 HTTP/1.1\r\n")
    gateway.status = b"407 Proxy Authentication Required"
    with pytest.raises(httpcore.ConnectError, match=r"the proxy 127\.0\.0\.1:\d+ answered 407"):
        await GuardedBackend(unknown).connect_tcp("pages.example", 443)


async def test_searches_go_through_it_but_not_those_of_this_machine(gateway: Gateway):
    found = await SearXNG("http://searx.example").search(Query(text="pier"), limit=3, seconds=5)
    assert [hit.title for hit in found] == ["Pier"]
    with pytest.raises(SearchError):
        await SearXNG("http://127.0.0.1:9").search(Query(text="pier"), limit=3, seconds=5)
    assert len(gateway.heads) == 1


@pytest.mark.parametrize(
    ("env", "url", "proxy"),
    [
        ({"HTTPS_PROXY": "http://p:1"}, "https://a.example/", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://a.example/", "http://p:1"),
        ({"HTTP_PROXY": "p:1"}, "http://a.example/", "http://p:1"),
        ({"HTTP_PROXY": "p:1"}, "https://a.example/", None),
        ({"HTTPS_PROXY": "p:1", "SPADEWORK_PROXY": "q:2"}, "https://a.example/", "http://q:2"),
        ({"HTTPS_PROXY": "p:1", "NO_PROXY": ".a.example"}, "https://x.a.example/", None),
        ({"HTTPS_PROXY": "p:1"}, "http://localhost:8080/", None),
        ({"HTTPS_PROXY": "p:1"}, "http://[::1]:8080/", None),
        ({}, "https://a.example/", None),
    ],
)
def test_the_environment_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], url: str, proxy: str | None
):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy


def test_a_proxy_that_is_none_is_refused_without_its_password(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPADEWORK_PROXY", "socks5://me:secret@p:1")
    with pytest.raises(SettingsError, match=r"The proxy must be .*, not 'p:1'"):
        proxy_for("https://a.example/")


def test_a_file_without_certificates_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(SettingsError, match=r"could be read from .*none\.pem \(SSL_CERT_FILE\)"):
        read_certificates()


@pytest.mark.parametrize("named", ["10.0.0.0/8", "10.0.0.1", "pages.example"])
async def test_a_network_of_ones_own_is_let_through(gateway: Gateway, named: str):
    async with Web(settings(allow_hosts=(named,)), resolve=inside) as web:
        assert (await web.fetch("http://pages.example/", seconds=5)).body == PAGE


def test_what_is_no_network_is_refused():
    with pytest.raises(SettingsError, match="allow_hosts cannot be"):
        Settings.load(allow_hosts=("10.0.0.0/99",))

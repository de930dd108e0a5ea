"""What the tests of the browser share: a browser that stays open between tests, and a trap that
counts who comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser


def needs_chromium() -> None:
    """Skip, saying why, where no browser can be started."""
    if missing := Browser(Settings()).what_is_missing:
        pytest.skip(missing)


@contextmanager
def kept_open(settings: Settings, url: str) -> Iterator[None]:
    """The browser of the process, started once for all that happens inside."""

    async def start() -> None:
        await browser.visit(url, seconds=60)

    browser = Browser(settings)
    asyncio.run(start())
    try:
        yield
    finally:
        asyncio.run(browser.__aexit__(None, None, None))


def chromiums(of: int | None = None) -> list[str]:
    """The processes of a browser and of its driver among all that process `of` (this one) has
    started.
    """
    lines = []
    for child in psutil.Process(of).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            lines.append(" ".join(child.cmdline()))
    return [line for line in lines if "chrom" in line.lower() or "playwright" in line]


def browser_proxy() -> str:
    """Host and port of the proxy that the browser of this process was started with."""
    [address] = {
        word.partition("=http://")[2]
        for line in chromiums()
        for word in line.split()
        if word.startswith("--proxy-server=")
    }
    return address


class Trap:
    """A server nobody may reach: TCP and UDP on one port of `host`. `came` lists who came all the
    same.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self.came: list[str] = []
        self._tcp = socket.create_server((host, 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((host, self.port))
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._accept, self._receive)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def place(self) -> str:
        """Host and port."""
        return f"{self.host}:{self.port}"

    def close(self) -> None:
        self._tcp.shutdown(socket.SHUT_RDWR)
        self._tcp.close()
        self._udp.sendto(b"end", (self.host, self.port))
        for thread in self._threads:
            thread.join(5)
        self._udp.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._tcp.accept()
            except OSError:
                return
            connection.settimeout(1)
            try:
                said = connection.recv(65_536)
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\naccess-control-allow-origin:"
                    b" *\r\nconnection: close\r\n\r\nok"
                )
            except OSError:
                said = b""
            connection.close()
            self.came.append(said.partition(b"\r\n")[0].decode("latin-1"))

    def _receive(self) -> None:
        while (said := self._udp.recv(2_000)) != b"end":
            self.came.append(f"UDP {said[:10]!r}")

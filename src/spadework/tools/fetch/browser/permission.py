"""Limit what one browser context may reach, and record what failed."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from importlib.resources import files

import httpcore

from spadework.errors import NotAllowed
from spadework.tools.fetch.guard import GuardedBackend, Resolve, is_public

MAX_CONNECTIONS = 64
_LINES = (files("spadework.tools.fetch.browser") / "trackers.txt").read_text("utf-8").split("\n")
_TRACKERS = frozenset(line for line in _LINES if line and not line.startswith("#"))


class Permission:
    """A browser context's permission to use the proxy, with its `user` and `password`.
    `refused` and `failed` hold reasons by host. Internal hosts that the owner allows can be
    reached only while the visited site is internal, too.
    """

    def __init__(self, resolve: Resolve, allow_hosts: Collection[str], most_bytes: int) -> None:
        self.user, self.password = secrets.token_hex(8), secrets.token_urlsafe(24)
        self._backend = GuardedBackend(resolve, allow_hosts)
        self._strict = GuardedBackend(resolve)
        self._most_bytes = most_bytes
        self._site, self._inside = "", False
        self.begin("")

    def begin(self, site: str) -> None:
        """Start a visit to the host `site`, resetting counts and reasons."""
        if site != self._site:
            self._site, self._inside = site, False
        self.received = 0
        self.connections = 0
        self.refused: dict[str, str] = {}
        self.failed: dict[str, str] = {}

    @property
    def spent(self) -> bool:
        """Whether the page has loaded more bytes than allowed."""
        return self.received > self._most_bytes

    async def connect(self, host: str, port: int) -> httpcore.AsyncNetworkStream:
        """Return a checked connection. NotAllowed and httpcore's errors are recorded and raised."""
        if tracker(host) and not tracker(self._site):
            raise NotAllowed(f"{host} is a tracker and is not contacted.")
        try:
            if self.spent:
                raise NotAllowed("The page has loaded more bytes than allowed.")
            if self.connections >= MAX_CONNECTIONS:
                raise NotAllowed("The page makes more connections than allowed.")
            backend = self._backend if self._inside or host == self._site else self._strict
            stream = await backend.connect_tcp(host, port)
        except NotAllowed as error:
            self.refused[host] = str(error)
            raise
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            self.failed[host] = str(error)[:150].strip(" .") or "no answer"
            raise
        self.note(host, str(stream.get_extra_info("server_addr")[0]))
        return stream

    def note(self, host: str, address: str) -> None:
        """Record the address of `host`, which shows whether the visited site is internal."""
        if host == self._site:
            self._inside = not is_public(address)


def tracker(host: str) -> bool:
    """Return whether the host only serves advertisements or tracks users."""
    labels = host.split(".")
    return any(".".join(labels[n:]) in _TRACKERS for n in range(len(labels) - 1))

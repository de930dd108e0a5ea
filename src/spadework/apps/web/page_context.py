"""Shared context of the page by user: settings, runs, and shutdown."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from starlette.requests import Request

from spadework.apps.web.permissions import user_of
from spadework.apps.web.security import Access
from spadework.sessions import admission
from spadework.sessions.health.readiness import Readiness
from spadework.sessions.people.people import People
from spadework.sessions.runs import Runs
from spadework.settings import Settings


@dataclass
class Web:
    """The server for one user, with their `settings` and `runs`. `streams` counts open event
    streams per browser; `examples` are questions the library answers.
    """

    settings: Settings
    access: Access
    runs: Runs
    user: str = ""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    streams: Counter[str] = field(default_factory=Counter)
    examples: tuple[str, ...] = ()


class Server:
    """The whole server; `owner` is its view without user names."""

    def __init__(self, settings: Settings, access: Access) -> None:
        self.people = access.people or People(settings)
        self.owner = Web(settings, access, Runs(settings))
        self.readiness = Readiness(settings)
        self._of = {"": self.owner}

    def web(self, user: str) -> Web:
        """Return the server for a user."""
        if user not in self._of:
            settings, owner = self.people.settings_of(user), self.owner
            shared = (owner.closing, owner.streams)
            self._of[user] = Web(settings, owner.access, Runs(settings), user, *shared)
        return self._of[user]

    def quiet(self) -> bool:
        """Return whether nothing runs and all questions are recorded."""
        return not admission.here().inside and all(web.runs.written() for web in self._of.values())

    async def take_up(self) -> None:
        """Resume, for all users, what an earlier server was stopped in."""
        for user in list(self.people.names()):
            await self.web(user).runs.take_up()

    async def close(self) -> None:
        """Stop all runs and end the streams."""
        self.owner.closing.set()
        await asyncio.gather(*(web.runs.close() for web in self._of.values()))


@dataclass(frozen=True)
class Seen:
    """The server for the session's owner, and whether the visitor may act on the session."""

    web: Web
    changes: bool


def seen_of(request: Request) -> Seen:
    """Return the server for the visitor, and whether they may act on sessions."""
    return Seen(web_of(request), changes=user_of(request.scope).may("ask"))


def server_of(request: Request) -> Server:
    """Return the server of a request."""
    server: Server = request.app.state.server
    return server


def web_of(request: Request) -> Web:
    """Return the server of a request, for its user."""
    return server_of(request).web(user_of(request.scope).name)

"""State shared by the web pages: settings, runs and the shutdown signal."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from spadework.apps.web.security import Access, user_of
from spadework.sessions import admission
from spadework.sessions.health import offered_models
from spadework.sessions.health.check import Readiness
from spadework.sessions.runs import Runs
from spadework.sessions.users import People
from spadework.settings import Settings

#: Seconds for which the model list is cached.
MODELS_SECONDS = 60.0


@dataclass
class Web:
    """The server as one user sees it. `streams` counts open event streams per browser. `examples`
    are questions that the library answers, filled in when first needed. `models` are (setting,
    label) pairs, default first.
    """

    settings: Settings
    access: Access
    runs: Runs
    user: str = ""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    streams: Counter[str] = field(default_factory=Counter)
    examples: tuple[str, ...] = ()
    models: Sequence[tuple[str, str]] = ()
    _models_until: float = 0.0

    async def learn_models(self) -> None:
        """Refresh the model list, at most once a minute."""
        if time.monotonic() >= self._models_until:
            self.models = await offered_models(self.settings, self.models)
            self._models_until = time.monotonic() + MODELS_SECONDS

    async def offers(self, model: str) -> bool:
        """Return whether a model is available, refreshing the list if necessary."""
        if model not in dict(self.models):
            self.models = await offered_models(self.settings, self.models)
        return model in dict(self.models)


class Server:
    """The server, with one `Web` per user."""

    def __init__(self, settings: Settings, access: Access) -> None:
        self.people = access.people or People(settings)
        self.owner = Web(settings, access, Runs(settings))
        self.readiness = Readiness(settings)
        self._of = {"": self.owner}

    def web(self, user: str) -> Web:
        """Return the `Web` of a user."""
        if user not in self._of:
            settings, owner = self.people.settings_of(user), self.owner
            shared = (owner.closing, owner.streams)
            self._of[user] = Web(settings, owner.access, Runs(settings), user, *shared)
        return self._of[user]

    def quiet(self) -> bool:
        """Return whether nothing is running and the next server can resume all waiting runs."""
        return not admission.here().inside and all(web.runs.written() for web in self._of.values())

    async def take_up(self) -> None:
        """Resume all sessions that an earlier server left unfinished."""
        for user in list(self.people.names()):
            await self.web(user).runs.take_up()

    async def close(self) -> None:
        """Stop all runs and end the event streams."""
        self.owner.closing.set()
        await asyncio.gather(*(web.runs.close() for web in self._of.values()))


@dataclass(frozen=True)
class Seen:
    """A visitor's `Web`, and whether they may change sessions."""

    web: Web
    changes: bool


def seen_of(request: Request) -> Seen:
    """Return the visitor's `Web`, and whether they may change sessions."""
    return Seen(web_of(request), changes=user_of(request.scope).may("ask"))


def server_of(request: Request) -> Server:
    """Return the server that handles a request."""
    server: Server = request.app.state.server
    return server


def web_of(request: Request) -> Web:
    """Return the `Web` of the request's user."""
    return server_of(request).web(user_of(request.scope).name)

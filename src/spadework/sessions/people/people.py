"""Users and their homes: the only place that decides what a user can access."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import suppress

from spadework.backend import backend_of
from spadework.errors import DiskFailed
from spadework.sessions.people.kept_list import UNKNOWN
from spadework.sessions.people.tokens import Tokens
from spadework.sessions.people.user import is_user_name, user_name
from spadework.settings import Settings

#: Folder of the users' homes within the server's.
USERS = "users"


class People:
    """The users of a server with these settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tokens = Tokens(settings.home, settings.database_url)
        self._settings: dict[str, Settings] = {"": settings}

    @property
    def there(self) -> bool:
        """Whether the server has users; otherwise every client is its owner."""
        return bool(self.settings.user_header) or self.tokens.any_user

    async def look(self) -> None:
        """Load tokens changed by others. Raises DiskFailed, SettingsError: refuse everyone then."""
        if self.settings.database_url is None:
            return
        tokens = self.tokens.list
        try:
            seconds = self.settings.health_seconds
            async with asyncio.timeout(seconds):
                known = {"tokens": tokens.version}
                news = await backend_of(self.settings).list_news(self.settings, known)
        except TimeoutError:
            raise DiskFailed("The database does not tell who may ask: it took too long.") from None
        if "tokens" in news:
            tokens.take(*news["tokens"])
        elif tokens.version == UNKNOWN:  # nobody has begun it
            tokens.take(0, "[]")

    def settings_of(self, name: str) -> Settings:
        """Return a user's settings, limited to their home. Raises SettingsError for an invalid
        name.
        """
        if name not in self._settings:
            own = user_name(name)
            server = self.settings
            short = hashlib.sha256(own.encode()).hexdigest()[:32]
            self._settings[name] = server.with_(
                home=server.home / USERS / own,
                common_home=server.common,
                qdrant_collection=f"{server.qdrant_collection[:60]}-{short}",
            )
        return self._settings[name]

    def names(self) -> Iterator[str]:
        """Yield the server's owner, and all users with a home."""
        yield ""
        found: list[str] = []
        with suppress(OSError):
            folders = (self.settings.home / USERS).iterdir()
            found = sorted(
                path.name for path in folders if path.is_dir() and is_user_name(path.name)
            )
        yield from found

"""Users and their homes. Only this module decides what users can access."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

from filelock import FileLock
from pydantic import SecretStr, TypeAdapter, ValidationError

from spadework.backend import backend_of, shared_backend
from spadework.errors import DiskFailed, SettingsError, must_be
from spadework.settings import Settings
from spadework.tools.stores.private_files import make_folder, write_atomically
from spadework.values import Value

Row = TypeVar("Row", bound=Value)

#: The version number of a list that has never been read.
UNKNOWN = -1
#: Maximum seconds to wait for the database to return a list.
LIST_SECONDS = 5.0


class ListFile(Generic[Row]):
    """A list of rows stored in a JSON file."""

    def __init__(self, path: Path, rows: TypeAdapter[list[Row]]) -> None:
        self.path = path
        self._rows = rows
        self._seen: tuple[int, ...] = ()
        self._current: list[Row] = []

    @property
    def version(self) -> int:
        """Always 0. Files have no version, so `current` checks whether the file has changed."""
        return 0

    @property
    def exists(self) -> bool:
        """True if the list was ever written, even if it is empty."""
        return self.path.exists()

    def take(self, version: int, rows: str) -> None:
        """Do nothing, because `current` reads the file. Lists in a database receive rows here."""

    def read(self) -> list[Row]:
        """Return all rows. Raises SettingsError if the file is damaged."""
        try:
            return self._rows.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError):
            raise SettingsError(
                f"{self.path} cannot be read and is ignored. Repair or restore the file."
            ) from None

    def current(self) -> list[Row]:
        """Return the latest rows, or [] if the file is missing or damaged."""
        try:
            stat = self.path.stat()
        except OSError:
            return []
        now = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if now != self._seen:
            try:
                self._current = self.read()
            except SettingsError as error:
                logging.getLogger(__name__).error("%s", error)
                self._current = []
            self._seen = now
        return self._current

    @contextmanager
    def edit(self) -> Iterator[list[Row]]:
        """Yield the rows for editing, then write them. Raises SettingsError for a damaged file."""
        make_folder(self.path.parent)
        with FileLock(self.path.with_name(f".{self.path.name}.lock"), mode=0o600):
            rows = self.read()
            yield rows
            write_atomically(self.path, self._rows.dump_json(rows, indent=1))


def kept_list(
    path: Path, rows: TypeAdapter[list[Row]], database_url: SecretStr | None
) -> ListFile[Row]:
    """Return the list stored in the file `path`, or in the database if there is one."""
    if database_url is None:
        return ListFile(path, rows)
    table: ListFile[Row] = shared_backend().list_table(
        database_url.get_secret_value(), path.stem, rows, path
    )
    return table


#: `read` lets users read their own sessions, and `ask` lets them start and change research.
#: `admin` gives access only to the server's settings page and metrics.
Scope = Literal["read", "ask", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

#: User names are also folder names: lower-case, without a final dot.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,62}[a-z0-9])?")


class User(NamedTuple):
    """The sender of a request. The server's owner has no name and all scopes."""

    name: str = ""
    scopes: frozenset[Scope] = frozenset(SCOPES)

    def may(self, scope: Scope) -> bool:
        """Return whether the user has this scope."""
        return scope in self.scopes


OWNER = User()
#: A user who may only check that the server is up.
NOBODY = User("", frozenset())


def user_name(text: str) -> str:
    """Return a user name in its stored form. Raises SettingsError if the name is invalid."""
    name = text.strip().lower()
    if not is_user_name(name):
        wanted = "1 to 64 characters (a-z, 0-9, . _ @ + -), the first and last a letter or digit"
        raise SettingsError(must_be("A user's name", wanted, text))
    return name


def is_user_name(text: str) -> bool:
    """Return whether a name is valid in its stored form."""
    return _NAME.fullmatch(text) is not None


FILE = "tokens.json"
USUAL: tuple[Scope, ...] = ("read", "ask")


class Token(Value):
    """A stored token. `id` is used to revoke it."""

    id: str
    user: str
    scopes: tuple[Scope, ...]
    made_at: datetime
    sha256: str


class Tokens:
    """The access tokens of a home folder or database. If all are revoked, access stays closed."""

    def __init__(self, home: Path, database_url: SecretStr | None = None) -> None:
        self.list: ListFile[Token] = kept_list(home / FILE, TypeAdapter(list[Token]), database_url)

    @property
    def any_user(self) -> bool:
        """True if a token was ever created, even if all tokens have been revoked since."""
        return self.list.exists

    def listed(self) -> list[Token]:
        """Return all tokens, oldest first. Raises SettingsError for a damaged file."""
        return self.list.read()

    def add(self, name: str, scopes: Iterable[str] = USUAL) -> str:
        """Create and return a token. Only its hash is stored, so it cannot be shown again. Raises
        SettingsError if the name or a scope is invalid.
        """
        user, asked = user_name(name), frozenset(scopes)
        if wrong := sorted(asked - frozenset(SCOPES)):
            raise SettingsError(must_be("A scope", f"one of {', '.join(SCOPES)}", wrong[0]))
        given: tuple[Scope, ...] = tuple(scope for scope in SCOPES if scope in asked)
        token, now = f"spw_{secrets.token_urlsafe(32)}", datetime.now(UTC)
        id_ = secrets.token_hex(4)
        with self.list.edit() as tokens:
            made = Token(id=id_, user=user, scopes=given, made_at=now, sha256=_hash(token))
            tokens.append(made)
        return token

    def revoke(self, named: str) -> list[Token]:
        """Revoke a token by id, or all tokens of a user. Raises SettingsError if there are none."""
        with self.list.edit() as tokens:
            gone = [one for one in tokens if named.strip().lower() in (one.id, one.user)]
            if not gone:
                raise SettingsError(
                    f"There is no token or user {named[:80]!r}.",
                    hint="Run `spadework tokens` for a list.",
                )
            tokens[:] = [one for one in tokens if one not in gone]
        return gone

    def user_of(self, token: str) -> User | None:
        """Return the user of a token, or None. Tokens are compared in constant time."""
        given = _hash(token)
        found = [one for one in self.list.current() if hmac.compare_digest(one.sha256, given)]
        return User(found[0].user, frozenset(found[0].scopes)) if found else None


def _hash(token: str) -> str:
    # A token has 256 random bits, so a slow hash is unnecessary.
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


#: Folder that contains the users' homes.
USERS = "users"


class People:
    """The users of a server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tokens = Tokens(settings.home, settings.database_url)
        self._settings: dict[str, Settings] = {"": settings}

    @property
    def there(self) -> bool:
        """True if the server has users. Otherwise, every client is treated as the owner."""
        return bool(self.settings.user_header) or self.tokens.any_user

    async def look(self) -> None:
        """Reload changed tokens. On DiskFailed or SettingsError, callers must refuse all users."""
        if self.settings.database_url is None:
            return
        tokens = self.tokens.list
        try:
            async with asyncio.timeout(LIST_SECONDS):
                known = {"tokens": tokens.version}
                news = await backend_of(self.settings).list_news(self.settings, known)
        except TimeoutError:
            raise DiskFailed("The database took too long to return the list of users.") from None
        if "tokens" in news:
            tokens.take(*news["tokens"])
        elif tokens.version == UNKNOWN:  # the database has no list yet
            tokens.take(0, "[]")

    def settings_of(self, name: str) -> Settings:
        """Return settings with the user's own home. Raises SettingsError if the name is invalid."""
        if name not in self._settings:
            home = self.settings.home / USERS / user_name(name)
            self._settings[name] = self.settings.with_(home=home).within(self.settings.common)
        return self._settings[name]

    def names(self) -> Iterator[str]:
        """Yield "" for the owner, then the users who have a home."""
        yield ""
        found: list[str] = []
        with suppress(OSError):
            folders = (self.settings.home / USERS).iterdir()
            found = sorted(
                path.name for path in folders if path.is_dir() and is_user_name(path.name)
            )
        yield from found

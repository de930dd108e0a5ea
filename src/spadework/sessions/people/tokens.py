"""The tokens of users. Of a token only its hash is kept: whoever reads the file cannot use it."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from spadework.errors import SettingsError
from spadework.sessions.people.user import SCOPES, Scope, User, user_name
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import make_folder
from spadework.values import Value

FILE = "tokens.json"
#: What a token may be used for when nobody says.
USUAL: tuple[Scope, ...] = ("read", "ask")


class Token(Value):
    """A token as it is kept; `id` is what it is revoked by."""

    id: str
    user: str
    scopes: tuple[Scope, ...]
    made_at: datetime
    sha256: str


_TOKENS = TypeAdapter(list[Token])


class Tokens:
    """The tokens of a home. Where the file is, there are users, also when no token is left in it:
    to revoke the last one must not open the door.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._seen: tuple[int, ...] = ()
        self._read: list[Token] = []

    @property
    def kept(self) -> bool:
        """Whether there are users."""
        return self._path.exists()

    def listed(self) -> list[Token]:
        """All tokens, oldest first. Raises SettingsError where the file is broken."""
        try:
            return _TOKENS.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError):
            raise SettingsError(
                f"{self._path} cannot be read: no token is taken until it is mended."
            ) from None

    def add(self, name: str, scopes: Iterable[str] = USUAL) -> str:
        """A new token of a user, which is told only now. Raises SettingsError for a name or a
        scope that there cannot be.
        """
        user, asked = user_name(name), frozenset(scopes)
        if wrong := sorted(asked - frozenset(SCOPES)):
            raise SettingsError(f"A scope cannot be {wrong[0]!r}: there are {', '.join(SCOPES)}.")
        given = tuple(scope for scope in SCOPES if scope in asked)
        token = f"spw_{secrets.token_urlsafe(32)}"
        made = Token(
            id=secrets.token_hex(4),
            user=user,
            scopes=given,
            made_at=datetime.now(UTC),
            sha256=_hash(token),
        )
        with self._locked():
            self._write([*self.listed(), made])
        return token

    def revoke(self, named: str) -> list[Token]:
        """Take a token back by its id, or all of a user; those taken. Raises SettingsError where
        there is none.
        """
        with self._locked():
            listed = self.listed()
            gone = [one for one in listed if named.strip().lower() in (one.id, one.user)]
            if not gone:
                raise SettingsError(
                    f"There is no token {named[:80]!r}, and no user of that name has one.",
                    hint="`spadework tokens` lists them.",
                )
            self._write([one for one in listed if one not in gone])
        return gone

    def user_of(self, token: str) -> User | None:
        """Whose token this is; None for any other. All are compared, each in constant time."""
        given = _hash(token)
        found = [one for one in self._current() if hmac.compare_digest(one.sha256, given)]
        return User(found[0].user, frozenset(found[0].scopes)) if found else None

    def _current(self) -> list[Token]:
        """The tokens by now, read anew where the file has changed."""
        try:
            stat = self._path.stat()
        except OSError:
            return []
        now = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if now != self._seen:
            try:
                self._read = self.listed()
            except SettingsError as error:
                logging.getLogger(__name__).error("%s", error)
                self._read = []
            self._seen = now
        return self._read

    def _locked(self) -> FileLock:
        make_folder(self._path.parent)
        return FileLock(self._path.with_name(f".{FILE}.lock"), mode=0o600)

    def _write(self, tokens: list[Token]) -> None:
        told = [one.model_dump(mode="json") for one in tokens]
        write_atomically(self._path, json.dumps(told, indent=1).encode())


def _hash(token: str) -> str:
    # A token has 256 random bits: no word list finds it, so nothing slower is needed.
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()

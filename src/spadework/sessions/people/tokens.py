"""Tokens of users. Only hashes are stored, so a reader of the file cannot use them."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr, TypeAdapter

from spadework.errors import SettingsError
from spadework.sessions.people.kept_list import ListFile, kept_list
from spadework.sessions.people.user import SCOPES, Scope, User, user_name
from spadework.values import Value

FILE = "tokens.json"
#: Default scopes of a token.
USUAL: tuple[Scope, ...] = ("read", "ask")


class Token(Value):
    """A stored token; `id` is used to revoke it."""

    id: str
    user: str
    scopes: tuple[Scope, ...]
    made_at: datetime
    sha256: str


class Tokens:
    """The tokens of a home, or of all servers of a database. Once the list was begun, users exist
    even without tokens: revoking the last one must not open access.
    """

    def __init__(self, home: Path, database_url: SecretStr | None = None) -> None:
        self.list: ListFile[Token] = kept_list(home / FILE, TypeAdapter(list[Token]), database_url)

    @property
    def any_user(self) -> bool:
        """Whether there are users."""
        return self.list.exists

    def listed(self) -> list[Token]:
        """Return all tokens, oldest first. Raises SettingsError if the file is damaged."""
        return self.list.read()

    def add(self, name: str, scopes: Iterable[str] = USUAL) -> str:
        """Create a user's token and return it, the only time it is shown. Raises SettingsError for
        an invalid name or scope.
        """
        user, asked = user_name(name), frozenset(scopes)
        if wrong := sorted(asked - frozenset(SCOPES)):
            raise SettingsError(f"A scope cannot be {wrong[0]!r}: there are {', '.join(SCOPES)}.")
        given: tuple[Scope, ...] = tuple(scope for scope in SCOPES if scope in asked)
        token, now = f"spw_{secrets.token_urlsafe(32)}", datetime.now(UTC)
        id_ = secrets.token_hex(4)
        with self.list.edit() as tokens:
            made = Token(id=id_, user=user, scopes=given, made_at=now, sha256=_hash(token))
            tokens.append(made)
        return token

    def revoke(self, named: str) -> list[Token]:
        """Revoke a token by id, or all of a user, and return them. Raises SettingsError."""
        with self.list.edit() as tokens:
            gone = [one for one in tokens if named.strip().lower() in (one.id, one.user)]
            if not gone:
                raise SettingsError(
                    f"There is no token {named[:80]!r}, and no user of that name has one.",
                    hint="`spadework tokens` lists them.",
                )
            tokens[:] = [one for one in tokens if one not in gone]
        return gone

    def user_of(self, token: str) -> User | None:
        """Return a token's user, or None. All tokens are compared, each in constant time."""
        given = _hash(token)
        found = [one for one in self.list.current() if hmac.compare_digest(one.sha256, given)]
        return User(found[0].user, frozenset(found[0].scopes)) if found else None


def _hash(token: str) -> str:
    # A token has 256 random bits, so a slow hash is unnecessary.
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()

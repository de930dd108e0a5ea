"""A user: a name and scopes."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

from spadework.errors import SettingsError

#: read: see own sessions; ask: research and all changes; admin: the server's own pages and metrics,
#: but no sessions.
Scope = Literal["read", "ask", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

#: Names are folder names on every system: case-insensitive, not ending in a dot.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,62}[a-z0-9])?")


class User(NamedTuple):
    """The sender of a request; the server's owner has no name and all scopes."""

    name: str = ""
    scopes: frozenset[Scope] = frozenset(SCOPES)

    def may(self, scope: Scope) -> bool:
        """Return whether the scope is granted."""
        return scope in self.scopes


OWNER = User()
#: May only see that the server lives.
NOBODY = User("", frozenset())


def user_name(text: str) -> str:
    """Return a name in stored form. Raises SettingsError for an invalid one, which is never
    altered.
    """
    name = text.strip().lower()
    if not is_user_name(name):
        raise SettingsError(
            f"A user cannot be called {text[:80]!r}: a name has up to 64 letters (a to z), digits"
            " and . _ @ + -, and begins and ends with a letter or digit."
        )
    return name


def is_user_name(text: str) -> bool:
    """Return whether a name is in stored form."""
    return _NAME.fullmatch(text) is not None

"""A user: a name, and what may be done in it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

from spadework.errors import SettingsError

#: read: see the own sessions and those that are shared; ask: research, and all that changes
#: something; admin: the pages and numbers of the server itself, and nothing of anybody's sessions.
Scope = Literal["read", "ask", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

#: A name is a folder's, on every system: the case tells nobody apart, and no dot ends it.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,62}[a-z0-9])?")


class User(NamedTuple):
    """Who a request is from; the server's owner has no name, and may do everything."""

    name: str = ""
    scopes: frozenset[Scope] = frozenset(SCOPES)

    def may(self, scope: Scope) -> bool:
        """Whether this may be done."""
        return scope in self.scopes


OWNER = User()
#: Who may see only that the server lives.
NOBODY = User("", frozenset())


def user_name(text: str) -> str:
    """A name as it is kept. Raises SettingsError for what is none: no other is made of it."""
    name = text.strip().lower()
    if not is_user_name(name):
        raise SettingsError(
            f"A user cannot be called {text[:80]!r}: a name has up to 64 letters (a to z), digits"
            " and . _ @ + -, and begins and ends with a letter or digit."
        )
    return name


def is_user_name(text: str) -> bool:
    """Whether this is a name as it is kept."""
    return _NAME.fullmatch(text) is not None

"""Which sessions are shared, and with whom: to look at, not to change, go on with or follow."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import SecretStr, TypeAdapter

from spadework.sessions.people.kept_list import KeptList, kept_list
from spadework.sessions.people.user import user_name
from spadework.values import Value

FILE = "shares.json"
#: In place of names: all users of the server.
EVERYONE = "everyone"


class Share(Value):
    """A session that its owner ("" for that of the server) has shared."""

    session_id: str
    owner: str
    names: tuple[str, ...]

    def reaches(self, user: str) -> bool:
        """Whether a user may look at it, who is not its owner."""
        return user != self.owner and (EVERYONE in self.names or user in self.names)


class Shares:
    """The shares of a server's home, or of all servers of a database."""

    def __init__(self, home: Path, database_url: SecretStr | None = None) -> None:
        self.list: KeptList[Share] = kept_list(home / FILE, TypeAdapter(list[Share]), database_url)

    def names(self, session_id: str, owner: str) -> tuple[str, ...]:
        """With whom an owner's session is shared."""
        found = (one.names for one in self.list.current() if _is(one, session_id, owner))
        return next(found, ())

    def share(self, session_id: str, owner: str, names: Iterable[str]) -> None:
        """Share a session with these alone, or nobody. Raises SettingsError for a wrong name."""
        wanted = dict.fromkeys(user_name(name) for name in names)
        if not wanted and not self.names(session_id, owner):
            return
        with self.list.changing() as shares:
            shares[:] = [one for one in shares if not _is(one, session_id, owner)]
            if wanted:
                shares.append(Share(session_id=session_id, owner=owner, names=tuple(wanted)))

    def owner(self, session_id: str, user: str) -> str | None:
        """Whose session it is, where it is another's that a user may look at; else None."""
        found = (one for one in self.list.current() if one.session_id == session_id)
        return next((one.owner for one in found if one.reaches(user)), None)

    def reaching(self, user: str) -> list[Share]:
        """What others have shared with a user, the newest first."""
        return [one for one in reversed(self.list.current()) if one.reaches(user)]


def _is(share: Share, session_id: str, owner: str) -> bool:
    return (share.session_id, share.owner) == (session_id, owner)

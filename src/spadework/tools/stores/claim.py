"""A worker's claim to a session of several machines: while it holds, all is kept where they find
it, and nobody else writes. Without one, as a rule, a session is one machine's folder.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

from spadework.tools.stores.journal_rows import JournalRows


class Claim(Protocol):
    """Everything raises ClaimLost, an OSError, once another process runs the session."""

    @property
    def session_id(self) -> str:
        """The session that is claimed."""
        ...

    def journal_rows(self) -> JournalRows:
        """The rows of its journal."""
        ...

    async def tell(self, lines: bytes) -> None:
        """Keep lines of its record, and wake who watches."""

    async def keep_file(self, name: str, data: bytes) -> None:
        """Keep a file of its folder, by its path in there."""


#: The claim under which this is done; set by a worker around each session that it runs.
CLAIM: ContextVar[Claim | None] = ContextVar("claim", default=None)


def claim_on(session_id: str) -> Claim | None:
    """The claim to a session under which this is done, None where it is one machine's alone."""
    claim = CLAIM.get()
    return claim if claim is not None and claim.session_id == session_id else None

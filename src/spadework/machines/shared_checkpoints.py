"""Checkpoints of a session shared by several machines."""

from __future__ import annotations

from typing import cast

from spadework.machines.postgres.checkpoint_saver import CheckpointSaver
from spadework.machines.postgres.session_claim import SessionClaim
from spadework.sessions.storage.checkpoints import AfterTelling, our_serde
from spadework.tools.stores.event_record import Record
from spadework.tools.stores.journal_rows import Claim


class SharedCheckpoints(AfterTelling, CheckpointSaver):
    """Checkpoints in the database, under the claim to the session."""

    def __init__(self, claim: Claim, record: Record) -> None:
        CheckpointSaver.__init__(self, cast("SessionClaim", claim), our_serde())
        self._record = record

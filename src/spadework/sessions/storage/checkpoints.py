"""Save and restore the checkpoints of a run. Only spadework's types are restored as objects."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from spadework.backend import shared_backend
from spadework.graph.research import Graph
from spadework.graph.state import OUR_VALUES, ResearchState
from spadework.tools.stores.journal import Journal, Record
from spadework.tools.stores.journal_rows import claim_on

#: Type suffix of values with a checksum, and the checksum's length in bytes.
_SUMMED, _SUM_BYTES = "+sum", 8


class _Summed(JsonPlusSerializer):
    """A serializer that adds checksums, because LangGraph accepts some damaged values."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = super().dumps_typed(obj)
        return kind + _SUMMED, data + _sum(data)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, told = data
        if kind.endswith(_SUMMED):
            told, checksum = told[:-_SUM_BYTES], told[-_SUM_BYTES:]
            if checksum != _sum(told):
                raise sqlite3.DatabaseError("a checkpoint is damaged")
        try:
            return super().loads_typed((kind.removesuffix(_SUMMED), told))
        except NotImplementedError:  # unknown type
            raise sqlite3.DatabaseError("a checkpoint is damaged") from None


class AfterTelling(BaseCheckpointSaver[str]):
    """A checkpoint saver that waits until all events are recorded before it saves."""

    _record: Record
    _last: Mapping[str, Any] = {}

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint."""
        # Checkpoints with a namespace belong to workers' subgraphs and do not hold the run's state.
        if not config.get("configurable", {}).get("checkpoint_ns"):
            self._last = dict(checkpoint["channel_values"])
        await self._record.written()
        return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        """Save a node's output."""
        await self._record.written()
        await super().aput_writes(*args, **kwargs)

    def remembered(self) -> ResearchState:
        """Return the state of the last checkpoint, even if it could not be saved."""
        known = ResearchState.__annotations__
        return cast("ResearchState", {n: value for n, value in self._last.items() if n in known})


class Checkpoints(AfterTelling, AsyncSqliteSaver):
    """A session's checkpoints in its journal file."""

    def __init__(self, journal: Journal, record: Record) -> None:
        AsyncSqliteSaver.__init__(self, journal.connection, serde=our_serde())
        self._record = record


def checkpoints_of(session_id: str, journal: Journal, record: Record) -> AfterTelling:
    """Return a session's checkpoints, from the shared database if a worker runs the session."""
    if (claim := claim_on(session_id)) is None:
        return Checkpoints(journal, record)
    shared: AfterTelling = shared_backend().checkpoints(claim, record)
    return shared


def our_serde() -> JsonPlusSerializer:
    """Return a serializer that restores only spadework's types as objects."""
    return _Summed(allowed_msgpack_modules=OUR_VALUES)


async def last_state(graph: Graph, config: RunnableConfig) -> ResearchState:
    """Return a run's saved state, or {} if none is saved."""
    return cast("ResearchState", (await graph.aget_state(config)).values)


def _sum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SUM_BYTES).digest()

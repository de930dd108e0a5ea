"""Where the state of a run is saved: the session's SQLite file, in which only our own values come
back as objects.
"""

from __future__ import annotations

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from spadework.graph.stored import OUR_VALUES
from spadework.tools.journal import Journal


def checkpoints(journal: Journal) -> AsyncSqliteSaver:
    """The checkpoints of a session, in the file of its journal and through its connection."""
    return AsyncSqliteSaver(
        journal.connection, serde=JsonPlusSerializer(allowed_msgpack_modules=OUR_VALUES)
    )

"""Where the state of a run is saved: the session's SQLite file, in which only our own values come
back as objects.
"""

from __future__ import annotations

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from spadework import values
from spadework.graph import state
from spadework.tools.journal import Journal


def checkpoints(journal: Journal) -> AsyncSqliteSaver:
    """The checkpoints of a session, in the file of its journal and through its connection."""
    return AsyncSqliteSaver(
        journal.connection, serde=JsonPlusSerializer(allowed_msgpack_modules=_values())
    )


def _values() -> list[tuple[str, str]]:
    """The classes of the values that stand in the state, by module and name."""
    found = [
        kind
        for module in (values, state)
        for kind in vars(module).values()
        if isinstance(kind, type)
    ]
    return sorted(
        {(kind.__module__, kind.__name__) for kind in found if issubclass(kind, values.Value)}
    )

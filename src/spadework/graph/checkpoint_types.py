"""Allow LangGraph to restore our classes from checkpoints."""

from __future__ import annotations

import contextlib

from spadework import values
from spadework.graph import state


def _values() -> frozenset[tuple[str, str]]:
    found = [
        kind
        for module in (values, state)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, values.Value)
    ]
    return frozenset((kind.__module__, kind.__name__) for kind in found)


OUR_VALUES = _values()


def register() -> None:
    """Register our values as safe with all checkpointers of this process. They are plain data, so
    creating them runs no code. Servers' and enclosing graphs' checkpointers would otherwise warn
    about them.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from langgraph.checkpoint.serde import _msgpack

        _msgpack.SAFE_MSGPACK_TYPES = _msgpack.SAFE_MSGPACK_TYPES | OUR_VALUES

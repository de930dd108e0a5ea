"""What of the state is saved as objects, and that LangGraph may restore it as such."""

from __future__ import annotations

import contextlib

from spadework import values
from spadework.graph import state


def _values() -> frozenset[tuple[str, str]]:
    """The classes of the values that stand in the state, by module and name."""
    found = [
        kind
        for module in (values, state)
        for kind in vars(module).values()
        if isinstance(kind, type)
    ]
    return frozenset(
        (kind.__module__, kind.__name__) for kind in found if issubclass(kind, values.Value)
    )


OUR_VALUES = _values()


def register() -> None:
    """Tell every checkpointer of this process that our values are safe: plain data, of which
    nothing runs when they are made.

    One of our own could be told when it is made. But a server brings its own along, and so does
    a graph that has ours as a part; for these there is only this list. Where it is missing, they
    warn of our values, as they would without this.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from langgraph.checkpoint.serde import _msgpack

        _msgpack.SAFE_MSGPACK_TYPES = _msgpack.SAFE_MSGPACK_TYPES | OUR_VALUES

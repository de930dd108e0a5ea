"""What of the state is saved as objects, and that LangGraph may restore it as such."""

from __future__ import annotations

import contextlib
import sys

from spadework import values
from spadework.graph import state
from spadework.values import coverage, question, report, search

#: Modules by the names that older checkpoints know them by.
_FORMER_MODULES = {
    "spadework.values.asking": question,
    "spadework.values.finding": search,
    "spadework.values.judging": coverage,
    "spadework.values.telling": report,
}


def _values() -> frozenset[tuple[str, str]]:
    """Return the classes of values in the state, by module and name, former modules included."""
    found = [
        kind
        for module in (values, state)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, values.Value)
    ]
    names = {module.__name__: former for former, module in _FORMER_MODULES.items()}
    modules = {(kind, kind.__module__) for kind in found}
    modules |= {(kind, names[module]) for kind, module in modules if module in names}
    return frozenset((module, kind.__name__) for kind, module in modules)


OUR_VALUES = _values()
# A checkpoint is restored by importing the module that it names.
sys.modules.update(_FORMER_MODULES)


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

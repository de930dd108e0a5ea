"""Classes stored in checkpoints, and permission for LangGraph to restore them."""

from __future__ import annotations

import contextlib
import sys

from spadework import values
from spadework.graph import state
from spadework.values import coverage, question, report, search

#: Module names in older checkpoints.
_FORMER_MODULES = {
    "spadework.values.asking": question,
    "spadework.values.finding": search,
    "spadework.values.judging": coverage,
    "spadework.values.telling": report,
}


def _values() -> frozenset[tuple[str, str]]:
    """Return the state's value classes, by module and name, including former modules."""
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
    """Register our values as safe with every checkpointer of this process: plain data whose
    creation runs no code.

    Our own checkpointer could be configured, but a server brings its own, as does a graph that
    contains ours; for those there is only this list. Without it they warn about our values.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from langgraph.checkpoint.serde import _msgpack

        _msgpack.SAFE_MSGPACK_TYPES = _msgpack.SAFE_MSGPACK_TYPES | OUR_VALUES

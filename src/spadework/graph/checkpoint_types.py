"""Allow LangGraph to restore our classes from checkpoints."""

from __future__ import annotations

import contextlib
import sys

from spadework import values
from spadework.graph import state
from spadework.values import coverage, question, report, search

#: Current modules by the names that older checkpoints use.
_FORMER_MODULES = {
    "spadework.values.asking": question,
    "spadework.values.finding": search,
    "spadework.values.judging": coverage,
    "spadework.values.telling": report,
}


def _values() -> frozenset[tuple[str, str]]:
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
# Restoring a checkpoint imports the modules it names.
sys.modules.update(_FORMER_MODULES)


def register() -> None:
    """Register our values as safe with all checkpointers of this process. They are plain data, so
    creating them runs no code. Servers' and enclosing graphs' checkpointers would otherwise warn
    about them.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from langgraph.checkpoint.serde import _msgpack

        _msgpack.SAFE_MSGPACK_TYPES = _msgpack.SAFE_MSGPACK_TYPES | OUR_VALUES

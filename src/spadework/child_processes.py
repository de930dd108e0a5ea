"""Stop child processes that ignore a closed pipe and would outlive this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ENDS: set[Callable[[], None]] = set()


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Register `end`, which stops a child if this process exits inside the context."""
    _ENDS.add(end)
    try:
        yield
    finally:
        _ENDS.discard(end)


def end_all() -> None:
    """Stop all registered children."""
    for end in tuple(_ENDS):
        end()

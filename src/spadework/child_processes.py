"""Programs that would outlive this process, since they need not heed the end of the pipe to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ENDS: set[Callable[[], None]] = set()


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """What runs here is ended by `end` where this process is left before it is closed."""
    _ENDS.add(end)
    try:
        yield
    finally:
        _ENDS.discard(end)


def end_all() -> None:
    """End what would outlive this process."""
    for end in tuple(_ENDS):
        end()

"""The processes that a test has started, directly or not."""

from __future__ import annotations

import psutil


def children(
    having: str, of: int | None = None, *, all_of_them: bool = True
) -> list[psutil.Process]:
    """The living descendants of a process (default: this one) with the argument `having`, or only
    those that it started itself.

    One that waits to be reaped is dead.
    """
    found = []
    for child in psutil.Process(of).children(recursive=all_of_them):
        try:
            if having in child.cmdline():
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found

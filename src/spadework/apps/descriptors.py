"""The limit on open files and connections; each session needs about 35."""

from __future__ import annotations

import contextlib

#: A higher limit slows down code that walks all descriptors to start a process.
ENOUGH = 65_536


def raise_the_limit() -> None:
    """Raise the limit as far as the system allows; the default is merely a convention."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):  # macOS has a second limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

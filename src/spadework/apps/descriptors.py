"""How many files and connections the process may have open: each session takes about 35."""

from __future__ import annotations

import contextlib

#: More would only make slow what goes through all of them when it starts a process.
ENOUGH = 65_536


def raise_the_limit() -> None:
    """Take as many as the system allows: the usual limit is but a habit."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):  # macOS has a second limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

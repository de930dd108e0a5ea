"""What `serve` and MCP answer with, and where sessions are kept."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, Field, SecretStr

from spadework.home import default_home
from spadework.settings.kinds import Words


class Serving(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """What `serve` and MCP answer with, and where sessions are kept."""

    # Serving
    token: SecretStr | None = None
    """What requests to `serve` must bring. Unset: none on this machine alone; beyond it one is made
    and printed.
    """
    ask_token: bool = False
    """Ask for a token on this machine too, where other users could reach the server: the web page,
    MCP over HTTP and `/v1`.
    """
    serve_hosts: Words = ()
    """Host names that `serve` answers to, besides addresses and this machine's own name."""

    drain_seconds: float = Field(20, ge=0, le=86_400)
    """Seconds that runs may go on when `serve` or `worker` is told to end (SIGTERM); nothing new is
    taken meanwhile, and what is not done then is taken up by the next.
    """

    # Sessions
    parallel_sessions: int = Field(
        default_factory=lambda: 8 * (os.cpu_count() or 1), ge=1, le=10_000
    )
    """Most sessions that run at once in a process; more wait in its queue, as they do where it may
    open no more files. Unset: 8 a core.
    """
    home: Path = Field(default_factory=default_home)
    """Where sessions and indexes are kept."""

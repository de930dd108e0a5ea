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
    """Token that requests to `serve` must carry. Unset: none on this machine; one is made and
    printed when listening beyond it.
    """
    ask_token: bool = False
    """Require a token on this machine too, for the web page, MCP over HTTP and `/v1`: other users
    could reach the server.
    """
    serve_hosts: Words = ()
    """Host names that `serve` answers to, besides addresses and this machine's own name."""

    drain_seconds: float = Field(20, ge=0, le=86_400)
    """Seconds that runs may continue after SIGTERM to `serve` or `worker`. Nothing new is accepted
    meanwhile, and the next process takes up what is left.
    """

    # Sessions
    parallel_sessions: int = Field(
        default_factory=lambda: 8 * (os.cpu_count() or 1), ge=1, le=10_000
    )
    """Maximum sessions that run at once in a process; more wait in its queue, as they do when it
    may open no more files. Unset: 8 a core.
    """
    home: Path = Field(default_factory=default_home)
    """Folder for sessions and indexes."""

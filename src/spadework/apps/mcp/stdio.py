"""`spadework mcp`: the server on standard input and output, where nothing but messages goes."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import anyio

from spadework.apps.saying import log_to_stderr
from spadework.settings import Settings


def serve_stdio(settings: Settings) -> None:
    """Serve one client until it closes our standard input."""
    log_to_stderr()
    # While it serves, the transport itself turns file descriptor 1 to standard error; here it is
    # what libraries print as they are imported.
    with redirect_stdout(sys.stderr):
        from spadework.apps.mcp.server import build_server

        server = build_server(settings, local=True)
    anyio.run(server.run_stdio_async)

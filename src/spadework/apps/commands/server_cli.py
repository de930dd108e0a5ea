"""Commands that serve until stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spadework.apps import options

if TYPE_CHECKING:
    from spadework.settings import Settings


def mcp(
    context: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="With --http: the address to listen on. Beyond this machine a token is asked.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="With --http: the port to listen on.")] = 8051,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    minutes: options.Minutes = None,
    effort: options.Effort = None,
    home: options.Home = None,
) -> None:
    """Serve six tools over MCP. Uses standard input and output, or http://HOST:PORT/mcp."""
    settings = options.settings_of(context)
    if http:
        from spadework.apps.mcp.http import serve_http

        serve_http(settings, host, port)
    else:
        _serve_stdio(settings)


def _serve_stdio(settings: Settings) -> None:
    """Serve one client until it closes standard input; only messages go to stdout."""
    import sys
    from contextlib import redirect_stdout

    import anyio

    from spadework.apps.messages import log_to_stderr

    log_to_stderr()
    # While serving, the transport redirects file descriptor 1 to standard error; this catches what
    # libraries print on import.
    with redirect_stdout(sys.stderr):
        from spadework.apps.mcp.server import build_server

        server = build_server(settings, local=True)
    anyio.run(server.run_stdio_async)


def serve(
    context: typer.Context,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on. Beyond this machine a token is asked."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port to listen on; 0 for any that is free.")
    ] = 8051,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    home: options.Home = None,
) -> None:
    """Serve the web page until Ctrl-C.

    After SIGTERM, runs may continue for a while. The next `serve` resumes the rest.
    """
    from spadework.apps.web.app import serve as serve_page

    serve_page(options.settings_of(context), host, port)

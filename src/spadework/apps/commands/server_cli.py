"""Commands that serve until stopped, and commands for users' tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spadework.apps import options
from spadework.apps.options import Home
from spadework.home import home_of

if TYPE_CHECKING:
    from pathlib import Path

    from spadework.sessions.users import Tokens
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
            help="Address to listen on with --http. Connections from other machines need a token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on with --http.")] = 8051,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    minutes: options.Minutes = None,
    effort: options.Effort = None,
    home: options.Home = None,
) -> None:
    """Serve six tools over MCP. Clients use standard input and output, or http://HOST:PORT/mcp."""
    settings = options.settings_of(context)
    if http:
        from spadework.apps.mcp.http import serve_http

        serve_http(settings, host, port)
    else:
        _serve_stdio(settings)


def _serve_stdio(settings: Settings) -> None:
    import sys
    from contextlib import redirect_stdout

    import anyio

    from spadework.apps.messages import log_to_stderr

    log_to_stderr()
    # Imports must not print to stdout, which the protocol uses.
    with redirect_stdout(sys.stderr):
        from spadework.apps.mcp.server import build_server

        server = build_server(settings, local=True)
    anyio.run(server.run_stdio_async)


def serve(
    context: typer.Context,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to listen on. Connections from other machines need a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port to listen on; 0 picks a free port.")
    ] = 8051,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    home: options.Home = None,
) -> None:
    """Serve the web page until Ctrl-C. After SIGTERM, runs may continue for a while. The next
    `serve` resumes unfinished runs.
    """
    from spadework.apps.web.app import serve as serve_page

    serve_page(options.settings_of(context), host, port)


tokens = typer.Typer(
    help="Create, list and revoke the tokens of a server's users.",
    rich_markup_mode=None,
    invoke_without_command=True,
)


def worker(
    context: typer.Context,
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions", help="Maximum sessions at once (default: the setting parallel_sessions)."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            help="Port for /healthz, /readyz and /metrics; 0 picks a free port. Default: none.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Address for --port. Remote access needs a token.")
    ] = "127.0.0.1",
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    home: options.Home = None,
) -> None:
    """Run sessions that other processes submit. Submitted sessions wait in the database at
    SPADEWORK_DATABASE_URL. After SIGTERM, runs may continue for a while; Ctrl-C stops at once.
    Start any number of workers, on any machine.
    """
    import asyncio

    from spadework.apps.commands.worker_command import run_worker

    asyncio.run(run_worker(options.settings_of(context, parallel_sessions=sessions), host, port))


@tokens.callback()
def tokens_default(context: typer.Context, home: Home = None) -> None:
    """List the tokens when no subcommand is given."""
    if context.invoked_subcommand is None:
        list_tokens(home)


@tokens.command("list")
def list_tokens(home: Home = None) -> None:
    """List tokens with their ids, dates, scopes and users."""
    from spadework.apps.messages import say

    listed = _tokens(home).listed()
    for one in listed:
        say(f"{one.id}  {one.made_at:%Y-%m-%d}  {','.join(one.scopes):<14}  {one.user}")
    if not listed:
        say("There are no tokens.", err=True)


@tokens.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name of the user who gets the token.")],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="read, ask or admin; can be repeated. Default: read and ask."),
    ] = None,
    home: Home = None,
) -> None:
    """Create a token and print it. Only its hash is stored, so it cannot be shown again."""
    from spadework.apps.messages import say
    from spadework.sessions.users import USUAL

    say(_tokens(home).add(name, scope or USUAL))
    say(
        "Send the token as `Authorization: Bearer TOKEN`, or open the page once with ?token=TOKEN.",
        err=True,
    )


@tokens.command("revoke")
def revoke(
    which: Annotated[
        str, typer.Argument(help="Id of a token, or name of a user to revoke all their tokens.")
    ],
    home: Home = None,
) -> None:
    """Revoke a token at once, even on a running server."""
    from spadework.apps.messages import say

    for one in _tokens(home).revoke(which):
        say(f"Revoked {one.id} of {one.user}.", err=True)


def _tokens(home: Path | None) -> Tokens:
    from spadework.apps.commands.sessions_cli import database_of
    from spadework.sessions.users import Tokens

    return Tokens(home_of(home), database_of(home))

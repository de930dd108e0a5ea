"""The command line: options in, one of the doors opened, an exit code out. Nothing heavy is
imported before it is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from spadework.apps.descriptors import raise_the_limit
from spadework.apps.ending import one_sentence
from spadework.apps.knowledge import knowledge as knowledge_commands
from spadework.apps.options import (
    Approve,
    AsJson,
    Attach,
    Calls,
    Clarify,
    Continue,
    Effort,
    Events,
    Follow,
    Home,
    Iterations,
    Knowledge,
    Length,
    Libraries,
    Minutes,
    Model,
    Money,
    Output,
    Pages,
    Search,
    Tokens,
)
from spadework.apps.sessions_cli import sessions

app = typer.Typer(
    name="spadework",
    help="Deep research in which every sentence of fact cites words that really stand in a source.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(sessions, name="sessions")
app.add_typer(knowledge_commands, name="knowledge")


@app.command()
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    search: Search = None,
    library: Libraries = None,
    model: Model = None,
    minutes: Minutes = None,
    iterations: Iterations = None,
    completeness: Annotated[
        str | None,
        typer.Option("--completeness", help="Score from which a topic counts as answered, 0 to 1."),
    ] = None,
    pages: Pages = None,
    calls: Calls = None,
    tokens: Tokens = None,
    money: Money = None,
    preset: Annotated[
        str | None, typer.Option("--preset", help="precise, balanced, recall or default.")
    ] = None,
    effort: Effort = None,
    length: Length = None,
    knowledge: Knowledge = None,
    attach: Attach = None,
    continue_: Continue = False,
    follow: Follow = "",
    clarify: Clarify = None,
    approve: Approve = None,
    output: Output = None,
    as_json: AsJson = False,
    events: Events = False,
    home: Home = None,
) -> None:
    """Research a question and print the report. The default command: `spadework "…"` does the
    same.
    """
    settings = _settings_of(context)
    from spadework.apps.terminal.asking import Asking

    asking = Asking(question, attach or (), follow, last=continue_).checked(settings)
    from spadework.apps.outputs import Output as Wanted

    wanted = Wanted(output, as_json, events).checked()
    from spadework.apps.terminal.running import run

    raise typer.Exit(run(asking.session(settings), wanted))


@app.command()
def plan(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    search: Search = None,
    library: Libraries = None,
    model: Model = None,
    minutes: Minutes = None,
    iterations: Iterations = None,
    pages: Pages = None,
    calls: Calls = None,
    tokens: Tokens = None,
    money: Money = None,
    effort: Effort = None,
    continue_: Continue = False,
    follow: Follow = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print plan and forecast as one JSON object.")
    ] = False,
    home: Home = None,
) -> None:
    """Print the plan of a question, what would answer each topic, and what a run would take,
    without running it.
    """
    settings = _settings_of(context)
    from spadework.apps.planning import print_plan
    from spadework.apps.terminal.asking import followed

    before = followed(settings.home, follow, last=continue_)
    print_plan(question, settings, before, as_json)


@app.command()
def chat(
    context: typer.Context,
    search: Search = None,
    library: Libraries = None,
    model: Model = None,
    minutes: Minutes = None,
    effort: Effort = None,
    continue_: Continue = False,
    follow: Follow = "",
    clarify: Clarify = None,
    approve: Approve = None,
    home: Home = None,
) -> None:
    """Ask question after question, each following up the one before. Without a terminal, questions
    are read line by line.
    """
    from spadework.apps.terminal.asking import followed
    from spadework.apps.terminal.chat import begin

    base = _settings_of(context)
    begin(base, followed(base.home, follow, last=continue_))


@app.command()
def resume(
    session_id: Annotated[
        str, typer.Argument(help="The id of a session, as `spadework sessions` shows it.")
    ],
    output: Output = None,
    as_json: AsJson = False,
    events: Events = False,
    minutes: Minutes = None,
    home: Home = None,
) -> None:
    """Take up a session that was cut off; what it paid for is not paid again."""
    from spadework.apps.outputs import Output as Wanted

    wanted = Wanted(output, as_json, events).checked()
    base = _settings(home=home)
    from spadework.apps.terminal.running import run
    from spadework.sessions.session import Session

    raise typer.Exit(run(Session.resume(session_id, home=base.home, minutes=minutes), wanted))


@app.command()
def replay(
    session_id: Annotated[
        str, typer.Argument(help="The id of a session, as `spadework sessions` shows it.")
    ],
    model: Annotated[
        str | None,
        typer.Option("--model", help="Chat model that is asked what was not recorded."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Write the report to FILE.md, .html, .pdf, .docx or .json."),
    ] = None,
    home: Home = None,
) -> None:
    """Run a finished session again from what it has heard: without network, to the same report."""
    from spadework.apps.replaying import replay_one

    raise typer.Exit(replay_one(_settings(home=home).home, session_id, model, to))


@app.command()
def read(
    page: Annotated[str, typer.Argument(metavar="URL|FILE", help="A web address or a file.")] = "",
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Saved HTML to read instead of fetching; needs --url."),
    ] = None,
    url: Annotated[str, typer.Option("--url", help="Where the saved HTML comes from.")] = "",
    level: Annotated[
        str | None,
        typer.Option(
            "--level", help="Begin at 0: plain HTTP, 1: like a browser, 2 or 3: a browser."
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the text and all that is known of it as one JSON object."
        ),
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the source as it came, nothing cleaned.")
    ] = False,
    home: Home = None,
) -> None:
    """Print one page as clean Markdown."""
    from spadework.apps.reading import Wanted, read_one

    read_one(page, html, url, Wanted(as_json, raw), _settings(home=home, min_level=level))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    providers: Search = None,
    library: Libraries = None,
    limit: Annotated[
        str | None, typer.Option("--limit", help="Most hits of each provider.")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Print ranked hits."""
    from spadework.apps.searching import search_once

    settings = _settings(
        home=home,
        search=providers,
        library=tuple(library) if library else None,
        search_results=limit,
    )
    search_once(query, as_json, settings)


@app.command()
def index(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; none: the documentation installed with Python."),
    ] = None,
    home: Home = None,
) -> None:
    """Index files and folders ahead of the first question."""
    from spadework.apps.searching import index_paths

    index_paths(_settings(home=home, library=tuple(paths) if paths else None))


@app.command()
def doctor(search: Search = None, library: Libraries = None, home: Home = None) -> None:
    """Say what works here: models, search, library, browser, folders."""
    from spadework.apps.doctor import examine

    raise typer.Exit(
        examine(_settings(home=home, search=search, library=tuple(library) if library else None))
    )


@app.command()
def stats(as_json: AsJson = False, home: Home = None) -> None:
    """Say what the sessions so far gave and cost, and what should be looked at."""
    from spadework.apps.statistics import print_statistics

    print_statistics(_settings(home=home).home, as_json)


@app.command()
def mcp(
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
    search: Search = None,
    library: Libraries = None,
    model: Model = None,
    minutes: Minutes = None,
    effort: Effort = None,
    home: Home = None,
) -> None:
    """Serve models that speak MCP: six tools, over standard input and output or at
    http://HOST:PORT/mcp.
    """
    settings = _settings(
        home=home,
        search=search,
        library=tuple(library) if library else None,
        model=model,
        minutes=minutes,
        effort=effort,
    )
    if http:
        from spadework.apps.mcp.http import serve_http

        serve_http(settings, host, port)
    else:
        from spadework.apps.mcp.stdio import serve_stdio

        serve_stdio(settings)


@app.command()
def serve(
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on. Beyond this machine a token is asked."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port to listen on; 0 for any that is free.")
    ] = 8051,
    search: Search = None,
    library: Libraries = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Chat model, such as openai:gpt-5-mini.")
    ] = None,
    home: Home = None,
) -> None:
    """Serve the web page until Ctrl-C; what still runs then is taken up by the next `serve`."""
    from spadework.apps.web.serving import serve as serve_page

    serve_page(
        _settings(
            home=home, search=search, library=tuple(library) if library else None, model=model
        ),
        host,
        port,
    )


def _settings_of(context: typer.Context) -> Any:
    """The settings of a command: those of its options that are named like one."""
    from spadework.settings import Settings

    given = {name: told for name, told in context.params.items() if name in Settings.model_fields}
    return _settings(**given | {"library": tuple(given["library"] or ()) or None})


def _settings(**given: Any) -> Any:
    from spadework.settings import Settings

    return Settings.load(**given)


def with_default_command(arguments: Sequence[str]) -> list[str]:
    """The arguments with `ask` put first where they name no command: `spadework "What is …?"`."""
    known = {
        command.name or (command.callback.__name__ if command.callback else "")
        for command in app.registered_commands
    }
    known |= {group.name or "" for group in app.registered_groups}
    if not arguments or arguments[0] in known or arguments[0] in ("--help", "-h", "--version"):
        return list(arguments)
    return ["ask", *arguments]


def main() -> None:
    """The console command. Errors are one sentence; exit codes are those of the architecture: 1
    failed, 2 usage, 130 interrupted.
    """
    raise_the_limit()
    arguments = with_default_command(sys.argv[1:])
    if arguments[:1] == ["--version"]:
        from importlib.metadata import version

        typer.echo(version("spadework"))
        return
    with one_sentence():
        app(arguments)


def console() -> None:
    """The console command as a process of its own, which is left when it is done."""
    from spadework.apps.leaving import LEAVING

    with LEAVING.for_good():
        main()


if __name__ == "__main__":
    console()

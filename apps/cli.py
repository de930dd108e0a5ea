"""The command line: options in, one of the doors opened, an exit code out. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from spadework.errors import BudgetSpent, SettingsError, SpadeworkError

FAILED, USAGE, INTERRUPTED = 1, 2, 130
#: Errors of the system that no other argument would mend: a full disk, a broken device.
_NOT_THE_USERS = (errno.ENOSPC, errno.EIO)

app = typer.Typer(
    name="spadework",
    help="Deep research in which every sentence of fact cites words that really stand in a source.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
sessions = typer.Typer(help="List, show, export or delete sessions.", rich_markup_mode=None, invoke_without_command=True)
app.add_typer(sessions, name="sessions")

# Numbers come as they were typed: the settings check them, and name the bad value.
Home = Annotated[Path | None, typer.Option("--home", help="Where sessions and indexes are kept.", show_default=False)]
Search = Annotated[str | None, typer.Option("--search", help="auto, library, searxng, duckduckgo, serper, …; several with commas.")]
Libraries = Annotated[list[Path] | None, typer.Option("--library", help="A file or folder to search; may be given several times.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="Also write the report to FILE.md, .html, .pdf, .docx or .json.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the whole result as one JSON object.")]
Events = Annotated[bool, typer.Option("--events", help="Print every event as one line of JSON.")]
Minutes = Annotated[str | None, typer.Option("--minutes", help="Minutes for the whole run, from the start of the process.")]


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    search: Search = None,
    library: Libraries = None,
    model: Annotated[str | None, typer.Option("--model", help="Chat model, such as openai:gpt-5-mini.")] = None,
    minutes: Minutes = None,
    iterations: Annotated[str | None, typer.Option("--iterations", help="Most rounds of searching.")] = None,
    completeness: Annotated[str | None, typer.Option("--completeness", help="Score from which a topic is covered, 0 to 1.")] = None,
    pages: Annotated[str | None, typer.Option("--pages", help="Most pages read.")] = None,
    calls: Annotated[str | None, typer.Option("--calls", help="Most model calls.")] = None,
    tokens: Annotated[str | None, typer.Option("--tokens", help="Most tokens, all model calls together.")] = None,
    money: Annotated[str | None, typer.Option("--money", help="Most US dollars for model calls.")] = None,
    preset: Annotated[str | None, typer.Option("--preset", help="precise, balanced, recall or default.")] = None,
    effort: Annotated[str | None, typer.Option("--effort", help="normal or deep.")] = None,
    attach: Annotated[list[Path] | None, typer.Option("--attach", help="A file to read first; may be given several times.")] = None,
    output: Output = None,
    as_json: AsJson = False,
    events: Events = False,
    home: Home = None,
) -> None:
    """Research a question and print the report. The default command: `spadework "…"` does the same."""
    settings = _settings(
        home=home,
        search=search,
        library=tuple(library) if library else None,
        model=model,
        minutes=minutes,
        iterations=iterations,
        completeness=completeness,
        pages=pages,
        calls=calls,
        tokens=tokens,
        money=money,
        preset=preset,
        effort=effort,
    )
    from spadework.apps.outputs import Output as Wanted
    from spadework.apps.outputs import checked_attachments

    wanted = Wanted(output, as_json, events).checked()
    attached = checked_attachments(attach or [])
    from spadework.apps.running import run
    from spadework.sessions.session import Session

    raise typer.Exit(run(Session.start(question, settings=settings, attachments=attached), wanted))


@app.command()
def resume(
    session_id: Annotated[str, typer.Argument(help="The id of a session, as `spadework sessions` shows it.")],
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
    from spadework.apps.running import run
    from spadework.sessions.session import Session

    raise typer.Exit(run(Session.resume(session_id, home=base.home, minutes=minutes), wanted))


@app.command()
def read(
    page: Annotated[str, typer.Argument(metavar="URL|FILE", help="A web address or a file.")] = "",
    html: Annotated[Path | None, typer.Option("--html", help="Saved HTML to read instead of fetching; needs --url.")] = None,
    url: Annotated[str, typer.Option("--url", help="Where the saved HTML comes from.")] = "",
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Print one page as clean Markdown."""
    from spadework.apps.reading import read_one

    read_one(page, html, url, as_json, _settings(home=home))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    providers: Search = None,
    library: Libraries = None,
    limit: Annotated[str | None, typer.Option("--limit", help="Most hits of each provider.")] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Print ranked hits."""
    from spadework.apps.searching import search_once

    settings = _settings(home=home, search=providers, library=tuple(library) if library else None, search_results=limit)
    search_once(query, as_json, settings)


@app.command()
def index(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders; none: the documentation installed with Python.")] = None,
    home: Home = None,
) -> None:
    """Index files and folders ahead of the first question."""
    from spadework.apps.searching import index_paths

    index_paths(_settings(home=home, library=tuple(paths) if paths else None))


@app.command()
def doctor(search: Search = None, library: Libraries = None, home: Home = None) -> None:
    """Say what works here: models, search, library, browser, folders."""
    from spadework.apps.doctor import examine

    raise typer.Exit(examine(_settings(home=home, search=search, library=tuple(library) if library else None)))


@sessions.callback()
def sessions_default(context: typer.Context, home: Home = None) -> None:
    """List sessions when no other command is given."""
    if context.invoked_subcommand is None:
        list_sessions(home)


@sessions.command("list")
def list_sessions(home: Home = None) -> None:
    """List sessions, newest first."""
    from spadework.apps.archive import print_list

    print_list(_settings(home=home).home)


@sessions.command("show")
def show_session(session_id: str, as_json: AsJson = False, home: Home = None) -> None:
    """Print the report of a session."""
    from spadework.apps.archive import print_report

    print_report(_settings(home=home).home, session_id, as_json)


@sessions.command("export")
def export_session(
    session_id: str,
    output: Annotated[Path, typer.Option("-o", "--output", help="FILE.md, .html, .pdf, .docx or .json.")],
    home: Home = None,
) -> None:
    """Write the report of a session to a file."""
    from spadework.apps.archive import export

    export(_settings(home=home).home, session_id, output)


@sessions.command("delete")
def delete_session(session_id: str, home: Home = None) -> None:
    """Delete a session with all its files."""
    from spadework.apps.archive import delete

    delete(_settings(home=home).home, session_id)


def _settings(**given: Any) -> Any:
    from spadework.settings import Settings

    return Settings.load(**given)


def with_default_command(arguments: Sequence[str]) -> list[str]:
    """The arguments with `ask` put first where they name no command: `spadework "What is …?"`."""
    known = {command.name or (command.callback.__name__ if command.callback else "") for command in app.registered_commands} | {"sessions"}
    if not arguments or arguments[0] in known or arguments[0] in ("--help", "-h", "--version"):
        return list(arguments)
    return ["ask", *arguments]


def _keep_quiet() -> None:
    """Libraries do not write to our output: stamina would print every retry, also to stdout."""
    import stamina.instrumentation

    stamina.instrumentation.set_on_retry_hooks([])


def _said(error: OSError | UnicodeError) -> str:
    """What the system says, with the file it is about."""
    if isinstance(error, OSError):
        name = str(error.filename)[-100:] if error.filename else "a file"
        return f"{name}: {error.strerror or error}."
    return "An argument or a file is no valid text."


def main() -> None:
    """The console command. Errors are one sentence; exit codes are those of the architecture: 1 failed, 2 usage, 130 interrupted."""
    arguments = with_default_command(sys.argv[1:])
    if arguments[:1] == ["--version"]:
        from importlib.metadata import version

        typer.echo(version("spadework"))
        return
    _keep_quiet()
    try:
        app(arguments)
    except SpadeworkError as error:
        typer.echo(f"spadework: {error} {error.hint}".strip()[:400], err=True)
        raise SystemExit(USAGE if isinstance(error, SettingsError) else FAILED) from None
    except BudgetSpent as error:
        typer.echo(f"spadework: {error}", err=True)
        raise SystemExit(FAILED) from None
    except (OSError, UnicodeError) as error:
        if isinstance(error, BrokenPipeError):
            # The reader of our output went away, such as `| head`.
            sys.stderr.close()
            raise SystemExit(FAILED) from None
        typer.echo(f"spadework: {_said(error)}"[:400], err=True)
        raise SystemExit(FAILED if getattr(error, "errno", None) in _NOT_THE_USERS else USAGE) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()

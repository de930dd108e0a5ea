"""The command line: options, commands and exit codes; heavy imports are deferred."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from spadework.apps import options
from spadework.apps.command_words import as_command
from spadework.apps.commands.knowledge_cli import knowledge as knowledge_commands
from spadework.apps.commands.lookup_cli import doctor, index, read, search, stats
from spadework.apps.commands.server_cli import mcp, serve
from spadework.apps.commands.sessions_cli import replay, resume, sessions
from spadework.apps.commands.tokens_cli import tokens
from spadework.apps.commands.worker_command import worker
from spadework.apps.exit import one_sentence
from spadework.apps.messages import replace_unencodable

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


EXAMPLES = """\b
Examples:
  spadework "What is Terraform and how do I use it?"
  spadework what is terraform --minutes 3 -o report.pdf
  spadework ask "Compare SQLite and DuckDB" --search searxng
  spadework ask "How do I configure it?" --library ./docs
  spadework chat
  spadework serve
  spadework doctor
"""

app = typer.Typer(
    name="spadework",
    help="Deep research in which every sentence of fact cites words that really stand in a source.",
    no_args_is_help=True,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(sessions, name="sessions")
app.add_typer(knowledge_commands, name="knowledge")
app.add_typer(tokens, name="tokens")
Question = Annotated[
    list[str],
    typer.Argument(
        help="What you want to know; several words are one question.",
        metavar="QUESTION",
        callback=options.as_text,
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("spadework"))
        raise typer.Exit


@app.callback()
def program(
    _: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Research a question; every factual sentence of the report cites words that are in a
    source.
    """


@app.command()
def ask(
    context: typer.Context,
    question: Question,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    minutes: options.Minutes = None,
    iterations: options.Iterations = None,
    completeness: options.Completeness = None,
    pages: options.Pages = None,
    calls: options.Calls = None,
    tokens: options.Tokens = None,
    money: options.Money = None,
    preset: options.Preset = None,
    min_relevance: options.Relevance = None,
    search_country: options.Country = None,
    search_language: options.Language = None,
    search_news: options.News = None,
    search_sites: options.Sites = None,
    search_avoid_sites: options.AvoidSites = None,
    search_since: options.Since = None,
    search_until: options.Until = None,
    effort: options.Effort = None,
    length: options.Length = None,
    knowledge: options.Knowledge = None,
    attach: options.Attach = None,
    continue_: options.Continue = False,
    follow: options.Follow = "",
    clarify: options.Clarify = None,
    approve: options.Approve = None,
    output: options.Output = None,
    as_json: options.AsJson = False,
    events: options.Events = False,
    home: options.Home = None,
) -> None:
    """Research a question and print the report. The default command: `spadework "…"` does the
    same.
    """
    settings = options.settings_of(context)
    from spadework.apps.outputs import Output as Wanted

    wanted = Wanted(output, as_json, events).check()
    from spadework.apps.terminal.question_input import session_of

    session = session_of(" ".join(question), settings, attach or (), follow, last=continue_)
    from spadework.apps.terminal.live_run import run

    raise typer.Exit(run(session, wanted))


@app.command()
def plan(
    context: typer.Context,
    question: Question,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    minutes: options.Minutes = None,
    iterations: options.Iterations = None,
    pages: options.Pages = None,
    calls: options.Calls = None,
    tokens: options.Tokens = None,
    money: options.Money = None,
    effort: options.Effort = None,
    continue_: options.Continue = False,
    follow: options.Follow = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print plan and forecast as one JSON object.")
    ] = False,
    home: options.Home = None,
) -> None:
    """Print a question's plan and cost without running it. Lists what would answer each topic."""
    settings = options.settings_of(context)
    from spadework.apps.commands.plan_command import print_plan
    from spadework.apps.terminal.question_input import followed_session

    before = followed_session(settings.home, follow, last=continue_)
    print_plan(" ".join(question), settings, before, as_json)


@app.command()
def chat(
    context: typer.Context,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    minutes: options.Minutes = None,
    effort: options.Effort = None,
    continue_: options.Continue = False,
    follow: options.Follow = "",
    clarify: options.Clarify = None,
    approve: options.Approve = None,
    home: options.Home = None,
) -> None:
    """Ask questions in a row, each following up the previous one. Without a terminal, questions are
    read line by line.
    """
    from spadework.apps.terminal.chat_loop import begin
    from spadework.apps.terminal.question_input import followed_session

    base = options.settings_of(context)
    begin(base, followed_session(base.home, follow, last=continue_))


for command in (resume, replay, read, search, index, doctor, stats, mcp, serve, worker):
    app.command()(command)


def with_default_command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, prefixed with `ask` unless they name a command. Raises SettingsError
    for a typo.
    """
    return as_command(arguments, _commands(app), ("--help", "-h", "--version"))


def _commands(of: typer.Typer) -> dict[str, set[str]]:
    own: dict[str, set[str]] = {
        command.name or (command.callback.__name__ if command.callback else ""): set()
        for command in of.registered_commands
    }
    groups = {
        group.name or "": set(_commands(group.typer_instance))
        for group in of.registered_groups
        if group.typer_instance
    }
    return own | groups


def main() -> None:
    """Run the console command. Errors are one sentence; see `exit` for the exit codes."""
    raise_the_limit()
    replace_unencodable()
    with one_sentence():
        app(with_default_command(sys.argv[1:]))


def console() -> None:
    """Run the console command as a process of its own, which exits at once when done."""
    # Imports create 300,000 lasting objects; collecting garbage at Python's default rate takes a
    # quarter of the start-up time of a run with a model.
    gc.set_threshold(10_000, 10, 3)
    from spadework.apps.process_exit import LEAVING

    with LEAVING.for_good():
        main()


if __name__ == "__main__":
    console()

"""The command line: its commands and usage errors. Heavy imports are deferred."""

from __future__ import annotations

import contextlib
import gc
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Annotated, Any

import typer

from spadework.apps import options
from spadework.apps.commands.lookup_cli import (
    doctor,
    index,
    knowledge as knowledge_commands,
    read,
    search,
    stats,
)
from spadework.apps.commands.server_cli import mcp, serve, tokens, worker
from spadework.apps.commands.sessions_cli import replay, resume, sessions
from spadework.apps.commands.watch_command import watch
from spadework.apps.exit import INTERRUPTED, one_sentence
from spadework.apps.messages import replace_unencodable
from spadework.errors import SettingsError

DEFAULT = "ask"
#: The minimum similarity (0 to 1) at which a mistyped word such as "reed" is taken for a command
#: ("read").
LIKE = 0.75
#: Commands known from other programs, with spadework's equivalent command or option.
_ELSEWHERE = {
    "research": "ask",
    "help": "--help",
    "version": "--version",
    "config": "doctor",
    "web": "serve",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]*")
#: Matches arguments that are not plain words, such as addresses, paths and session ids.
_NO_WORD = re.compile(r"\s|/|\w[.:]\w|\d{8}")
_SESSION_ID = re.compile(r"\d{8}-\d{6}\S*")
_SHOWN_CHARS = 60


def as_command(
    arguments: Sequence[str], commands: Mapping[str, Collection[str]], options: Collection[str]
) -> list[str]:
    """Return the arguments, with `ask` in front if they do not name a command.

    - `commands`: the commands, each with its subcommands.
    - `options`: the options that need no command.

    If the arguments form a subcommand of `sessions`, put `sessions` in front. Raises SettingsError
    for a likely typo, a lone unknown word or a misplaced session id.
    """
    if not arguments or arguments[0] in commands or arguments[0] in options:
        return [*arguments]
    own = commands.get("sessions", ())
    words = list(takewhile(lambda word: not word.startswith("-"), arguments)) or [""]
    name, rest = words[0], words[1:]
    exported = name == "open" and "".join(rest[:1]).lower().endswith(".zip")
    of_session = any(_SESSION_ID.fullmatch(word) for word in arguments[1:])
    if exported or (name in own and (of_session or not rest)):
        return ["sessions", *arguments]
    if _SESSION_ID.fullmatch(name):
        raise SettingsError(
            f"{name} is the id of a session, not a question.",
            hint=f"To see its report, run: spadework sessions show {name}",
        )
    said = ""
    if name in own and len(rest) == 1 and not re.search(r"\s", rest[0]):
        said = f"The command {name} needs a session id, but {rest[0]!r} is not one."
    elif meant := _find_mistyped(words, commands):
        said = f"There is no command {name!r}. Did you mean {meant}?"
    elif len(arguments) == 1 and _NAME.fullmatch(name):
        said = f"There is no command {name!r}."
    if said:
        asked = " ".join(words)[:_SHOWN_CHARS].replace('"', "")
        raise SettingsError(
            said, hint=f'To research it as a question, run: spadework {DEFAULT} "{asked}"'
        )
    return [DEFAULT, *arguments]


def _find_mistyped(words: Sequence[str], commands: Mapping[str, Collection[str]]) -> str:
    if not _NAME.fullmatch(words[0]):
        return ""
    name, rest = words[0].lower(), words[1:]
    near = get_close_matches(name, commands, n=1, cutoff=LIKE)
    meant = _ELSEWHERE.get(name) or (near[0] if near else "")
    own = commands.get(meant, ())
    argued = any(_NO_WORD.search(word) for word in rest) or bool(rest and rest[0] in own)
    return meant if meant and (argued or not rest) else ""


#: The highest limit on open files to request. A higher one slows down some code.
ENOUGH = 65_536


def raise_the_limit() -> None:
    """Raise the limit on open files to at most `ENOUGH`."""
    try:
        import resource
    except ImportError:  # Windows has no `resource` module
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):  # macOS may allow less than `hard`
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
    help="Deep research in which every factual sentence cites the exact words of a source.",
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
    """Research a question and write a report in which every factual sentence cites the exact
    words of a source.
    """


@app.command()
def ask(
    context: typer.Context,
    question: options.Question,
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
    search_kinds: options.Kinds = None,
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
    """Research a question and print the report. The word `ask` can be left out."""
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
    question: options.Question,
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
        bool, typer.Option("--json", help="Print the plan and the estimate as one JSON object.")
    ] = False,
    home: options.Home = None,
) -> None:
    """Print a plan and its estimated cost without researching. For each topic, the plan says what
    the answer must contain.
    """
    settings = options.settings_of(context)
    from spadework.apps.commands.lookups import print_plan
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
    """Ask a question, then follow-up questions. Without a terminal, read one question per line."""
    from spadework.apps.terminal.chat_loop import begin
    from spadework.apps.terminal.question_input import followed_session

    base = options.settings_of(context)
    begin(base, followed_session(base.home, follow, last=continue_))


for command in (resume, replay, watch, read, search, index, doctor, stats, mcp, serve, worker):
    app.command()(command)


def with_default_command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, adding a command if they name none. Raises SettingsError."""
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
    """Run the command line and exit with its exit code. Errors are printed as one sentence."""
    raise_the_limit()
    replace_unencodable()
    with one_sentence():
        arguments = with_default_command(sys.argv[1:])
        try:
            code = app(arguments, standalone_mode=False)
        except typer.Abort:
            raise KeyboardInterrupt from None
        except _UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
                raise SystemExit(error.exit_code) from None
            raise _in_our_words(error) from None
        if code == INTERRUPTED:  # Typer returns this code after Ctrl-C, without a message
            raise KeyboardInterrupt
        raise SystemExit(code)


#: Typer's base class for usage errors.
_UsageError: Any = typer.BadParameter.__base__
#: Error messages, keyed by the name of Typer's error class. {0} is the command, and {1} is the
#: parameter.
_WRONG = {
    "NoSuchOption": "{0} has no option {1}",
    "BadOptionUsage": "{1} needs a value",
    "MissingParameter": "{0} needs the argument {1}",
}


def _in_our_words(error: Any) -> SettingsError:
    path, kind = error.ctx.command_path if error.ctx else "spadework", type(error).__name__
    command = path.removeprefix("python -m ").partition(" ")[2] or "the program"
    said = error.format_message().rstrip(".")
    said = said.replace("No such command", f"{command} has no command", 1)
    if kind in _WRONG and (kind != "BadOptionUsage" or "requires" in said):
        needed = kind == "MissingParameter" and (error.param.metavar or error.param.name).upper()
        said = _WRONG[kind].format(command, needed or error.option_name)
    if kind == "NoSuchOption" and error.possibilities:
        said += f". Did you mean {error.possibilities[0]}?"
    ended = said if said.endswith("?") else f"{said}."
    return SettingsError(ended, hint=f"For its options, run: {path} --help")


def console() -> None:
    """Run the command line as the process's only task."""
    # By default, the garbage collector would often rescan the 300,000 objects that imports create.
    gc.set_threshold(10_000, 10, 3)
    from spadework.apps.exit import LEAVING

    with LEAVING.for_good():
        main()


if __name__ == "__main__":
    console()

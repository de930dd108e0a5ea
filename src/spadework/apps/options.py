"""Options of commands, and the settings they give, which validate numbers."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

#: Undecodable bytes of an argument, as Python represents them.
_ESCAPED = re.compile("[\udc80-\udcff]")
Home = Annotated[
    Path | None,
    typer.Option("--home", help="Where sessions and indexes are kept.", show_default=False),
]
Search = Annotated[
    str | None,
    typer.Option(
        "--search", help="auto, library, searxng, duckduckgo, serper, …; several with commas."
    ),
]
Libraries = Annotated[
    list[Path] | None,
    typer.Option("--library", help="A file or folder to search; may be given several times."),
]
Country = Annotated[
    str | None,
    typer.Option("--country", help="Results from there, as two letters such as de."),
]
Language = Annotated[
    str | None,
    typer.Option("--search-language", help="Results in this language, such as de."),
]
News = Annotated[
    bool | None, typer.Option("--news/--no-news", help="Search the news alone.", show_default=False)
]
Sites = Annotated[
    str | None, typer.Option("--site", help="Keep to these domains, separated by commas.")
]
AvoidSites = Annotated[
    str | None,
    typer.Option("--not-site", help="Keep away from these domains, separated by commas."),
]
Since = Annotated[
    str | None, typer.Option("--since", help="First day of publication, as YYYY-MM-DD.")
]
Until = Annotated[
    str | None, typer.Option("--until", help="Last day of publication, as YYYY-MM-DD.")
]
Preset = Annotated[
    str | None, typer.Option("--preset", help="precise, balanced, recall or default.")
]
Relevance = Annotated[
    str | None, typer.Option("--relevance", help="Relevance from which on a hit is read, 0 to 1.")
]
Completeness = Annotated[
    str | None,
    typer.Option("--completeness", help="Score from which a topic counts as answered, 0 to 1."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Also write the report to FILE.md, .html, .pdf, .docx or .json, its sources to .bib.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the whole result as one JSON object.")]
Events = Annotated[bool, typer.Option("--events", help="Print every event as one line of JSON.")]
Minutes = Annotated[
    str | None,
    typer.Option("--minutes", help="Minutes for the whole run, from the start of the process."),
]
Iterations = Annotated[str | None, typer.Option("--iterations", help="Most rounds of searching.")]
Pages = Annotated[str | None, typer.Option("--pages", help="Most pages read.")]
Calls = Annotated[str | None, typer.Option("--calls", help="Most model calls.")]
Tokens = Annotated[
    str | None, typer.Option("--tokens", help="Most tokens, all model calls together.")
]
Money = Annotated[str | None, typer.Option("--money", help="Most US dollars for model calls.")]
Model = Annotated[
    str | None, typer.Option("--model", help="Chat model, such as openai:gpt-5-mini.")
]
Knowledge = Annotated[
    bool | None,
    typer.Option(
        "--knowledge/--no-knowledge",
        help="Use the pages that earlier runs have read, and keep those of this one.",
    ),
]
Effort = Annotated[str | None, typer.Option("--effort", help="quick, normal or deep.")]
Length = Annotated[
    str | None, typer.Option("--length", help="How long the report is: short, normal or long.")
]
Continue = Annotated[
    bool, typer.Option("-c", "--continue", help="Follow up the last finished session.")
]
Follow = Annotated[
    str,
    typer.Option(
        "--follow", metavar="ID", help="Follow up the session with this id.", show_default=False
    ),
]
Clarify = Annotated[
    bool | None,
    typer.Option(
        "--clarify/--no-clarify", help="Ask back where the question can mean several things."
    ),
]
Approve = Annotated[
    bool | None,
    typer.Option(
        "--approve/--no-approve", help="Show the plan and wait until it is approved or changed."
    ),
]
Attach = Annotated[
    list[Path] | None,
    typer.Option(
        "--attach",
        help=(
            "A file to read first; may be given several times. - is standard input, however long it"
            " takes."
        ),
    ),
]


def as_text(words: list[str]) -> list[str]:
    """Return command-line words as text, even if the locale is ASCII."""
    return [os.fsencode(w).decode(errors="replace") if _ESCAPED.search(w) else w for w in words]


def settings_of(context: typer.Context, **more: Any) -> Any:
    """Return a command's settings: its options named like one, and `more`."""
    from spadework.settings import Settings

    given = {name: told for name, told in context.params.items() if name in Settings.model_fields}
    return settings_from(**given | {"library": tuple(given["library"] or ()) or None} | more)


def settings_from(**given: Any) -> Any:
    """Return the settings with the given values; None means not given."""
    # Imported late: it takes longer than a help text.
    from spadework.settings import Settings

    return Settings.load(**given)

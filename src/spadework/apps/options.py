"""Define the command-line options and load settings from them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

#: Surrogate characters, which Python puts in arguments for bytes that it cannot decode.
_ESCAPED = re.compile("[\udc80-\udcff]")


def as_text(words: list[str]) -> list[str]:
    """Decode command-line words, even if the locale is ASCII."""
    return [os.fsencode(w).decode(errors="replace") if _ESCAPED.search(w) else w for w in words]


Home = Annotated[
    Path | None, typer.Option("--home", help="Folder for sessions and indexes.", show_default=False)
]
Search = Annotated[
    str | None,
    typer.Option(
        "--search", help="Providers, separated by commas: auto, library, searxng, serper, …"
    ),
]
Libraries = Annotated[
    list[Path] | None,
    typer.Option("--library", help="A file or folder to search; can be repeated."),
]
Country = Annotated[
    str | None, typer.Option("--country", help="Country of the results, as two letters such as de.")
]
Language = Annotated[
    str | None, typer.Option("--search-language", help="Language of the results, such as de.")
]
Kinds = Annotated[
    str | None, typer.Option("--kind", help="Read only these kinds of sources: paper, news, …")
]
Sites = Annotated[
    str | None, typer.Option("--site", help="Search only these domains, separated by commas.")
]
AvoidSites = Annotated[
    str | None, typer.Option("--not-site", help="Exclude these domains, separated by commas.")
]
Since = Annotated[
    str | None, typer.Option("--since", help="Earliest date of publication, as YYYY-MM-DD.")
]
Until = Annotated[
    str | None, typer.Option("--until", help="Latest date of publication, as YYYY-MM-DD.")
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="How many hits to read, and how relevant: precise, balanced, recall or default.",
    ),
]
Relevance = Annotated[
    str | None, typer.Option("--relevance", help="Minimum relevance of hits to read, 0 to 1.")
]
Completeness = Annotated[
    str | None,
    typer.Option("--completeness", help="Score at which a topic counts as answered, 0 to 1."),
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
    typer.Option("--minutes", help="Time limit in minutes, counted from the start of the process."),
]
Iterations = Annotated[str | None, typer.Option("--iterations", help="Maximum number of rounds.")]
Pages = Annotated[str | None, typer.Option("--pages", help="Maximum pages to read.")]
Calls = Annotated[str | None, typer.Option("--calls", help="Maximum model calls.")]
Tokens = Annotated[
    str | None, typer.Option("--tokens", help="Maximum tokens over all model calls.")
]
Money = Annotated[str | None, typer.Option("--money", help="Maximum US dollars for model calls.")]
Model = Annotated[
    str | None, typer.Option("--model", help="Chat model, such as openai:gpt-5-mini.")
]
Knowledge = Annotated[
    bool | None,
    typer.Option(
        "--knowledge/--no-knowledge",
        help="Use pages that earlier runs read, and keep the pages of this run.",
    ),
]
Effort = Annotated[str | None, typer.Option("--effort", help="Depth: quick, normal or deep.")]
Length = Annotated[
    str | None, typer.Option("--length", help="Length of the report: short, normal or long.")
]
Continue = Annotated[
    bool, typer.Option("-c", "--continue", help="Follow up on the last finished session.")
]
Follow = Annotated[
    str,
    typer.Option(
        "--follow", metavar="ID", help="Follow up on the session with this id.", show_default=False
    ),
]
Question = Annotated[
    list[str],
    typer.Argument(
        help="What you want to know; all words together form one question.",
        metavar="QUESTION",
        callback=as_text,
    ),
]
Clarify = Annotated[
    bool | None,
    typer.Option(
        "--clarify/--no-clarify",
        help="Ask for clarification if the question can mean several things.",
    ),
]
Approve = Annotated[
    bool | None,
    typer.Option(
        "--approve/--no-approve", help="Show the plan and wait until you approve or change it."
    ),
]
Attach = Annotated[
    list[Path] | None,
    typer.Option(
        "--attach", help="A file to read first; can be repeated. Use - to read standard input."
    ),
]


def settings_of(context: typer.Context, **more: Any) -> Any:
    """Return the settings from a command's options. `more` takes precedence."""
    from spadework.settings import Settings

    given = {name: told for name, told in context.params.items() if name in Settings.model_fields}
    return settings_from(**given | {"library": tuple(given["library"] or ()) or None} | more)


def settings_from(**given: Any) -> Any:
    """Load settings with the values in `given`. A value of None counts as not given."""
    # The import is slow, and --help does not need it.
    from spadework.settings import Settings

    return Settings.load(**given)

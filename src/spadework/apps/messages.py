"""Output and logs of the commands, free of terminal control sequences."""

from __future__ import annotations

import io
import json
import logging
import sys

import typer

from spadework.visible import visible


def replace_unencodable() -> None:
    """Print "?" for characters that the encoding of stdout or stderr lacks, cp1252 for example."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str, *, err: bool = False) -> None:
    """Write a text to standard output, or to standard error."""
    typer.echo(visible(text), err=err)


def say_json(line: str) -> None:
    """Write a line of JSON to stdout, with escapes for what its encoding lacks."""
    try:
        line.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        line = json.dumps(json.loads(line))
    typer.echo(line)


def say_aside(text: str) -> None:
    """Write to standard error what is not part of the answer."""
    say(text, err=True)


def number_of(count: int, thing: str) -> str:
    """Return a count with its noun: "1 page", "2 pages"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


class _Lines(logging.Formatter):
    """Formats log lines as visible text, since an error may quote a page."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as visible text."""
        return visible(super().format(record))


def log_to_stderr() -> None:
    """Log warnings and errors to standard error. Only for servers, which own their process."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines("%(levelname)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)

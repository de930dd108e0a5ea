"""Print output and logs without terminal control sequences."""

from __future__ import annotations

import io
import json
import logging
import sys

import typer

from spadework.visible import visible


def replace_unencodable() -> None:
    """Make stdout and stderr replace unencodable characters with "?"."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str, *, err: bool = False) -> None:
    """Write text to stdout, or to stderr if `err` is set."""
    typer.echo(visible(text), err=err)


def say_json(line: str) -> None:
    """Write a JSON line to stdout, escaping unencodable characters."""
    try:
        line.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        line = json.dumps(json.loads(line))
    typer.echo(line)


def say_aside(text: str) -> None:
    """Write a message that is not part of the answer to stderr."""
    say(text, err=True)


def number_of(count: int, thing: str) -> str:
    """Return a count with its noun: "1 page", "2 pages"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


class _Lines(logging.Formatter):
    """Removes control characters from log lines, because these may quote web pages."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def log_to_stderr() -> None:
    """Log warnings and errors to stderr. Call this only from servers."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines("%(levelname)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)

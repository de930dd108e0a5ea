"""What the commands say and log: nothing in it is a command to a terminal, wherever it goes."""

from __future__ import annotations

import io
import json
import logging
import sys

import typer

from spadework.visible import visible


def replace_unencodable() -> None:
    """Print "?" for a character that standard output or error cannot hold, such as in cp1252."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str, *, err: bool = False) -> None:
    """Write a text on standard output, or on standard error."""
    typer.echo(visible(text), err=err)


def say_json(line: str) -> None:
    """Write one line of JSON on standard output, escaping what its encoding cannot hold."""
    try:
        line.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        line = json.dumps(json.loads(line))
    typer.echo(line)


def say_aside(text: str) -> None:
    """Write what is no part of the answer on standard error."""
    say(text, err=True)


def number_of(count: int, thing: str) -> str:
    """So many of something: "1 page", "2 pages"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


class _Lines(logging.Formatter):
    """Lines of a log, also those of a traceback: an error may hold what a page says of itself."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as visible text."""
        return visible(super().format(record))


def log_to_stderr() -> None:
    """Write warnings and errors to standard error. For servers, whose process is ours alone."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines("%(levelname)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)

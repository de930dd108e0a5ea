"""Where a result goes: a file, and stdout. Checked before anything is searched."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from spadework.errors import SettingsError
from spadework.tools.pages import write_atomically
from spadework.values import Result

ENDINGS = (".md", ".json")


@dataclass(frozen=True)
class Output:
    """Where the result goes: a file, and stdout as Markdown, one JSON object, or a line of JSON an event."""

    file: Path | None = None
    as_json: bool = False
    events: bool = False

    def checked(self) -> Output:
        """Itself. Raises SettingsError when the file cannot be written in the end: better now than after the run."""
        if self.file is None:
            return self
        if self.file.suffix.lower() not in ENDINGS:
            raise SettingsError(f"The report cannot be written as {self.file.name!r}: the ending must be {' or '.join(ENDINGS)}.")
        folder = self.file.absolute().parent
        if not folder.is_dir():
            raise SettingsError(f"The folder {folder} does not exist.")
        if not os.access(folder, os.W_OK) or (self.file.exists() and not os.access(self.file, os.W_OK)) or self.file.is_dir():
            raise SettingsError(f"{self.file} cannot be written.")
        return self


def checked_attachments(paths: Sequence[Path]) -> list[str]:
    """The paths as strings. Raises SettingsError for one that cannot be read."""
    for path in paths:
        if not path.is_file():
            raise SettingsError(f"The file {path} does not exist.")
        if not os.access(path, os.R_OK):
            raise SettingsError(f"The file {path} cannot be read: no permission.")
    return [str(path.absolute()) for path in paths]


def write_output(result: Result, file: Path) -> None:
    """Write a result to a file of one of the ENDINGS."""
    text = result.model_dump_json(indent=1) if file.suffix.lower() == ".json" else result.report
    write_atomically(file.absolute(), text.encode())


def print_report(markdown: str) -> None:
    """The report on stdout: drawn in a terminal, as it is elsewhere."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        typer.echo(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(markdown))

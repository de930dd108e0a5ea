"""Destinations of a result, a file and stdout, checked before searching."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spadework.apps.messages import say
from spadework.apps.terminal.screen import is_plain
from spadework.errors import SettingsError
from spadework.tools.stores.page_store import write_atomically
from spadework.values import Result


def _html(result: Result) -> bytes:
    from spadework.tools.export.html_report import to_html

    return to_html(result).encode()


def _docx(result: Result) -> bytes:
    from spadework.tools.export.docx_report import to_docx

    return to_docx(result)


def _pdf(result: Result) -> bytes:
    from spadework.tools.export.pdf_report import to_pdf

    return to_pdf(result)


def _bibtex(result: Result) -> bytes:
    from spadework.tools.export.bibtex import to_bibtex

    return to_bibtex(result).encode()


#: Writers by file extension, imported on demand.
ENDINGS: dict[str, Callable[[Result], bytes]] = {
    ".md": lambda result: result.report.encode(),
    ".html": _html,
    ".pdf": _pdf,
    ".docx": _docx,
    ".json": lambda result: result.model_dump_json(indent=1).encode(),
    ".bib": _bibtex,
}


@dataclass(frozen=True)
class Output:
    """Destination of a result: a file, and stdout as Markdown, a JSON object, or one per event."""

    file: Path | None = None
    as_json: bool = False
    events: bool = False

    def check(self) -> Output:
        """Return itself. Raises SettingsError early for a file that cannot be written."""
        if self.as_json and self.events:
            raise SettingsError(
                "--json and --events cannot be used together: both write to stdout."
            )
        if self.file is None:
            return self
        if self.file.suffix.lower() not in ENDINGS:
            raise SettingsError(
                f"The report cannot be written as {self.file.name!r}: the ending must be one of"
                f" {', '.join(ENDINGS)}."
            )
        folder = self.file.absolute().parent
        if not folder.is_dir():
            raise SettingsError(f"The folder {folder} does not exist.")
        if (
            not os.access(folder, os.W_OK)
            or (self.file.exists() and not os.access(self.file, os.W_OK))
            or self.file.is_dir()
        ):
            raise SettingsError(f"{self.file} cannot be written.")
        if self.file.suffix.lower() == ".pdf":
            from spadework.tools.export.pdf_report import find_chromium

            find_chromium()
        return self


def prints_pdf() -> bool:
    """Return whether a browser is available to print a .pdf."""
    from spadework.tools.export.pdf_report import find_chromium

    try:
        return bool(find_chromium())
    except SettingsError:
        return False


def checked_attachments(paths: Sequence[Path]) -> list[str]:
    """Return the paths as strings. Raises SettingsError for an unreadable one."""
    for path in paths:
        if not path.is_file():
            raise SettingsError(
                f"{path} is a folder, not a file."
                if path.is_dir()
                else f"The file {path} does not exist."
            )
        if not os.access(path, os.R_OK):
            raise SettingsError(f"The file {path} cannot be read: no permission.")
    return [str(path.absolute()) for path in paths]


def write_output(result: Result, file: Path, mode: int = 0o666) -> None:
    """Write a result to a file with one of the ENDINGS, under the user's umask."""
    write_atomically(file.absolute(), ENDINGS[file.suffix.lower()](result), mode)


def print_report(result: Result) -> None:
    """Print the report: formatted in a terminal, as Markdown elsewhere."""
    if is_plain(sys.stdout):
        say(result.report)
    else:
        from spadework.apps.terminal.report import draw_report

        draw_report(result)

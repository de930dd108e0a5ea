"""Output destinations for results, checked before research starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spadework.apps.messages import say
from spadework.apps.terminal.screen import is_plain
from spadework.errors import SettingsError
from spadework.tools.stores.private_files import write_atomically
from spadework.values import Result


def _html(result: Result) -> bytes:
    from spadework.tools.export.html_report import to_html

    return to_html(result).encode()


def _docx(result: Result) -> bytes:
    from spadework.tools.export.docx_report import to_docx

    return to_docx(result)


def _pdf(result: Result) -> bytes:
    from spadework.tools.export.html_report import to_pdf

    return to_pdf(result)


def _bibtex(result: Result) -> bytes:
    from spadework.tools.export.bibtex import to_bibtex

    return to_bibtex(result).encode()


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
    """A result's destinations: a file and stdout."""

    file: Path | None = None
    as_json: bool = False
    events: bool = False

    def check(self) -> Output:
        """Return self. Raises SettingsError for an unusable file or conflicting options."""
        if self.as_json and self.events:
            raise SettingsError("--json and --events both write to stdout. Give only one.")
        if self.file is None:
            return self
        if self.file.suffix.lower() not in ENDINGS:
            raise SettingsError(
                f"The report cannot be written as {self.file.name!r}: the file name must end in"
                f" one of {', '.join(ENDINGS)}."
            )
        check_writable(self.file)
        if self.file.suffix.lower() == ".pdf":
            from spadework.tools.export.html_report import find_chromium

            find_chromium()
        return self


def check_writable(file: Path) -> None:
    """Raise SettingsError if a file cannot be written."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise SettingsError(f"The folder {folder} does not exist. Create it, or name another.")
    locked = file.exists() and not os.access(file, os.W_OK)
    if not os.access(folder, os.W_OK) or locked or file.is_dir():
        raise SettingsError(f"{file} cannot be written. Name another file.")


def prints_pdf() -> bool:
    """Return whether there is a browser that can print PDFs."""
    from spadework.tools.export.html_report import find_chromium

    try:
        return bool(find_chromium())
    except SettingsError:
        return False


def checked_attachments(paths: Sequence[Path]) -> list[str]:
    """Return the paths as strings. Raises SettingsError for an unreadable file."""
    for path in paths:
        if path.is_dir():
            raise SettingsError(f"{path} is a folder, not a file.")
        if not path.is_file():
            raise SettingsError(f"The file {path} does not exist.")
        if not os.access(path, os.R_OK):
            raise SettingsError(f"The file {path} cannot be read: permission denied.")
    return [str(path.absolute()) for path in paths]


def write_output(result: Result, file: Path, mode: int = 0o666) -> None:
    """Write a result in the format of the file's extension. `mode` is subject to the umask."""
    write_atomically(file.absolute(), ENDINGS[file.suffix.lower()](result), mode)


def print_report(result: Result) -> None:
    """Print the report, formatted in terminals and as Markdown elsewhere."""
    if is_plain(sys.stdout):
        say(result.report)
    else:
        from spadework.apps.terminal.screen import draw_report

        draw_report(result)

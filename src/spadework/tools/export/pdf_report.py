"""The report as PDF: its HTML printed by Chromium, in a child process with a deadline."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from spadework.errors import SettingsError, SpadeworkError
from spadework.tools.export.html_report import to_html
from spadework.tools.web.chromium import HOW_TO_INSTALL, installed_chromium, runs_as_root
from spadework.tools.web.process_groups import kill_group
from spadework.values import Result

#: Maximum seconds for printing; a report takes one or two.
MOST_SECONDS = 60.0
#: No network: names do not resolve, and the page itself forbids every request.
_FLAGS = (
    *("--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-extensions", "--disable-background-networking"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer"),
    "--generate-pdf-document-outline",
)


def find_chromium() -> str:
    """Return Chromium's path. Raises SettingsError, with what to install, if there is none."""
    if found := installed_chromium():
        return found
    raise SettingsError(
        "A .pdf is printed by Chromium or Google Chrome, and neither is installed here.",
        hint=f"Install one ({HOW_TO_INSTALL}), or write .html or .docx.",
    )


def to_pdf(result: Result, seconds: float = MOST_SECONDS) -> bytes:
    """Return the report on A4, within `seconds`. Raises SettingsError without Chromium,
    SpadeworkError.
    """
    chromium = find_chromium()
    # Files that Chromium writes while exiting must not fail a finished PDF.
    with tempfile.TemporaryDirectory(prefix="spadework-", ignore_cleanup_errors=True) as name:
        page, printed = Path(name) / "report.html", Path(name) / "report.pdf"
        page.write_text(to_html(result), encoding="utf-8")
        # As root it runs only without its sandbox; the page has no script and cannot make requests.
        rootly = ["--no-sandbox"] if runs_as_root() else []
        places = (f"--user-data-dir={name}/profile", f"--print-to-pdf={printed}", page.as_uri())
        _run([chromium, *_FLAGS, *rootly, *places], seconds)
        if not printed.is_file():
            raise SpadeworkError(
                f"{chromium} did not print the PDF.",
                hint="Write FILE.html instead and print it from a browser.",
            )
        return printed.read_bytes()


def _run(command: list[str], seconds: float) -> None:
    """Run a program to its end, then kill everything that it started."""
    mute: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    child = subprocess.Popen(command, **mute, start_new_session=True)
    try:
        child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise SpadeworkError(
            f"{command[0]} did not print the PDF within {seconds:g} seconds.",
            hint="Write FILE.html instead.",
        ) from None
    finally:
        kill_group(child)
        child.wait()

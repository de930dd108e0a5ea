"""Write the report as one self-contained HTML file, or as a PDF."""

from __future__ import annotations

import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from spadework.errors import SettingsError, SpadeworkError
from spadework.tools.export.layout import laid_out
from spadework.tools.export.sheet import Run, Said, chart_of, words
from spadework.tools.web.background_threads import kill_group
from spadework.tools.web.chromium import HOW_TO_INSTALL, installed_chromium, runs_as_root
from spadework.values import Result


def to_html(result: Result, *, pictures: bool = True) -> str:
    """Return the report as HTML. Only http(s) URLs become links."""
    sheet = laid_out(result)
    return _environment().get_template("report.html").render(sheet=sheet, pictures=pictures)


#: The folder of the templates. The session page uses them too.
DRAWN_IN = Path(__file__).parent
#: A sentence's last word stays on the same line as the citation marks if it has at most this many
#: characters.
MOST_KEPT = 24


def split_last_word(said: Said) -> tuple[tuple[Run, ...], str]:
    """Split off a sentence's last word, to keep it on the line of the citation marks. If the
    word is code, emphasized or too long, split off "" instead.
    """
    if not said.runs or said.runs[-1].code or said.runs[-1].strength:
        return said.runs, ""
    start, space, last = said.runs[-1].text.rpartition(" ")
    if len(last) > MOST_KEPT:
        return said.runs, ""
    return (*said.runs[:-1], Run(start + space)), last


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(DRAWN_IN),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"words": words, "ending": split_last_word, "chart": chart_of}
    return environment


#: Maximum seconds to print a PDF. Most reports take one or two seconds.
MOST_SECONDS = 60.0
#: Chromium flags. They block name resolution as a precaution, although the page makes no requests.
_FLAGS = (
    *("--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-extensions", "--disable-background-networking"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer"),
    "--generate-pdf-document-outline",
)


def find_chromium() -> str:
    """Return the path of Chromium. Raises SettingsError if it is missing."""
    if found := installed_chromium():
        return found
    raise SettingsError(
        "PDF export needs Chromium or Google Chrome, but neither is installed.",
        hint=f"Install one of them ({HOW_TO_INSTALL}), or write .html or .docx instead.",
    )


def to_pdf(result: Result, seconds: float = MOST_SECONDS) -> bytes:
    """Return the report as an A4 PDF. Raises SpadeworkError if printing fails."""
    chromium = find_chromium()
    # Chromium may still write files while the folder is being removed.
    with tempfile.TemporaryDirectory(prefix="spadework-", ignore_cleanup_errors=True) as name:
        page, printed = Path(name) / "report.html", Path(name) / "report.pdf"
        # Chromium has no sandbox when it runs as root. Leave out pictures then, because they might
        # exploit a flaw in a decoder.
        rootly = ["--no-sandbox"] if runs_as_root() else []
        page.write_text(to_html(result, pictures=not rootly), encoding="utf-8")
        places = (f"--user-data-dir={name}/profile", f"--print-to-pdf={printed}", page.as_uri())
        _run([chromium, *_FLAGS, *rootly, *places], seconds)
        if not printed.is_file():
            raise SpadeworkError(
                f"{chromium} could not print the PDF.",
                hint="Write FILE.html instead and print it from a browser.",
            )
        return printed.read_bytes()


def _run(command: list[str], seconds: float) -> None:
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

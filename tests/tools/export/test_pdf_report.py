"""The PDF, read back; and what is said and ended where it cannot be printed."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import psutil
import pypdfium2
import pytest

from spadework.errors import SettingsError, SpadeworkError
from spadework.tools.export.html_report import find_chromium, to_pdf
from spadework.tools.export.section_blocks import INFERRED
from spadework.tools.text.language import ENGLISH
from tests.tools.export.results import DRAWN, EVERYWHERE, HOSTILE, full, hostile, squeezed
from tests.tools.export.rich import LINE, rich


def missing() -> str:
    """Why no PDF can be printed here, or ""."""
    try:
        find_chromium()
    except SettingsError as error:
        return str(error)
    return ""


needs_chromium = pytest.mark.skipif(bool(missing()), reason=missing() or "Chromium is here")


def text_of(data: bytes) -> tuple[str, int]:
    document = pypdfium2.PdfDocument(data)
    try:
        pages = [document[n] for n in range(len(document))]
        return "\n".join(page.get_textpage().get_text_range() for page in pages), len(pages)
    finally:
        document.close()


@needs_chromium
def test_everything_of_the_report_stands_in_it_with_the_quotes() -> None:
    data = to_pdf(full())
    assert data.startswith(b"%PDF-")
    text, pages = text_of(data)
    assert [part for part in (*EVERYWHERE, *DRAWN) if squeezed(part) not in squeezed(text)] == []
    assert f"1/{pages}" in squeezed(text)


@needs_chromium
def test_lists_tables_and_code_stand_in_it() -> None:
    text = squeezed(text_of(to_pdf(rich()))[0])
    for part in ("How it is used", "Width | metres", "So it holds water.", "up to a | b | or 40"):
        assert squeezed(part) in text
    assert squeezed(LINE) in text
    assert squeezed(ENGLISH("inferred", sign=INFERRED)) in text


@needs_chromium
def test_hostile_words_are_printed_as_they_are() -> None:
    text, _ = text_of(to_pdf(hostile(HOSTILE[0] + HOSTILE[1], "javascript:alert(1)")))
    assert squeezed(HOSTILE[0]) in squeezed(text)


def test_without_chromium_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SettingsError, match="Chromium") as caught:
        to_pdf(full())
    assert "apt install chromium" in caught.value.hint
    assert len(f"spadework: {caught.value} {caught.value.hint}") < 400


def browser(folder: Path, script: str) -> None:
    """A program named chromium that does `script` instead."""
    program = folder / "chromium"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def test_a_browser_that_hangs_is_ended_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    browser(tmp_path, f"/bin/sleep 300 &\necho $! > {tmp_path}/child\n/bin/sleep 300")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SpadeworkError, match="within 1 seconds"):
        to_pdf(full(), seconds=1)
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 10
    while runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_browser_that_prints_nothing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    browser(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SpadeworkError, match="could not print the PDF"):
        to_pdf(full())

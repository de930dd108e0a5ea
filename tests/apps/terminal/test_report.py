"""The report as a terminal draws it: a source is one line that leads to what was read."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from spadework.apps.terminal.screen import draw_report, stored_file
from spadework.sessions.one_call import research
from spadework.settings import Settings
from tests.tools.export.rich import SCRIPT, rich

NOTE = "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding.\n"
LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b\\(.*?)\x1b\]8;;\x1b\\", re.DOTALL)


def test_lists_tables_and_code_are_drawn_as_they_are_set() -> None:
    screen = io.StringIO()
    draw_report(rich(), Console(file=screen, width=100))
    lines = [line.strip() for line in screen.getvalue().splitlines()]
    assert "• Turn the crank. [3]" in lines
    assert "1 Turn the crank. [3]" in lines
    assert "11 Turn the crank. [3]" in lines
    [head] = [n for n, line in enumerate(lines) if re.fullmatch(r"Name +Width \| metres", line)]
    assert set(lines[head + 1]) == {"─"}
    assert re.match(r"Turn the crank\. \[3\]  +up to a \| b \| or 40", lines[head + 2])
    assert [line for line in SCRIPT.split() if line not in screen.getvalue()] == []


async def test_a_page_of_the_library_is_a_link_to_its_stored_text(tmp_path: Path) -> None:
    (tmp_path / "my notes").mkdir()
    (tmp_path / "my notes" / "quillon (1931).md").write_text(NOTE)
    result = await research(
        "What is the Quillon?",
        Settings.load(library=(tmp_path / "my notes",), search="library", iterations=1),
    )
    screen = io.StringIO()
    draw_report(result, Console(file=screen, force_terminal=True, color_system="standard"))
    drawn = screen.getvalue()
    [source] = result.sources
    file = stored_file(result, source)
    assert "Quillon is a wind-up radio" in file.read_text()
    assert (file.as_uri(), "Quillon") in [
        (address, re.sub(r"\x1b\[[\d;]*m", "", text)) for address, text in LINK.findall(drawn)
    ]
    assert "file:" not in LINK.sub("", drawn), "the address is not written out"

"""`spadework read` as a user has it: one page or file as Markdown or as JSON, and one sentence
where it cannot be read.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spadework.tools.web.chromium import installed_chromium
from tests.apps.process import Terminal
from tests.tools.extract.files import docx, rtf, zipped
from tests.world.paper import pdf
from tests.world.sites import World

PAGE = (
    "<html lang=en><head><title>Tides</title><meta name=author content='R."
    " Penn'></head><body><nav><a href=/>Home</a></nav><article><h1>Tides</h1><p>"
    + "The winter tide reached the second step of the harbour office. " * 8
    + "</p><p>See <a href=/dues>the dues</a>.</p></article></body></html>"
)
FACTS = {
    *(
        "url",
        "final_url",
        "status",
        "media_type",
        "level",
        "bytes",
        "seconds",
        "from_cache",
        "stale",
        "title",
        "author",
        "published_at",
    ),
    *("language", "kind", "trafilatura", "links", "markdown"),
}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "dues.pdf").write_bytes(pdf("Harbour dues\n\nA boat pays 14 crowns."))
    (tmp_path / "dues.docx").write_bytes(
        docx("<w:p><w:r><w:t>A boat pays 14 crowns.</w:t></w:r></w:p>")
    )
    (tmp_path / "dues.rtf").write_bytes(rtf(rb"A boat pays 14 crowns.\par"))
    (tmp_path / "blank.txt").write_text(" \n")
    (tmp_path / "noise.bin").write_bytes(b"\x7fELF\0\1\2")
    (tmp_path / "all.zip").write_bytes(zipped({"a.txt": "A text."}))
    (tmp_path / "latin.txt").write_bytes("Das Café schließt früh.".encode("cp1252"))
    return Terminal({}, tmp_path)


@pytest.fixture
def online(tmp_path: Path, world: World) -> Terminal:
    return Terminal(dict(world.env), tmp_path)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("page.html", "# Tides\n\nThe winter tide"),
        ("dues.pdf", "A boat pays 14 crowns."),
        ("dues.docx", "A boat pays 14 crowns."),
        ("dues.rtf", "A boat pays 14 crowns."),
        ("all.zip", "# a.txt\n\nA text."),
        ("latin.txt", "Das Café schließt früh."),
    ],
)
def test_a_file_of_any_format_is_read(terminal: Terminal, name: str, found: str) -> None:
    code, out, err = terminal.run("read", name)
    assert (code, err) == (0, "")
    assert found in out


def test_all_that_is_known_of_a_file_is_told(terminal: Terminal) -> None:
    code, out, _ = terminal.run("read", "page.html", "--json")
    told = json.loads(out)
    assert code == 0
    assert set(told) == FACTS
    assert (told["url"], told["level"], told["title"], told["author"], told["language"]) == (
        *("page.html", -1, "Tides", "R. Penn"),
        "en",
    )
    assert told["bytes"] == len(PAGE)


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["noise.bin"], 1, "could not be read: application/x-executable is not supported"),
        (["blank.txt"], 1, "blank.txt could not be read: The document is empty"),
        (["no-such-file"], 2, "no-such-file"),
        (["."], 2, "directory"),
        ([], 2, "Say what to read"),
        (["http://"], 2, "http://"),
        (["https://[::1"], 2, "https://[::1"),
        (["ftp://example.org/a"], 2, "ftp://example.org/a"),
        (["https://example.org/", "--level", "7"], 2, "--level"),
        (["https://example.org/", "--level", "high"], 2, "--level"),
        (["http://127.0.0.1:9/a"], 1, "127.0.0.1"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_that_names_it(
    terminal: Terminal, arguments: list[str], code: int, named: str
) -> None:
    got, out, err = terminal.run("read", *arguments)
    assert (got, out) == (code, "")
    assert named in err
    assert "Traceback" not in err
    assert len(err) <= 400


def test_a_page_of_the_web_is_read_with_all_that_is_known_of_it(
    online: Terminal, world: World
) -> None:
    url = f"{world.bases['encyclopedia']}/wiki/Port_Aldermere"
    code, out, err = online.run("read", url, "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert set(told) == FACTS
    assert (told["url"], told["final_url"], told["status"], told["media_type"], told["level"]) == (
        url,
        url,
        200,
        "text/html",
        0,
    )
    assert told["seconds"] > 0
    assert told["bytes"] > 0
    assert "Port Aldermere" in told["markdown"]
    assert json.loads(online.run("read", url, "--json", "--level", "1")[1])["level"] == 1


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.skipif(not installed_chromium(), reason="no Chromium is installed here")
def test_reading_can_begin_in_the_browser(online: Terminal, world: World) -> None:
    url = f"{world.bases['encyclopedia']}/wiki/Port_Aldermere"
    code, out, err = online.run("read", url, "--json", "--level", "2")
    assert (code, err) == (0, "")
    assert json.loads(out)["level"] == 2


def test_why_a_page_of_the_web_could_not_be_read_is_said(online: Terminal, world: World) -> None:
    url = f"{world.bases['encyclopedia']}/no-such-page"
    code, out, err = online.run("read", url)
    assert (code, out) == (1, "")
    assert "no-such-page" in err
    assert "404" in err

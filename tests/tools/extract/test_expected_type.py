"""What a hit is, is known before it is fetched, and again when its server answers."""

from __future__ import annotations

import pytest

from spadework.settings import Settings
from spadework.tools.extract import expected_type as module
from spadework.tools.extract.expected_type import foreseen, refused_type, shape_of_type
from spadework.tools.ranking.selection import preset_of, reason, select
from spadework.values import Found, Hit


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without OCR."""
    monkeypatch.setattr(module, "has_ocr", lambda: False)


@pytest.mark.parametrize(
    ("url", "title", "shape", "refused"),
    [
        ("https://x.example/", "", "web page", False),
        ("https://x.example/v3.11/", "", "web page", False),
        ("https://x.example/report.PDF?download=1", "", "PDF", False),
        ("https://arxiv.org/pdf/2301.00001v2", "", "PDF", False),
        ("https://x.example/get", "[PDF] The census", "PDF", False),
        ("https://x.example/dues.docx", "", "document", False),
        ("https://x.example/dues.doc", "", "document", True),
        ("https://x.example/get", "[XLS] Dues", "spreadsheet", False),
        ("https://x.example/dues.csv", "", "spreadsheet", False),
        ("https://x.example/talk.pptx", "", "presentation", False),
        ("https://x.example/map.png", "", "image", True),
        ("https://x.example/map.svg", "", "image", True),
        ("https://x.example/all.tar.gz", "", "archive", False),
        ("https://x.example/all.rar", "", "archive", True),
        ("https://x.example/news.rss", "", "feed", False),
        ("https://x.example/data.json", "", "data", False),
        ("https://x.example/film.mp4", "", "video", True),
        ("https://x.example/song.mp3", "", "sound", True),
        ("https://x.example/setup.exe", "", "program", True),
        ("https://en.wikipedia.org/wiki/File:Harbour.jpg", "", "web page", False),
        ("https://github.com/a/b/blob/main/harbour.png", "", "web page", False),
        ("https://[broken", "", "web page", False),
    ],
)
def test_the_address_and_the_title_tell(url: str, title: str, shape: str, *, refused: bool):
    found = foreseen(url, title)
    assert (found.shape, bool(found.refused), found.worth) == (
        shape,
        refused,
        0.0 if refused else 1,
    )


def test_what_is_installed_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "has_ocr", lambda: True)
    found = foreseen("https://x.example/a.png")
    assert (found.refused, found.worth) == ("", module.SLOW)


def test_what_a_server_sends_is_known_by_its_type():
    assert [refused_type(name) for name in ("video/mp4", "audio/ogg", "font/woff2")] == [
        "a video",
        "sound",
        "a font",
    ]
    # .ts is also TypeScript.
    assert [refused_type(name) for name in ("text/html", "video/mp2t", "")] == ["", "", ""]
    shapes = {
        "text/html": "web page",
        "application/pdf": "PDF",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "spreadsheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "document",
        "application/msword": "document",
        "application/vnd.ms-powerpoint": "presentation",
        "image/png": "image",
        "application/rss+xml": "feed",
        "application/json; charset=utf-8": "data",
        "application/zip": "archive",
        "text/plain": "text",
    }
    assert {name: shape_of_type(name) for name in shapes} == shapes


def hit(url: str, rrf: float, relevance: float = 0.6) -> Hit:
    found = Found(query="q", kind="original", provider="searxng", rank=1)
    return Hit(url=url, title="Census", rrf=rrf, relevance=relevance, found_by=(found,))


def test_the_reason_says_what_cannot_be_read():
    hits = [hit("https://x.example/film.mp4", 0.0, 0.0)] + [
        hit(f"https://n{n}.example/", 0.03) for n in range(4)
    ]
    made = select(hits, preset="default")
    assert [one.url for one in made.reserve] == ["https://x.example/film.mp4"]
    assert reason(hits[0], made) == (
        "In reserve, as number 1: its address or title suggests that it cannot be read (video"
        " files are not supported)."
    )


def test_a_threshold_may_be_a_number():
    hits = [hit(f"https://n{n}.example/", 0.03, n / 10) for n in range(10)]
    precise = select(hits, preset=preset_of(Settings.load(preset="precise")))
    finer = Settings.load(preset="precise", min_relevance=0.65)
    chosen = select(hits, preset=preset_of(finer)).chosen
    assert min(one.relevance for one in precise.chosen) == 0.5
    assert [one.relevance for one in chosen] == [0.7, 0.8, 0.9]

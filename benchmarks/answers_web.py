"""The pages that `answers.py` asks about, as folders that a library can hold."""

from __future__ import annotations

import html
import json
import lzma
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Where Debian's packages put the manuals that the questions in other languages are about, and how
#: the pages of a language are named there.
MANUALS = Path("/usr/share")
ENDINGS = {"zh": ("zh-cn", "zh_CN", "zh-CN"), "es": ("es", "es-ES"), "ru": ("ru", "ru-RU")}
FOLDERS = (
    *("debian-reference", "developers-reference", "doc/aptitude/html", "doc/debian/FAQ"),
    *("doc/debian-handbook/html", "doc/installation-guide-amd64", "doc/maint-guide-*/html"),
)


def english(data: Path, folder: Path, left_out: Iterable[str]) -> list[Path]:
    """The sites of DATA in `folder`, one folder a site, without the pages `left_out` (paths below
    DATA). Made once for the same pages.
    """
    gone, sites = set(left_out), folder / "web" / "sites"
    mark = folder / "left-out.json"
    if mark.exists() and json.loads(mark.read_text()) == sorted(gone):
        return _sites(sites)
    shutil.rmtree(folder, ignore_errors=True)
    for page in sorted((data / "web" / "sites").rglob("*.html")):
        name = page.relative_to(data).as_posix()
        if page.is_file() and name not in gone:
            _linked(page, folder / name)
    with lzma.open(data / "reading-web-dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            name = f"web/sites/webdev/{row['id']}"
            if name not in gone:
                _written(folder / f"{name}.html", row)
    mark.write_text(json.dumps(sorted(gone)))
    return _sites(sites)


def manuals(language: str) -> list[Path]:
    """The folders of translated manuals that are installed, linked page by page."""
    folder = Path("build/answers/manuals") / language
    if not folder.exists():
        for page in sorted(p for name in FOLDERS for p in MANUALS.glob(f"{name}/**/*.html")):
            if page.is_file() and _is_in(page, language):
                _linked(page.resolve(), folder / page.relative_to(MANUALS).as_posix())
    return [folder] if folder.exists() else []


def _is_in(page: Path, language: str) -> bool:
    names = ENDINGS.get(language, (language, f"{language}-{language.upper()}"))
    parts = {*page.parts, *page.name.split(".")}
    return any(name in parts for name in names)


def _sites(sites: Path) -> list[Path]:
    return sorted(each for each in sites.iterdir() if each.is_dir())


def _linked(page: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(page, to)
    except OSError:
        shutil.copyfile(page, to)


def _written(to: Path, row: dict[str, Any]) -> None:
    """A page of the reading corpus: its text as it was marked by hand, so that reading is not what
    is measured here.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        f"<p>{html.escape(part)}</p>" for part in row["main_content"].split("\n") if part.strip()
    )
    title = html.escape(row["title"] or row["id"])
    to.write_text(
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title></head>"
        f"<body><main><article><h1>{title}</h1>{text}</article></main></body></html>",
        encoding="utf-8",
    )

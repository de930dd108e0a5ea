"""What the docs refer to is there: files, headings of pages, and names in files of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "spadework"
PAGES = sorted(
    {
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
        *(ROOT / "benchmarks" / "notes").glob("*.md"),
        ROOT / "tests" / "README.md",
    }
    - {*(ROOT / "docs" / "examples").glob("*-*.md"), ROOT / "CHANGELOG.md"}
)
#: Where a path that stands in a text begins, and what else looks like one and is none of ours.
TOPS = (
    "agents",
    "apps",
    "benchmarks",
    "docs",
    "graph",
    "prompts",
    "sessions",
    "src",
    "tests",
    "tools",
)
THEIRS = ("sessions/<id>/",)
_FENCE = re.compile(r"^([ ]*)(`{3,}).*?^\1\2$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"`([A-Za-z_]\w*(?:\.(?!py`)\w+)*)`")
_FILE = re.compile(r"`?(?:[\w/]+/)?(\w+\.py)`?")
_PATH = re.compile(rf"(?:{'|'.join(TOPS)})/[\w./-]*")


class Link(NamedTuple):
    """A link of a page to a file or heading: its text, where it leads, and to which heading."""

    text: str
    path: Path
    heading: str


def links(page: Path) -> Iterator[Link]:
    """The links of a page that stay in the repository."""
    for text, target in _LINK.findall(_FENCE.sub("", page.read_text())):
        path, _, heading = target.partition("#")
        if "://" not in target:
            yield Link(text, (page.parent / path).resolve() if path else page, heading)


def paths(page: Path) -> set[str]:
    """The paths of the repository that stand as code in a page."""
    code = _CODE.findall(_FENCE.sub("", page.read_text()))
    return {found for found in code if _PATH.fullmatch(found) and found not in THEIRS}


def exists(path: str) -> bool:
    """Whether a path is there, from the root or in the package; that of a module may go without its
    ending, or name what it defines. NAME stands for any.
    """
    file = Path(path).with_suffix(".py")
    there = any((top / one).exists() for top in (ROOT, SOURCE) for one in (path, file))
    return there or "NAME" in path


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    heads = re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def defines(file: Path, name: str) -> bool:
    """Whether a file of code defines a name, such as `Session.start`."""
    text = file.read_text()
    return all(
        re.search(rf"^\s*(?:(?:async )?def|class) {part}\b|^{part}\b[^\n]*=", text, re.MULTILINE)
        for part in name.split(".")
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_refers_to_is_there(page: Path) -> None:
    missing = [path for path in paths(page) if not exists(path)]
    for link in links(page):
        if not link.path.exists():
            missing.append(f"{link.path.relative_to(ROOT)}")
        elif link.heading and link.heading not in anchors(link.path):
            missing.append(f"{link.path.name}#{link.heading}")
        elif link.path.suffix == ".py" and (name := _NAME.fullmatch(link.text)):
            missing += [] if defines(link.path, name[1]) else [f"{name[1]} in {link.path.name}"]
        elif link.path.suffix == ".py" and (named := _FILE.fullmatch(link.text)):
            missing += [] if named[1] == link.path.name else [f"{named[1]}: {link.path.name}"]
    assert sorted(missing) == []


def test_the_glossary_has_forty_words_at_most_and_each_once() -> None:
    rows = (ROOT / "docs" / "glossary.md").read_text().splitlines()
    words = [row.split("|")[1].strip() for row in rows if row.startswith("| ")][1:]
    assert len(words) <= 40
    assert len(set(words)) == len(words)


def test_each_decision_is_on_the_map_and_says_what_would_change_it() -> None:
    known = {link.path for link in links(ROOT / "docs" / "README.md")}
    for page in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        text = page.read_text()
        assert page in known, page.name
        assert "**What would change our mind.**" in text, page.name
        assert len(text.splitlines()) < 60, page.name

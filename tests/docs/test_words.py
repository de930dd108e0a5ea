"""Docs, docstrings and messages use the words of the glossary; docs name existing settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_compose import variables
from tests.docs.test_references import ROOT, SOURCE

GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = sorted(
    {ROOT / "README.md", *(ROOT / "docs").rglob("*.md")}
    - {GLOSSARY, *(ROOT / "docs" / "examples").glob("[!R]*.md")}
)
#: Code, what somebody or a program says, addresses of links, and names of licences.
_QUOTED = re.compile(
    r'^( *)(`{3,}).*?^\1\2$|`[^`\n]+`|"[^"\n]+"|\]\([^)\s]+\)', re.DOTALL | re.MULTILINE
)
#: Variables that are read without being settings, and those of tests.
OTHER_VARIABLES = {"SPADEWORK_PROXY", "SPADEWORK_ODD_SEED"}


#: What SQL, HTTP, streams and names in the code call by such a word.
CODE_WORDS = {"conflict", "conflicts", "chunk", "chunks", "tape", "cassette", "allowance"}


def words_of_glossary() -> dict[str, str]:
    """Return what is not to be used, with the word that stands in its place."""
    rows = [line.split("|") for line in GLOSSARY.read_text().splitlines() if line.startswith("| ")]
    return {
        other.strip(): row[1].strip()
        for row in rows[1:]
        for other in row[3].split(",")
        if other.strip()
    }


def prose(page: Path) -> str:
    """Return a page without what it quotes, its lines kept."""
    return _QUOTED.sub(lambda quoted: "\n" * quoted[0].count("\n"), page.read_text())


def others_used(text: str) -> list[str]:
    """Return the words that the glossary replaces, as they stand in a text."""
    found = words_of_glossary()
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, found))})\b", re.IGNORECASE)
    return [f"{match[0]}: {found[match[0].lower()]}" for match in pattern.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_the_words_of_the_glossary(page: Path) -> None:
    assert others_used(prose(page)) == []


def texts(module: Path) -> Iterator[str]:
    """Yield the docstrings and messages of a module, without the code that they quote."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield re.sub(r"`[^`]*`", "", node.value)


def test_docstrings_and_messages_use_the_words_of_the_glossary() -> None:
    found = {
        f"{module.relative_to(SOURCE)}: {used}"
        for module in SOURCE.rglob("*.py")
        for text in texts(module)
        for used in others_used(text)
        if used.partition(":")[0].lower() not in CODE_WORDS
    }
    assert found == set()


def test_a_word_in_place_of_another_is_found_and_code_is_not_looked_at() -> None:
    assert others_used("The front\tdoor, each Iteration.") == ["Iteration: round"]
    assert others_used(_QUOTED.sub("", 'See `iterations`, "a chunk" and [a](chunk.md).')) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_variables_that_there_are(page: Path) -> None:
    named = set(re.findall(r"\bSPADEWORK_[A-Z_]*[A-Z]\b", page.read_text()))
    assert named - variables() - OTHER_VARIABLES == set()

"""What installed packages say about themselves is found, under public names."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.tools.library import installed
from spadework.tools.library.document import Document
from spadework.tools.library.full_text import stems
from spadework.tools.library.installed import (
    Package,
    package_at,
    packages_in,
    parts_of,
    without_history,
)

METADATA = """\
Metadata-Version: 2.1
Name: Spoon
Version: 1.2
Summary: Stirs soup
Description-Content-Type: {kind}

{text}"""

SOURCES = {
    "spoon/__init__.py": (
        "from ._pot import *\nfrom ._stir import stir as stir_it\nfrom . import pan\n"
        '__all__ = ["Pot", "stir_it", "pan"]\n'
    ),
    "spoon/_pot.py": (
        '__all__ = ["Pot", "Ladle"]\nclass Pot:\n    """A pot holds soup, and there is always a'
        ' spoon in it, which is made of wood or of steel."""\nclass Ladle:\n    """A ladle that the'
        ' package does not offer to anyone else."""\n'
    ),
    "spoon/_stir.py": (
        'def stir(soup):\n    """Stirs a soup until it is warm, and then some more, until everybody'
        ' has come to eat."""\n'
    ),
    "spoon/_unused.py": (
        'def hidden():\n    """Nobody outside of this package may call this function."""\n'
    ),
    "spoon/pan.py": (
        '"""Pans are flat pots; they fry what a pot would boil, and quickly."""\n'
        'def fry():\n    """Fries whatever is in the pan until it is brown all over."""\n'
    ),
    "spoon/broken.py": (
        'def fry(:\n    """Not Python at all, though it has a docstring like others."""\n'
    ),
    "spoon/fast.pyi": (
        'def whisk(soup: str) -> str:\n    """Whisks a soup in compiled code, which only a stub'
        ' describes."""\n'
    ),
    "spoon/tests/test_pot.py": (
        'def test_pot():\n    """A test with a long docstring that nobody wants to read here."""\n'
    ),
    "spoon/_vendor/six.py": (
        'def six():\n    """A vendored module with a docstring that is long enough to show."""\n'
    ),
    "spoon/docs/guide.md": (
        "# Guide\n\nHow to stir a soup with a spoon, step by step, in every detail that there"
        " is.\n\n## Changelog\n\n- 1.2\n"
    ),
    "spoon/LICENSE.txt": (
        "Permission is hereby granted to everyone who asks politely for a spoon of soup, free of"
        " charge.\n" * 3
    ),
    "spoon/words.txt": "a\nb\n" * 100,
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages with one package in it."""
    info = tmp_path / "spoon-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        METADATA.format(
            kind="text/markdown; charset=UTF-8",
            text="# Spoon\n\nA spoon for [soup](soup.md).\n" * 3,
        )
    )
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (info / "RECORD").write_text(
        "".join(
            f"{name},,\n" for name in [*SOURCES, "../../bin/spoon", "spoon-1.2.dist-info/METADATA"]
        )
    )
    return info


def found(site: Path) -> dict[str, Document]:
    read = [part.read() for part in parts_of(package_at(site))]
    return {document.url: document for document in read if document}


def test_every_public_document_is_found_and_nothing_else(site):
    assert {url: document.title for url, document in found(site).items()} == {
        "library://spoon-1.2/README.md": "spoon: Stirs soup",
        "library://spoon-1.2/spoon/docs/guide.md": "spoon: Guide",
        "library://spoon-1.2/spoon/_pot.py": "spoon.Pot",
        "library://spoon-1.2/spoon/_stir.py": "spoon.stir_it",
        "library://spoon-1.2/spoon/pan.py": (
            "spoon.pan: Pans are flat pots; they fry what a pot would boil, and quickly"
        ),
        "library://spoon-1.2/spoon/fast.pyi": "spoon.fast: whisk",
    }


def test_names_are_public_and_no_path_of_the_machine_appears(site, tmp_path):
    documents = found(site)
    assert "## class spoon.Pot" in documents["library://spoon-1.2/spoon/_pot.py"].markdown
    assert "Ladle" not in documents["library://spoon-1.2/spoon/_pot.py"].markdown
    assert "`spoon.stir_it(soup)`" in documents["library://spoon-1.2/spoon/_stir.py"].markdown
    assert not any(str(tmp_path) in document.markdown for document in documents.values())


def test_the_history_is_left_out(site):
    assert "1.2" not in found(site)["library://spoon-1.2/spoon/docs/guide.md"].markdown


@pytest.mark.parametrize(
    ("kind", "name"),
    [("text/x-rst", "README.rst"), ("text/plain", "README.txt"), ("", "README.rst")],
)
def test_descriptions_of_other_formats_are_read(site, kind, name):
    (site / "METADATA").write_text(
        METADATA.format(
            kind=kind, text="Spoon\n=====\n\nA ``spoon`` for soup, and for more than that.\n" * 2
        )
    )
    assert found(site)[f"library://spoon-1.2/{name}"].markdown.startswith("# Spoon\n")


def test_a_package_without_description_is_known_by_its_summary(site):
    (site / "METADATA").write_text(METADATA.format(kind="text/markdown", text="None"))
    assert found(site)["library://spoon-1.2/README.md"].markdown == "# spoon\n\nStirs soup\n"


def test_sections_named_after_versions_go_with_the_history():
    text = (
        "# A\n\nText.\n\n### Changelog\n\n# v1.2\n\nFixed.\n\n## Bugs\n\nMany.\n\n#"
        " Licence\n\nFree.\n"
    )
    assert without_history(text) == "# A\n\nText.\n\n# Licence\n\nFree.\n"


@pytest.mark.full
@pytest.mark.slow
def test_the_standard_library_has_its_reference_its_compiled_modules_and_its_sources():
    documents = {
        document.url.partition("/")[2].partition("/")[2]: document
        for part in parts_of(package_at(None))
        if (document := part.read())
    }
    assert all(url.startswith("python-3.") for url in documents)
    by_path = {url.partition("/")[2]: document for url, document in documents.items()}
    assert by_path["pydoc_data/topics/with"].title == "The with statement"
    assert "groupby" in by_path["compiled/itertools"].markdown
    assert "## class collections.deque" in by_path["compiled/collections"].markdown
    assert (
        "`asyncio.gather(*coros_or_futures, return_exceptions=False)`"
        in by_path["asyncio/tasks.py"].markdown
    )
    assert not any("test" in path.split("/") for path in by_path)


@pytest.mark.parametrize(
    ("text", "named", "unnamed"),
    [
        ("How do I use Pytest with fixtures?", "pytest", "httpx"),
        ("How do I parse arguments with the argparse module?", "python", "pytest"),
        ("What does `time` return?", "python", "pytest"),
        ("How long does time.sleep(1) wait?", "python", "pytest"),
        ("How do I import copy?", "python", "pytest"),
        ("How do I print a table with Rich?", "rich", "python"),
        ("What does the click library do?", "click", "python"),
        ("What does requests.get return?", "requests", "python"),
        ("How do I send a POST with requests in Python?", "requests", "httpx"),
    ],
)
def test_a_question_names_packages_or_modules_of_the_standard_library(text, named, unnamed):
    found = packages_in(text)
    assert named in found
    assert unnamed not in found


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of Australia?",
        "What is this?",
        "How do I send an email from code?",
        "How much time does a copy of these types take?",
        "Which site makes me select a token?",
        "Why do the rich click on requests?",
        "Rich people: who are they?",
    ],
)
def test_a_question_about_something_else_names_no_package(text):
    assert not packages_in(text)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((("steel",), ("wood",)), {"spoon"}),
        ((("everybodi",), ("quick",)), {"spoon"}),  # stems of "everybody" and "quickly"
        ((("steel",), ("quixotic",)), {"spoon"}),  # a word that no file has does not count
        ((("steel",), ("warm",), ("brown",)), set()),  # one word to a file
        ((("wants",),), set()),  # only in a test
        ((("vendored",),), set()),
        ((("quixotic",),), set()),
        ((), set()),
    ],
)
def test_packages_are_found_by_the_words_of_a_file(site, monkeypatch, words, found):
    python = Package("python", "3.11", site.parent, ())
    monkeypatch.setattr(installed, "installed_packages", lambda: [site])
    monkeypatch.setattr(installed, "package_at", lambda at: package_at(at) if at else python)
    assert installed.packages_with(words, stems) == found
    (site / "METADATA").write_bytes(b"Name: \xff\n")
    (site / "RECORD").write_bytes(b"spoon/pan.py,,many\n")
    assert installed.packages_with(words, stems) == set(), "a broken package is left out"

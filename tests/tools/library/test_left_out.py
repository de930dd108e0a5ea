"""What cannot be read is left out and named; everything else is in the index."""

from __future__ import annotations

import json
import os
import select
from collections import deque
from pathlib import Path

import pytest

from spadework.apps.commands.lookups import index_paths
from spadework.settings import Settings
from spadework.tools.library import library as builder
from spadework.tools.library.installed import compiled_modules
from spadework.tools.library.library import Library
from spadework.tools.library.source_reader import Reader, cut_package, read_packages

DOCSTRING = '"""Stirs whatever is in the pot until it is warm, and then some more."""'


def package(site: Path, name: str, modules: dict[str, str], metadata: bytes = b"") -> Path:
    """The metadata folder of an installed package with these modules."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_bytes(
        metadata or f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode()
    )
    (site / name).mkdir()
    for file, text in modules.items():
        (site / name / file).write_text(text)
    (info / "RECORD").write_text("".join(f"{name}/{file},,\n" for file in modules))
    return info


#: An expression that `ast` can read and not write.
DEEP = f"def stir(pot={'+'.join(['1'] * 900)}):\n    {DOCSTRING}\n"
PLAIN = f"def stir(pot):\n    {DOCSTRING}\n"


def test_a_module_that_cannot_be_read_is_left_out_alone(tmp_path):
    read = cut_package((package(tmp_path, "spoon", {"deep.py": DEEP, "plain.py": PLAIN}), True))
    assert [cut.document.url for cut in read.cuts] == ["library://spoon-1.0/spoon/plain.py"]
    assert [str(each) for each in read.skipped] == [
        "library://spoon-1.0/spoon/deep.py: the reader failed (RecursionError)"
    ]


def test_a_package_that_cannot_be_read_is_left_out_alone(tmp_path):
    good = package(tmp_path, "spoon", {"plain.py": PLAIN})
    bad = package(tmp_path, "ladle", {"plain.py": PLAIN}, metadata=b"Name: ladle\nSummary: \xff\n")
    told = dict(read_packages([(bad, True), (good, True)]))
    read = {place: text for (place, _), text in told.items()}
    assert [cut.document.url for cut in read[good].cuts] == ["library://spoon-1.0/spoon/plain.py"]
    assert (read[bad].cuts, [str(each) for each in read[bad].skipped]) == (
        [],
        ["library://ladle-1.0: the reader failed (UnicodeDecodeError)"],
    )


def cut(source: str) -> str:
    """Reads a source; one of them ends its process, as a library in C might."""
    if source == "bomb":
        os._exit(1)
    return source.upper()


def test_what_ends_its_reader_is_left_out_alone():
    reader = Reader(cut, lambda source, reason: f"{source}: {reason}")
    sources = ["soup", "bomb", "pot"]
    assert dict(reader.read(deque(sources))) == {
        "soup": "SOUP",
        "bomb": "bomb: the reader crashed or took too long",
        "pot": "POT",
    }


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="this system has no epoll")
def test_a_signature_that_cannot_be_had_does_not_cost_its_module(monkeypatch):
    """In Python 3.13 the names in the signature of `epoll.register` mean something else than they
    should; without them it is the same in any Python.
    """
    monkeypatch.delattr(select, "EPOLLIN")
    parts = {part.url: part for part in compiled_modules("python-3.x")}
    document = parts["library://python-3.x/compiled/select"].read()
    assert document is not None
    assert "### select.epoll.register\n" in document.markdown


async def test_a_document_with_half_a_sign_is_found_like_any_other(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# Soup \ud83d\n", "\n", "Soup is warm \ud83d.\n"]}
    ]
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "soup.ipynb").write_text(
        json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    )
    library = await Library.open([notes], home=tmp_path / "home")
    assert [hit.url for hit in await library.search("warm soup", limit=3)] == [
        "library://notes/soup.ipynb"
    ]
    await library.close()


async def test_a_file_that_was_left_out_stays_named_when_only_its_time_changed(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "picture.txt").write_bytes(b"\0\1\2")
    for _ in range(2):
        library = await Library.open([notes], home=tmp_path / "home")
        assert [str(each) for each in library.skipped] == [
            "library://notes/picture.txt: not a text file"
        ]
        await library.close()
        (notes / "picture.txt").touch()


async def test_progress_is_told_whenever_some_time_has_passed(tmp_path, monkeypatch):
    monkeypatch.setattr(builder, "PAUSE_SECONDS", 0.0)
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(40):
        (notes / f"{n}.md").write_text(f"# Note {n}\n\nThe pot is warm.\n")
    said: list[str] = []
    await (await Library.open([notes], home=tmp_path / "home", progress=said.append)).close()
    assert said == [f"Building the index of the library: {n} of 40 done." for n in range(41)]


def test_index_counts_and_names_what_it_left_out(tmp_path, capsys):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "picture.txt").write_bytes(b"\0\1\2")
    (notes / "soup.md").write_text("# Soup\n\nSoup is warm.\n")
    index_paths(Settings(home=tmp_path / "home", library=(notes,)))
    said = capsys.readouterr()
    assert said.out == "Indexed the library notes (1 document); 1 left out.\n"
    assert said.err.endswith("Not read: library://notes/picture.txt: not a text file\n")

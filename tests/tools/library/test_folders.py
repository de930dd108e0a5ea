"""Which files of a user's folders are documents, and under which names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spadework.errors import SettingsError
from spadework.tools.library.source_reader import collections, files


def write(path: Path, text: str = "Some words.\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_documents_are_found_and_everything_else_is_left_out(tmp_path):
    notes = tmp_path / "My Notes"
    for name in ("a.md", "deep/b c#1.HTML", "README", "x.rst", "y.txt", "z.pdf"):
        write(notes / name)
    for name in (
        ".hidden.md",
        ".git/a.md",
        "node_modules/a.md",
        "code.py",
        "picture.png",
        "Makefile",
    ):
        write(notes / name)
    assert {file.url: file.media_type for file in files([notes])} == {
        "library://my-notes/a.md": "text/markdown",
        "library://my-notes/deep/b%20c%231.HTML": "text/html",
        "library://my-notes/README": "text/plain",
        "library://my-notes/x.rst": "text/x-rst",
        "library://my-notes/y.txt": "text/plain",
        "library://my-notes/z.pdf": "application/pdf",
    }


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    notes, outside = tmp_path / "notes", tmp_path / "outside"
    write(outside / "secret.md")
    write(notes / "real.md")
    (notes / "file.md").symlink_to(outside / "secret.md")
    (notes / "folder").symlink_to(outside)
    (notes / "loop").symlink_to(notes)
    (notes / "inside.md").symlink_to(notes / "real.md")
    (notes / "broken.md").symlink_to(notes / "nothing.md")
    (notes / "itself.md").symlink_to(notes / "itself.md")
    assert [file.url for file in files([notes])] == [
        "library://notes/inside.md",
        "library://notes/real.md",
    ]


def test_folders_of_one_name_get_names_of_their_own(tmp_path):
    first, second = write(tmp_path / "a/notes/x.md").parent, write(tmp_path / "b/notes/x.md").parent
    assert collections([first, second, first]) == {"a-notes": first, "b-notes": second}
    assert collections([first]) == {"notes": first}
    third = write(tmp_path / "b" / "Notes" / "x.md").parent
    assert collections([second, third]) == {"b-notes": second, "b-notes-2": third}


def test_what_a_page_was_made_from_is_not_read_beside_it(tmp_path):
    manual = tmp_path / "manual"
    for name in ("git.html", "git.txt", "only.txt", "git.pdf", "_sources/git.rst.txt"):
        write(manual / name)
    assert [Path(file.path).name for file in files([manual])] == ["git.html", "git.pdf", "only.txt"]


def test_a_name_in_another_encoding_than_the_systems_is_written_in_its_bytes(tmp_path):
    path = write(Path(os.fsdecode(os.fsencode(tmp_path) + b"/notes/caf\xe9/\xe4.txt")))
    for given in (tmp_path / "notes", path.parent, path):
        [file] = files([given])
        assert file.url.endswith("/%E4.txt")
        assert Path(file.path).read_text() == "Some words.\n"


def test_a_single_file_belongs_to_the_folder_it_lies_in(tmp_path):
    write(tmp_path / "notes/other.md")
    path = write(tmp_path / "notes/x.md")
    assert [file.url for file in files([path])] == ["library://notes/x.md"]


def test_a_missing_path_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"^The library path .*/nowhere does not exist\.$"):
        files([tmp_path / "nowhere"])


def test_a_folder_that_must_not_be_read_is_named(tmp_path, monkeypatch):
    folder = write(tmp_path / "closed/x.md").parent
    # Root may read everything, so the system's answer is given here.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder)
    with pytest.raises(
        SettingsError, match=r"^The library path .*/closed cannot be read: permission denied\.$"
    ):
        files([folder])

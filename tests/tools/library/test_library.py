"""A library of real folders: built, searched, brought up to date, shared."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import psutil
import pytest

from spadework.errors import NotAllowed, SearchError, SettingsError, Unreadable
from spadework.tools.library.library import Library
from spadework.tools.search.provider_choice import LibrarySearch
from spadework.values import Query

NOTES = {
    "spoons.md": (
        "# Spoons\n\n![x](y.png)\n\nA spoon stirs soup. Wooden spoons are quiet.\n\n```sh\nstir"
        " --slow   # 2 spaces\n```\n"
    ),
    "soup/onion.md": (
        "---\ntitle: Onion soup\ndate: 2024-05-06\n---\n\nOnions are fried before the broth is"
        " poured.\n"
    ),
    "soup/pots.html": (
        "<html><head><title>Pots</title></head><body><main><h1>Pots</h1><p>"
        + "A pot of iron keeps the broth warm. " * 9
        + "</p></main></body></html>"
    ),
    "garden.txt": (
        "THE GARDEN\n\nOnions grow in the garden, beside the leek and far from the pot.\n"
    ),
    "guide.rst": "Guide\n=====\n\nHow to fry onions::\n\n    fry(onions)\n",
    "picture.txt": "\0\1\2",
    "empty.md": "<!-- nothing -->\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of notes."""
    folder = tmp_path / "notes"
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


async def opened(*paths: Path, home: Path, said: list[str] | None = None) -> Library:
    return await Library.open(paths, home=home, progress=said.append if said is not None else None)


async def urls(library: Library, text: str) -> list[str]:
    return [hit.url for hit in await library.search(text, limit=10)]


async def test_one_document_is_said_in_the_singular(tmp_path):
    folder = tmp_path / "wool"
    folder.mkdir()
    (folder / "one.md").write_text("# Wool\n\nThe wool is from Aldermere.\n")
    library = await opened(folder, home=tmp_path / "home", said=[])
    assert library.describe == "the library wool (1 document)"


async def test_a_folder_is_read_and_searched(notes, tmp_path):
    said: list[str] = []
    library = await opened(notes, home=tmp_path / "home", said=said)
    assert library.documents == 5
    assert library.describe == "the library notes (5 documents)"
    assert [str(each) for each in library.skipped] == [
        "library://notes/empty.md: The document was read as markdown and contains no text.",
        "library://notes/picture.txt: not a text file",
    ]
    assert said[-1] == "Building the index of the library: 7 of 7 done."
    hits = await library.search("How do I fry onions for a soup?", limit=3)
    assert [hit.position for hit in hits] == [1, 2, 3]
    assert hits[0].url == "library://notes/soup/onion.md"
    assert hits[0].title == "Onion soup"
    assert hits[0].snippet == "Onions are fried before the broth is poured."
    assert hits[0].published_at.isoformat() == "2024-05-06T00:00:00+00:00"
    assert {hit.provider for hit in hits} == {"library"}
    await library.close()


async def test_a_document_is_given_whole_with_its_code_exact(notes, tmp_path):
    library = await opened(notes, home=tmp_path / "home")
    document = await library.document("library://notes/spoons.md")
    assert document.title == "Spoons"
    assert (
        document.markdown
        == "# Spoons\n\nA spoon stirs soup. Wooden spoons are quiet.\n\n```sh\nstir --slow   # 2"
        " spaces\n```\n"
    )
    with pytest.raises(Unreadable, match="no document"):
        await library.document("library://notes/../../etc/passwd")
    with pytest.raises(NotAllowed):
        await library.document("file:///etc/passwd")
    await library.close()


async def test_documents_with_all_words_come_before_those_with_some(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "both.md").write_text(
        "Far below, the leek is beside the pot. " + "Other words stand here. " * 40
    )
    (notes / "pot.md").write_text("# Pot\n\n" + "The pot, the pot, the pot. " * 20)
    (notes / "leek.md").write_text("# Leek\n\n" + "A leek is a leek. " * 20)
    library = await opened(notes, home=tmp_path / "home")
    assert (await urls(library, "leek pot"))[0] == "library://notes/both.md"
    await library.close()


async def test_opening_again_reads_nothing_and_changes_are_seen(notes, tmp_path):
    home = tmp_path / "home"
    await (await opened(notes, home=home)).close()
    said: list[str] = []
    await (await opened(notes, home=home, said=said)).close()
    assert said == []
    (notes / "garden.txt").unlink()
    (notes / "tea.md").write_text("# Tea\n\nTea is drunk, not stirred.\n")
    os.utime(notes / "spoons.md", ns=(1, 1))
    library = await opened(notes, home=home, said=said)
    assert said[-1] == "Building the index of the library: 2 of 2 done."
    assert await urls(library, "garden leek") == []
    assert await urls(library, "tea") == ["library://notes/tea.md"]
    assert await urls(library, "wooden spoons") == ["library://notes/spoons.md"]
    assert len(library.skipped) == 2
    await library.close()


@pytest.mark.full
async def test_an_open_library_stays_as_it_is_while_others_change_it(notes, tmp_path):
    home = tmp_path / "home"
    first = await opened(notes, home=home)
    for number in range(5):
        (notes / "tea.md").write_text(f"Tea of pot {number}.\n" * (number + 1))
        await (await opened(notes, home=home)).close()
    assert (await urls(first, "garden leek")) == ["library://notes/garden.txt"]
    assert len(list((home / "library").iterdir())) <= 4
    await first.close()


async def test_two_processes_may_build_at_once(notes, tmp_path):
    first, second = await asyncio.gather(
        opened(notes, home=tmp_path / "home"), opened(notes, home=tmp_path / "home")
    )
    assert first.documents == second.documents == 5
    assert len(list((tmp_path / "home" / "library").glob("folders-*"))) == 1
    await first.close()
    await second.close()


async def test_folders_of_one_name_stay_apart(notes, tmp_path):
    other = tmp_path / "other" / "notes"
    shutil.copytree(notes, other)
    library = await opened(notes, other, home=tmp_path / "home")
    first = f"{notes.parent.name}-notes"
    assert library.describe == f"the libraries {first} and other-notes (10 documents)"
    assert set(await urls(library, "wooden spoons")) == {
        f"library://{first}/spoons.md",
        "library://other-notes/spoons.md",
    }
    await library.close()


async def test_an_empty_folder_is_an_empty_library(tmp_path):
    (tmp_path / "notes").mkdir()
    library = await opened(tmp_path / "notes", home=tmp_path / "home")
    assert (library.documents, await urls(library, "soup")) == (0, [])
    await library.close()


async def test_a_home_that_cannot_be_written_is_named(notes, tmp_path):
    (tmp_path / "home").write_text("a file")
    with pytest.raises(SettingsError, match="cannot be written"):
        await opened(notes, home=tmp_path / "home")


async def test_a_cancelled_build_leaves_no_process_and_no_library(notes, tmp_path):
    for number in range(300):
        (notes / f"tea-{number}.md").write_text(f"# Tea {number}\n\nTea is drunk, not stirred.\n")
    home, begun = tmp_path / "home", asyncio.Event()
    before = set(psutil.Process().children(recursive=True))
    building = asyncio.create_task(Library.open([notes], home=home, progress=lambda _: begun.set()))
    await begun.wait()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert not list(home.glob("library/folders-*"))
    assert not [
        child
        for child in set(psutil.Process().children(recursive=True)) - before
        if child.is_running()
    ]


async def test_a_library_that_was_closed_says_so_and_its_index_stays(notes, tmp_path):
    library = await opened(notes, home=tmp_path / "home")
    [folder] = (tmp_path / "home" / "library").glob("folders-*")
    made = folder.stat().st_ino
    await library.close()
    with pytest.raises(SearchError, match=r"^The library is closed\.$"):
        await library.search("soup", limit=3)
    assert folder.stat().st_ino == made


async def test_the_provider_speaks_for_the_library(notes, tmp_path):
    library = await opened(notes, home=tmp_path / "home")
    provider = LibrarySearch(library)
    assert (provider.name, provider.describes) == ("library", "the library notes (5 documents)")
    hits = await provider.search(Query(text="iron pot"), limit=1, seconds=10)
    assert [(hit.url, hit.query, hit.provider) for hit in hits] == [
        ("library://notes/soup/pots.html", "iron pot", "library")
    ]
    with pytest.raises(SearchError, match="did not answer"):
        await provider.search(Query(text="iron pot"), limit=1, seconds=0)
    await library.close()

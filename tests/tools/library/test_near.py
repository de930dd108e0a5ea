"""A library whose passages have vectors: found by words and by meaning, each text paid for once,
and no fault loses what words find.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from spadework.errors import ModelError
from spadework.tools.library import search as near
from spadework.tools.library.library import Library
from spadework.tools.ranking import vectors
from spadework.tools.ranking.embedder import EndpointEmbedder, Meaning
from tests.world.embedding import Embeddings, Fault

NOTES = {
    "car.md": "# The car\n\nA car is washed on Fridays.\n",
    "ferry.md": "# The ferry\n\nThe ferry leaves from the old pier.\n",
    "doctor.md": "# The doctor\n\nThe doctor comes from the old town by car.\n",
}
AUTOMOBILE = "Where do they wash an automobile?"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
async def meaning(embeddings: Embeddings) -> AsyncIterator[Meaning]:
    made = Meaning(EndpointEmbedder("m", embeddings.url), seconds=20)
    yield made
    await made.close()


_opened: list[Library] = []


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    while _opened:
        await _opened.pop().close()


async def opened(folder: Path, meaning: Meaning | None = None) -> Library:
    _opened.append(await Library.open([folder], home=folder.parent / "home", meaning=meaning))
    return _opened[-1]


async def names(library: Library, text: str, limit: int = 10) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in await library.search(text, limit=limit)]


async def test_a_question_that_shares_no_word_with_a_passage_finds_it(notes, meaning, embeddings):
    library = await opened(notes, meaning)
    assert await library.embed() == 3
    assert await names(library, "automobile vehicle") == ["car.md", "doctor.md", "ferry.md"]
    assert await names(await opened(notes), "automobile vehicle") == []
    assert meaning.problems == []


async def test_both_rankings_count(notes, meaning):
    library = await opened(notes, meaning)
    await library.embed()
    words = await names(await opened(notes), "the old pier or an automobile")
    assert words == ["ferry.md", "doctor.md"]
    assert await names(library, "the old pier or an automobile") == [
        "ferry.md",
        "doctor.md",
        "car.md",
    ]


async def test_a_document_found_by_its_subject_alone_comes_last(notes, meaning, monkeypatch):
    monkeypatch.setattr(near, "PROPOSED", 1)
    (notes / "pier.md").write_text("# Pier\n\nIt is made of wood.\n")
    library = await opened(notes, meaning)
    await library.embed()
    asked = "ferry.pier of an automobile"
    assert await names(await opened(notes), asked) == ["pier.md"]
    assert await names(library, asked) == ["car.md", "pier.md"]


async def test_operators_keep_the_nearest_too(notes, meaning):
    library = await opened(notes, meaning)
    await library.embed()
    assert await names(library, "automobile path:ferry.md") == ["ferry.md"]
    assert await names(library, "automobile -path:car.md", 1) == ["doctor.md"]


async def test_nothing_is_embedded_twice_and_changed_files_are_found_again(
    notes, meaning, embeddings
):
    library = await opened(notes, meaning)
    told: list[int] = []
    assert await library.embed(told.append) == 3
    assert told == [3]
    assert await library.embed() == 0
    (notes / "car.md").write_text("# The physician\n\nA physician lives here.\n")
    os.utime(notes / "car.md", ns=(1, 1))
    changed = await opened(notes, meaning)
    assert await names(changed, "automobile vehicle", 1) == ["doctor.md"]
    assert await changed.embed() == 1
    assert (await names(changed, "what physicians do"))[:2] == ["car.md", "doctor.md"]
    (notes.parent / "copies").mkdir()
    (notes.parent / "copies" / "ferry.md").write_text(NOTES["ferry.md"])
    assert await (await opened(notes.parent / "copies", meaning)).embed() == 0
    assert len([text for text in embeddings.texts if text.startswith("The ")]) == 4


async def test_a_library_without_vectors_says_so_and_is_searched_by_words(
    notes, meaning, embeddings
):
    library = await opened(notes, meaning)
    assert await names(library, "old pier") == ["ferry.md", "doctor.md"]
    [problem] = meaning.problems
    assert "Run `spadework index`" in problem.reason
    assert embeddings.requests == []


@pytest.mark.parametrize("fault", ["error", "limited", "hang", "short"])
async def test_words_go_on_where_the_endpoint_does_not(notes, meaning, embeddings, fault: Fault):
    await (await opened(notes, meaning)).embed()
    embeddings.fault = fault
    hurried = Meaning(EndpointEmbedder("m", embeddings.url), seconds=0.2 if fault == "hang" else 20)
    assert await names(await opened(notes, hurried), "the old pier") == ["ferry.md", "doctor.md"]
    [problem] = hurried.problems
    await hurried.close()
    assert problem.effect == "The remaining searches used only keyword matching."


async def test_what_another_model_made_is_not_compared(notes, meaning, embeddings):
    await (await opened(notes, meaning)).embed()
    other = Meaning(EndpointEmbedder("n", embeddings.url), seconds=20)
    library = await opened(notes, other)
    assert await names(library, "automobile vehicle") == []
    assert await library.embed() == 3
    assert (await names(library, "automobile vehicle"))[0] == "car.md"
    await other.close()


async def test_an_endpoint_that_fails_while_a_library_is_embedded_leaves_it_as_it_was(
    notes, meaning, embeddings
):
    embeddings.fault = "error"
    library = await opened(notes, meaning)
    with pytest.raises(ModelError, match="status 500"):
        await library.embed()
    assert await names(library, "old pier") == ["ferry.md", "doctor.md"]


async def test_a_damaged_file_of_vectors_loses_nothing_else(notes, meaning):
    library = await opened(notes, meaning)
    await library.embed()
    (notes.parent / "home" / "library" / "vectors.sqlite").write_bytes(b"no database" * 1_000)
    assert await names(library, "the old pier") == ["ferry.md", "doctor.md"]
    assert "computed again" in meaning.problems[0].reason


async def test_words_go_on_where_the_vectors_cannot_be_compared_in_time(
    notes, meaning, monkeypatch
):
    library = await opened(notes, meaning)
    await library.embed()
    monkeypatch.setattr(vectors, "SCAN_SECONDS", -1.0)
    assert await names(library, "the old pier") == ["ferry.md", "doctor.md"]
    assert "could not be compared" in meaning.problems[0].reason


async def test_of_too_many_passages_only_those_are_near_that_words_have_found(
    notes, meaning, monkeypatch
):
    library = await opened(notes, meaning)
    await library.embed()
    monkeypatch.setattr(near, "MOST_PLACES", 2)
    assert await names(library, AUTOMOBILE) == ["car.md"]
    assert await names(library, "automobile vehicle") == []
    assert "more than 2 passages" in meaning.problems[0].reason

"""Vectors of passages: kept once, found by their cosine, forgotten whole; a file that cannot be
used is one sentence.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given, strategies as st

from spadework.errors import ModelError
from spadework.tools.ranking import vectors as vector_tables
from spadework.tools.ranking.embedder import BATCH, LEAST, EndpointEmbedder, Meaning, fill
from spadework.tools.ranking.vectors import Passage, Vectors, pack_vector
from tests.world.embedding import Embeddings, Fault


def passage(number: int, body: str, start: int = 0) -> Passage:
    return Passage(number, start, start + len(body), f"Title\n\n{body}", body)


def kept(path: Path, bodies: dict[int, list[float]], mark: str = "a", model: str = "m") -> Vectors:
    vectors = Vectors(path / "v.sqlite", mark, model)
    passages = {number: passage(number, f"text {number}") for number in bodies}
    vectors.keep(
        list(passages.values()),
        {passages[number].text: vector for number, vector in bodies.items()},
    )
    return vectors


def rows(path: Path) -> int:
    with sqlite3.connect(path / "v.sqlite") as db:
        (count,) = db.execute("SELECT COUNT(*) FROM vectors").fetchone()
    db.close()
    return int(count)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 60))
def test_the_nearest_are_those_of_the_greatest_cosine(
    tmp_path_factory, seed: int, most: int, count: int
):
    chance = np.random.default_rng(seed)
    all_of_them = chance.normal(size=(count, 8))
    all_of_them /= np.linalg.norm(all_of_them, axis=1, keepdims=True)
    asked = chance.normal(size=8)
    vectors = kept(tmp_path_factory.mktemp("vectors"), dict(enumerate(all_of_them.tolist())))
    found = vectors.nearest(asked.tolist(), most)
    best = np.sort(all_of_them @ asked)[::-1][:most]
    assert [one.cosine for one in found] == pytest.approx(best.tolist(), abs=0.03)
    assert len({one.number for one in found}) == min(most, count)


def test_a_search_can_be_kept_to_some_passages_or_documents(tmp_path):
    vectors = kept(tmp_path, {n: [1.0, n / 10] for n in range(5)})
    assert [one.number for one in vectors.nearest([0.0, 1.0], 2)] == [4, 3]
    assert [
        one.number for one in vectors.nearest([0.0, 1.0], 2, among=[(1, 0), (2, 0), (2, 0), (3, 9)])
    ] == [2, 1]
    assert [one.number for one in vectors.nearest([0.0, 1.0], 2, within={0, 1})] == [1, 0]
    assert vectors.nearest([0.0, 1.0], 2, within=set()) == []


def test_each_model_and_each_index_has_its_own_and_a_vector_is_shared(tmp_path):
    one, other = (
        kept(tmp_path, {1: [1.0, 0.0]}),
        kept(tmp_path, {1: [1.0, 0.0], 2: [0.0, 1.0]}, mark="b"),
    )
    third = kept(tmp_path, {1: [1.0, 0.0, 0.0]}, model="larger")
    assert rows(tmp_path) == 3
    assert (one.numbers(), other.numbers(), third.numbers()) == ({1}, {1, 2}, {1})
    assert third.without_vector(["Title\n\ntext 1", "Title\n\ntext 2"]) == ["Title\n\ntext 2"]
    one.forget([1])
    assert (one.numbers(), third.numbers(), other.numbers()) == (set(), set(), {1, 2})
    assert rows(tmp_path) == 2
    other.forget_others({"c"})
    assert rows(tmp_path) == 0


def test_another_size_of_the_same_name_is_refused_with_its_mend(tmp_path):
    vectors = kept(tmp_path, {1: [1.0, 0.0]})
    for work in (lambda: vectors.nearest([1.0], 1), lambda: kept(tmp_path, {2: [1.0]})):
        with pytest.raises(ModelError, match="dimensions, but stored ones have 2") as caught:
            work()
        assert "Rename that model" in caught.value.hint
    assert vectors.numbers() == {1}


def test_another_size_is_refused_also_where_only_another_index_has_vectors_of_that_model(tmp_path):
    kept(tmp_path, {1: [1.0, 0.0]})
    with pytest.raises(ModelError, match="now have 1 dimensions, but stored ones have 2"):
        kept(tmp_path, {1: [1.0], 2: [1.0]}, mark="b")
    other = Vectors(tmp_path / "v.sqlite", "b", "m")
    with pytest.raises(ModelError, match="now have 1 dimensions"):
        other.keep([passage(2, "text 2"), passage(1, "text 1")], {passage(2, "text 2").text: [1.0]})
    assert other.numbers() == set()


def test_a_file_in_which_sizes_are_mixed_is_told_with_its_mend(tmp_path):
    vectors = kept(tmp_path, {1: [1.0, 0.0], 2: [0.0, 1.0]})
    with sqlite3.connect(tmp_path / "v.sqlite") as db:
        db.execute("UPDATE vectors SET vector = ? WHERE id = 2", (pack_vector([1.0, 0.0, 0.0]),))
    db.close()
    with pytest.raises(ModelError, match="now have 3 dimensions, but stored ones have 2") as caught:
        vectors.nearest([1.0, 0.0], 2)
    assert "delete" in caught.value.hint


def test_a_document_whose_vector_was_forgotten_meanwhile_is_left_for_the_next_time(tmp_path):
    vectors = kept(tmp_path, {1: [1.0, 0.0]})
    shared, own, other = passage(2, "text 1"), passage(2, "text 2", start=9), passage(3, "text 3")
    assert vectors.without_vector([shared.text, own.text, other.text]) == [own.text, other.text]
    vectors.forget([1])
    vectors.keep([shared, own, other], {own.text: [0.0, 1.0], other.text: [1.0, 1.0]})
    assert vectors.numbers() == {3}
    assert rows(tmp_path) == 1


def test_where_nothing_was_kept_nothing_is_made(tmp_path):
    vectors = Vectors(tmp_path / "v.sqlite", "a", "m")
    assert (
        vectors.count(9),
        vectors.numbers(),
        vectors.without_vector(["x", "x"]),
        vectors.nearest([1.0], 3),
    ) == (0, set(), ["x"], [])
    vectors.forget([1])
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_told_and_made_anew(tmp_path):
    vectors = kept(tmp_path, {1: [1.0, 0.0]})
    (tmp_path / "v.sqlite").write_bytes(b"no database" * 1_000)
    with pytest.raises(ModelError, match="computed again"):
        vectors.nearest([1.0, 0.0], 1)
    assert kept(tmp_path, {2: [1.0, 0.0]}).numbers() == {2}


async def test_what_a_broken_run_has_paid_for_is_not_paid_for_again(
    tmp_path, embeddings: Embeddings
):
    embeds = EndpointEmbedder("m", embeddings.url)
    vectors = Vectors(tmp_path / "v.sqlite", "a", "m")
    texts = [f"word{n} of a car" for n in range(2 * LEAST + 10)]
    documents = [[passage(n, text)] for n, text in enumerate(texts)]
    embeddings.fault, embeddings.spared = "error", LEAST // BATCH
    with pytest.raises(ModelError, match="status 500"):
        await fill(vectors, embeds, documents)
    assert len(vectors.numbers()) == len(embeddings.texts) == LEAST
    paid = list(embeddings.texts)
    embeddings.fault = ""
    done: list[int] = []
    assert await fill(vectors, embeds, documents, done.append) == LEAST + 10
    assert done == [LEAST, 2 * LEAST, 2 * LEAST + 10]
    # Requests that were given up may still be answered: nobody has those, so they are asked again.
    assert all(embeddings.texts.count(text) == 1 for text in paid)
    assert len(set(embeddings.texts)) == len(texts)
    assert await fill(Vectors(tmp_path / "v.sqlite", "another index", "m"), embeds, documents) == 0
    await embeds.close()


def test_who_makes_the_file_and_stops_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(vector_tables, "BUSY_SECONDS", 0.1)
    with FileLock(tmp_path / ".v.making"), pytest.raises(ModelError, match=r"used: Timeout\.$"):
        Vectors(tmp_path / "v.sqlite", "a", "m").keep([], {})


async def test_questions_of_one_moment_are_one_request_and_each_is_asked_once(
    embeddings: Embeddings,
):
    meaning = Meaning(EndpointEmbedder("m", embeddings.url), seconds=20)
    found = await asyncio.gather(*(meaning.of(text) for text in ("car", "ferry", "car")))
    assert found[0] == found[2] != found[1]
    assert await meaning.of("ferry") == found[1]
    assert (len(embeddings.requests), embeddings.texts) == (1, ["car", "ferry"])
    assert await meaning.of("doctor")
    assert len(embeddings.requests) == 2
    await meaning.close()


@pytest.mark.parametrize(
    ("fault", "said"), [("error", "500"), ("limited", "429"), ("hang", "within 0.3 s")]
)
async def test_a_fault_is_told_once_and_nothing_more_is_asked(
    embeddings: Embeddings, fault: Fault, said: str
):
    embeddings.fault = fault
    meaning = Meaning(EndpointEmbedder("m", embeddings.url), seconds=0.3 if fault == "hang" else 20)
    assert await meaning.of("car") is None
    asked = len(embeddings.requests)
    assert await meaning.of("ferry") is None
    assert len(embeddings.requests) == asked
    [problem] = meaning.problems
    assert (problem.stage, problem.subject) == ("embeddings", "m")
    assert said in problem.reason
    await meaning.close()

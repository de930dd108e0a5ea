"""The embedded store with a model for embeddings: pages found by their meaning too, their vectors
forgotten with them, faults survived.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from spadework.tools.knowledge import Which
from spadework.tools.knowledge.embedded_store import EmbeddedKnowledge
from spadework.tools.ranking.embedder import EndpointEmbedder, Meaning
from tests.tools.knowledge.pages import ALL, CENSUS, FERRY, HARBOUR, LONG_AGO, NOW, entry
from tests.world.embedding import Embeddings, Fault


@pytest.fixture
async def meaning(embeddings: Embeddings) -> AsyncIterator[Meaning]:
    made = Meaning(EndpointEmbedder("m", embeddings.url), seconds=20)
    yield made
    await made.close()


def store_in(folder: Path, meaning: Meaning | None = None) -> EmbeddedKnowledge:
    return EmbeddedKnowledge(folder / "knowledge", 10_000_000, meaning=meaning)


async def found(store: EmbeddedKnowledge, text: str) -> list[str]:
    return [one.entry.page.title for one in await store.search(text, limit=10, since=LONG_AGO)]


def vectors(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "knowledge" / "vectors.sqlite")) as db:
        return int(db.execute("SELECT COUNT(*) FROM vectors").fetchone()[0])


async def test_a_page_is_found_by_its_meaning(tmp_path, meaning):
    store = store_in(tmp_path, meaning)
    assert await store.add(ALL) == 3
    [first, *rest] = await store.search("a vessel", limit=3, since=LONG_AGO)
    assert first.entry == FERRY
    assert first.share == 0
    assert [first.entry.text[start:end] for start, end in first.passages] == [FERRY.text]
    assert len({one.entry.page.url for one in [first, *rest]}) == 3
    assert await found(store_in(tmp_path), "a vessel") == []


async def test_pages_that_are_too_old_take_no_place_among_the_nearest(tmp_path, meaning):
    store = store_in(tmp_path, meaning)
    await store.add(ALL)
    assert [one.entry for one in await store.search("a vessel", limit=3, since=NOW)] == [CENSUS]


async def test_pages_from_before_are_embedded_once_and_only_once(tmp_path, meaning, embeddings):
    await store_in(tmp_path).add([FERRY])
    store = store_in(tmp_path, meaning)
    assert await found(store, "a vessel") == []
    assert meaning.problems == []
    await store.add([CENSUS])
    await store.add([HARBOUR])
    assert (await found(store, "a vessel"))[0] == "The ferry"
    assert sorted(text.partition("\n")[0] for text in embeddings.texts[:3]) == [
        "Census",
        "Harbour works",
        "The ferry",
    ]


async def test_what_is_forgotten_or_replaced_leaves_no_vector(tmp_path, meaning):
    store = store_in(tmp_path, meaning)
    await store.add(ALL)
    await store.add([entry(FERRY.page.url, "# Ferry\n\nIt was sold.", title="The ferry")])
    assert vectors(tmp_path) == 3
    # Also where no model is named any more.
    assert await store_in(tmp_path).forget(Which(("ferry.example",))) == 1
    assert vectors(tmp_path) == 2
    await store.forget(Which())
    assert vectors(tmp_path) == 0


async def test_a_page_that_is_forgotten_while_it_is_embedded_leaves_no_vector(
    tmp_path, meaning, embeddings
):
    await store_in(tmp_path).add([CENSUS])
    embeddings.meanwhile = lambda: asyncio.run(store_in(tmp_path).forget(Which(("ferry.example",))))
    await store_in(tmp_path, meaning).add([FERRY])
    assert meaning.problems == []
    assert vectors(tmp_path) == 1


@pytest.mark.parametrize("fault", ["error", "limited", "short"])
async def test_pages_are_kept_where_the_endpoint_fails_and_get_their_vectors_the_next_time(
    tmp_path, meaning, embeddings, fault: Fault
):
    await store_in(tmp_path, meaning).add([HARBOUR])
    embeddings.fault = fault
    store = store_in(tmp_path, meaning)
    assert await store.add([CENSUS, FERRY]) == 2
    assert await found(store, "ferry") == ["The ferry"]
    [problem] = meaning.problems
    assert problem.effect == "Pages were stored without vectors. The next run adds the vectors."
    embeddings.fault = ""
    again = Meaning(EndpointEmbedder("m", embeddings.url), seconds=20)
    assert await store_in(tmp_path, again).add([FERRY]) == 0
    assert (await found(store_in(tmp_path, again), "a vessel"))[0] == "The ferry"
    await again.close()


@pytest.mark.parametrize("fault", ["error", "hang", "short"])
async def test_words_go_on_where_a_question_gets_no_vector(
    tmp_path, meaning, embeddings, fault: Fault
):
    await store_in(tmp_path, meaning).add(ALL)
    embeddings.fault = fault
    hurried = Meaning(EndpointEmbedder("m", embeddings.url), seconds=0.2 if fault == "hang" else 20)
    assert await found(store_in(tmp_path, hurried), "passengers of the ferry") == ["The ferry"]
    assert len(hurried.problems) == 1
    await hurried.close()


async def test_several_who_keep_pages_at_once_lose_no_vector(tmp_path, meaning):
    pages = [
        entry(
            f"https://s{n}.example/",
            f"# Ship {n}\n\nFerry number{n} was launched.",
            title=f"Ship {n}",
        )
        for n in range(5)
    ]
    await asyncio.gather(*(store_in(tmp_path, meaning).add([page]) for page in pages))
    assert vectors(tmp_path) == 5
    assert len(await found(store_in(tmp_path, meaning), "a vessel")) == 5
    assert meaning.problems == []

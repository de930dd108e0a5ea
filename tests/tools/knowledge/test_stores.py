"""What every knowledge store does, whatever is behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from spadework.tools.knowledge import Entry, Knowledge, Which
from spadework.tools.knowledge.embedded_store import EmbeddedKnowledge
from spadework.tools.knowledge.qdrant import QdrantKnowledge, client_of
from tests.tools.knowledge.pages import ALL, CENSUS, FERRY, HARBOUR, LONG_AGO, NOW, entry
from tests.world.qdrant import Qdrant

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


@pytest.fixture(params=["embedded", "qdrant in memory", "qdrant over http"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, qdrant: Qdrant
) -> AsyncIterator[Knowledge]:
    made: Knowledge
    if request.param == "embedded":
        made = EmbeddedKnowledge(tmp_path / "knowledge", 10_000_000)
    elif request.param == "qdrant in memory":
        made = QdrantKnowledge(lambda: AsyncQdrantClient(":memory:"), "spadework", "memory")
    else:
        made = QdrantKnowledge(client_of(qdrant.url, qdrant.key, 10), "spadework", "127.0.1.21")
    yield made
    await made.close()


async def found(store: Knowledge, text: str, *, limit: int = 10, days: float = 10_000) -> list[str]:
    return [
        one.entry.page.url
        for one in await store.search(text, limit=limit, since=NOW - timedelta(days=days))
    ]


async def test_a_store_in_which_nothing_was_kept_knows_nothing(store: Knowledge) -> None:
    assert await store.count() == 0
    assert await found(store, "Port Aldermere") == []
    assert await store.find(CENSUS.page.url) is None
    assert await store.forget(Which()) == 0
    assert [page async for page in store.pages(Which())] == []


async def test_what_was_kept_is_found_again_as_it_was(store: Knowledge) -> None:
    assert await store.add(ALL) == 3
    [first, *_] = await store.search(
        "Which inhabitants did the census count?", limit=3, since=LONG_AGO
    )
    assert first.entry == CENSUS
    assert "48,210 inhabitants" in first.snippet
    assert first.share > 0.9
    assert [first.entry.text[start:end] for start, end in first.passages] == [CENSUS.text]


async def test_a_page_stands_in_the_answer_once_with_all_its_passages(store: Knowledge) -> None:
    sections = "\n\n".join(
        f"## Part {n}\n\n{'The ferry bell is rung at noon. ' * 30}" for n in range(6)
    )
    await store.add([entry("https://bell.example/", f"# Bell\n\n{sections}", title="Bell"), *ALL])
    answer = await store.search("ferry bell", limit=10, since=LONG_AGO)
    assert sorted(one.entry.page.url for one in answer) == sorted(
        {one.entry.page.url for one in answer}
    )
    [bell] = [one for one in answer if one.entry.page.title == "Bell"]
    assert "".join(bell.entry.text[start:end] for start, end in bell.passages).count("## Part") == 6


async def test_only_pages_that_are_fresh_enough_are_found(store: Knowledge) -> None:
    await store.add(ALL)
    assert set(await found(store, "harbour ferry census", days=4)) == {
        CENSUS.page.url,
        FERRY.page.url,
    }
    assert await store.find(HARBOUR.page.url, since=NOW - timedelta(days=29)) is None
    assert await store.find(HARBOUR.page.url, since=NOW - timedelta(days=31)) == HARBOUR


async def test_a_page_is_known_by_all_spellings_of_its_address_and_by_no_other(
    store: Knowledge,
) -> None:
    await store.add(ALL)
    for url in ("http://ferry.example", "https://WWW.ferry.example/?utm_source=x#top"):
        assert await store.find(url) == FERRY
    for url in ("https://ferry.example/other", "https://example/", "ferry"):
        assert await store.find(url) is None
    assert await store.count() == 3


async def test_a_newer_state_replaces_the_older_and_never_the_other_way(store: Knowledge) -> None:
    older = entry(
        CENSUS.page.url,
        "# Census\n\nThe census of 2016 counted 41,000 inhabitants by hand.",
        title="Census",
        days=9,
    )
    assert await store.add([older]) == 1
    assert await store.add([CENSUS]) == 1
    assert await store.add([older, CENSUS]) == 0
    assert await store.count() == 1
    assert await store.find(CENSUS.page.url) == CENSUS
    assert await found(store, "by hand") == []


async def test_whose_page_it_is_is_kept(store: Knowledge) -> None:
    await store.add([replace(CENSUS, own=True), FERRY])
    assert [
        one.entry.own
        for one in await store.search("Port Aldermere census", limit=2, since=LONG_AGO)
    ] == [True, False]


@pytest.mark.parametrize(
    ("which", "left"),
    [
        (Which((CENSUS.page.url,)), [FERRY, HARBOUR]),
        (Which(("example.org",)), [FERRY]),
        (Which(("docs.example.org", "ferry.example")), [CENSUS]),
        (Which(("ample.org",)), ALL),
        (Which(before=NOW - timedelta(days=2)), [CENSUS]),
        (Which(("example.org",), NOW - timedelta(days=2)), [CENSUS, FERRY]),
        (Which(), []),
    ],
)
async def test_what_is_forgotten_is_gone_and_nothing_else(
    store: Knowledge, which: Which, left: list[Entry]
) -> None:
    await store.add(ALL)
    assert await store.forget(which) == len(ALL) - len(left)
    assert [page async for page in store.pages(Which())] == [one.page for one in left]
    assert await store.count() == len(left)
    assert set(await found(store, "census ferry harbour")) == {one.page.url for one in left}
    for one in ALL:
        assert (await store.find(one.page.url) is None) == (one not in left)
    assert await store.add(ALL) == len(ALL) - len(left)
    assert await store.count() == 3


async def test_pages_are_listed_newest_first(store: Knowledge) -> None:
    await store.add(ALL[::-1])
    assert [page async for page in store.pages(Which())] == [one.page for one in ALL]
    assert [page async for page in store.pages(Which(("example.org",)))] == [
        CENSUS.page,
        HARBOUR.page,
    ]


@pytest.mark.parametrize("text", ["", "?!", '"(', "a AND OR +-", "\ud800", "x" * 5_000])
async def test_no_question_is_too_odd(store: Knowledge, text: str) -> None:
    await store.add(ALL)
    assert await found(store, text) == []


async def test_odd_texts_are_kept_too(store: Knowledge) -> None:
    odd = entry(
        "https://odd.example/ü?q=a b", "Zwölf\x00 \U0001f600 港は1932年に浚渫された。", title="港"
    )
    assert await store.add([odd]) == 1
    assert await store.find(odd.page.url) == odd
    assert await found(store, "港") == [odd.page.url]

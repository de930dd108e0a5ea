"""The store on a Qdrant server: its faults in one sentence, its states, and runs that use it or go
on without it.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from pydantic import SecretStr

from spadework.errors import KnowledgeError, SettingsError
from spadework.sessions.one_call import research
from spadework.sessions.users import People
from spadework.settings import Settings
from spadework.tools.knowledge import Which, store_of
from spadework.tools.knowledge.qdrant import QdrantKnowledge, client_of, passage_vector, points_of
from tests.tools.knowledge.pages import ALL, CENSUS, LONG_AGO, entry, ferry
from tests.world.brain import play
from tests.world.model import Model
from tests.world.qdrant import KEY, Fault, Qdrant
from tests.world.searx import Searx
from tests.world.sites import World

SITES = ("archive", "news", "blog", "forum")


def store_at(url: str, key: str = KEY, seconds: float = 1) -> QdrantKnowledge:
    return QdrantKnowledge(client_of(url, key, seconds), "spadework", "127.0.1.21")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("hang", r"did not answer in time\.$"),
        ("error", r"refused the request \(status 500\)\.$"),
        ("html", r"did not answer as Qdrant does\.$"),
        ("truncated", r"did not answer as Qdrant does\.$"),
        ("limited", r"refused the request \(status 429\)\.$"),
    ],
)
async def test_a_fault_of_the_server_is_one_sentence(
    qdrant: Qdrant, fault: Fault, said: str
) -> None:
    store = store_at(qdrant.url)
    qdrant.fault = fault
    before = time.monotonic()
    with pytest.raises(KnowledgeError, match=rf"^Qdrant at 127\.0\.1\.21 {said}"):
        await store.search("census", limit=3, since=LONG_AGO)
    with pytest.raises(KnowledgeError, match=rf"^Qdrant at 127\.0\.1\.21 {said}"):
        await store.count()
    assert time.monotonic() - before < 20
    await store.close()


async def test_a_server_that_is_down_and_a_wrong_key_are_named_without_the_key(
    qdrant: Qdrant,
) -> None:
    for store, said in (
        (store_at("http://127.0.1.21:9"), r"cannot be reached\."),
        (store_at(qdrant.url, key="wrong-key"), r"refused the request \(status 403\)\."),
    ):
        with pytest.raises(KnowledgeError, match=said) as caught:
            await store.add(ALL)
        assert "key" not in str(caught.value).replace("QDRANT_API_KEY", "")
        await store.close()


@pytest.mark.filterwarnings("ignore:Api key is used")
async def test_what_a_writer_left_half_done_is_not_found_and_mended_by_the_next(
    qdrant: Qdrant,
) -> None:
    store = store_at(qdrant.url)
    await store.add(ALL)
    newer = entry(
        CENSUS.page.url,
        "# Census\n\nThe census of Port Aldermere was burnt.",
        title="Census",
        days=-1,
    )
    client = client_of(qdrant.url, KEY, 5)()
    passages, _ = points_of(newer)
    await client.upsert("spadework", passages)  # and here it is ended
    await client.close()
    assert await store.search("burnt", limit=3, since=LONG_AGO) == []
    assert await store.find(CENSUS.page.url) == CENSUS
    await store.add([newer])
    [found] = await store.search("census burnt", limit=1, since=LONG_AGO)
    assert found.entry == newer
    assert await store.search("48,210", limit=3, since=LONG_AGO) == []
    await store.close()


async def test_all_pages_are_listed_however_many(qdrant: Qdrant) -> None:
    store = store_at(qdrant.url, seconds=20)
    pages = [
        entry(f"https://a.example/{n}", f"# Page {n}\n\nThe tide number{n}.", days=n)
        for n in range(150)
    ]
    assert await store.add(pages) == 150
    assert [page.url async for page in store.pages(Which())] == [one.page.url for one in pages]
    assert await store.count() == 150
    await store.close()


def test_an_address_that_cannot_be_meant_is_a_setting_to_mend() -> None:
    with pytest.raises(SettingsError, match="QDRANT_URL must be an address"):
        store_of(Settings(qdrant_url="localhost"))


@given(st.text(), st.text(), st.text())
def test_any_text_is_a_vector(title: str, heading: str, body: str) -> None:
    indices, values = passage_vector(title, heading, body)
    assert len(indices) == len(set(indices)) == len(values)
    assert all(0 <= index < 2**32 for index in indices)
    assert all(value > 0 for value in values)


@pytest.fixture
def settings(
    world: World, searx: Searx, model: Model, qdrant: Qdrant, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env, **qdrant.env}.items():
        monkeypatch.setenv(name, value)
    searx.script(
        "ferry passengers",
        [world.put(site, f"/ferry-{n}", ferry(n)) for n, site in enumerate(SITES)],
    )
    play(model, {"Ferry": "ferry passengers"}, keywords={"Ferry": "passengers"})
    return Settings.load(max_level=0, cache_mb=0)


async def test_what_one_has_read_another_who_shares_the_server_knows(
    world: World, searx: Searx, qdrant: Qdrant, settings: Settings, tmp_path: Path
) -> None:
    await research(
        "How many passengers does the ferry carry?", settings.with_(home=tmp_path / "one")
    )
    searched = len(searx.queries)
    second = await research(
        "How many passengers does the ferry carry?", settings.with_(home=tmp_path / "two")
    )
    assert len(searx.queries) == searched + 1, "the lead's first look alone"
    assert len([record for record in world.requests if record.path.startswith("/ferry")]) == len(
        SITES
    )
    assert second.topics[0].covered
    assert all(source.known for source in second.sources)
    assert not (tmp_path / "one" / "knowledge").exists()
    assert KEY not in second.model_dump_json()


@pytest.mark.parametrize("fault", ["hang", "error"])
async def test_a_run_goes_on_with_the_web_when_the_server_fails(
    qdrant: Qdrant, settings: Settings, fault: Fault
) -> None:
    qdrant.fault = fault
    result = await research("How many passengers does the ferry carry?", settings)
    assert result.topics[0].covered
    [problem] = [problem for problem in result.problems if problem.stage == "knowledge"]
    assert problem.subject == "knowledge store"
    assert problem.effect == "Pages of earlier runs were not used."
    assert len(qdrant.requests) <= 2 + len(SITES)


async def test_with_an_embedder_pages_are_found_by_their_meaning_too(
    qdrant: Qdrant, model: Model
) -> None:
    settings = Settings(
        qdrant_url=qdrant.url,
        qdrant_api_key=SecretStr(KEY),
        embeddings="openai:world/embedding",
        openai_base_url=model.url,
    )
    store, plain = store_of(settings), store_of(settings.with_(embeddings=""))
    await store.add(ALL)
    [first, *_] = await store.search("the ferry of Port Aldermere", limit=3, since=LONG_AGO)
    assert first.entry.page.title == "The ferry"
    assert [one.entry.page.url for one in await store.search("xyzzy", limit=3, since=LONG_AGO)]
    assert await plain.count() == 0  # what different models made is not mixed
    assert await store.count() == 3
    assert await store.forget(Which()) == 3
    for one in (store, plain):
        await one.close()


async def test_an_embedder_that_fails_is_named(qdrant: Qdrant) -> None:
    settings = Settings(
        qdrant_url=qdrant.url,
        qdrant_api_key=SecretStr(KEY),
        embeddings="x",
        embeddings_url="http://127.0.1.21:9/v1",
    )
    store = store_of(settings)
    with pytest.raises(KnowledgeError, match=r"The x endpoint cannot be reached"):
        await store.add(ALL)
    await store.close()


async def test_a_user_of_a_server_sees_only_pages_of_their_own(
    qdrant: Qdrant, tmp_path: Path
) -> None:
    people = People(Settings.load(home=tmp_path, qdrant_url=qdrant.url, qdrant_api_key=KEY))
    anna, bob, owner = (store_of(people.settings_of(name)) for name in ("anna", "bob", ""))
    await anna.add(ALL)
    assert [await store.count() for store in (anna, bob, owner)] == [3, 0, 0]
    for store in (anna, bob, owner):
        await store.close()

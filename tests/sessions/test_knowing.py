"""What earlier runs have read is used before the web where it is fresh and good enough, and never
in its stead where it is not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.errors import KnowledgeError
from spadework.events import Read, Searched
from spadework.sessions.one_call import research
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.knowledge import Which, knowledge_of
from spadework.values import Result
from tests.tools.knowledge.pages import ferry
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "How many passengers does the ferry of Port Aldermere carry?"
SITES = ("archive", "news", "blog", "forum")


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    searx.script(
        "ferry passengers",
        [world.put(site, f"/ferry-{n}", ferry(n)) for n, site in enumerate(SITES)],
    )
    play(model, {"Ferry": "ferry passengers"}, keywords={"Ferry": "passengers"})
    # Nothing is taken from the other two caches, so that every request that is spared was spared by
    # what is known.
    return Settings.load(max_level=0, cache_mb=0)


def asked(world: World) -> list[str]:
    return [record.path for record in world.requests if record.path.startswith("/ferry")]


async def test_what_is_known_well_is_neither_searched_nor_fetched_again(
    world: World, searx: Searx, settings: Settings
) -> None:
    first = await research(QUESTION, settings)
    searched, fetched = len(searx.queries), len(asked(world))
    session = Session.start(QUESTION, settings=settings)
    events = [event async for event in session.events()]
    second: Result = events[-1].result
    assert (len(searx.queries), len(asked(world))) == (searched, fetched)
    assert fetched == len(SITES)
    assert (second.usage.fetches, second.usage.searches, second.usage.cache_hits) == (
        0,
        0,
        len(SITES) + 1,
    ), "the pages and the plan"
    assert second.topics[0].covered
    assert {source.url for source in second.sources} == {source.url for source in first.sources}
    assert all(
        source.known and source.found_by[0].provider == "knowledge" for source in second.sources
    )
    assert [event.provider for event in events if isinstance(event, Searched)] == ["knowledge"]
    assert all(event.known for event in events if isinstance(event, Read))
    days = {e.url: e.fetched_at for e in first.topics[0].evidence}
    assert all(days[e.url] == e.fetched_at for e in second.topics[0].evidence)


async def test_quotes_from_known_pages_stand_in_the_files_of_the_new_session(
    settings: Settings,
) -> None:
    await research(QUESTION, settings)
    result = await research(QUESTION, settings)
    evidence = result.topics[0].evidence
    pages = Path(result.session_dir) / "pages"
    assert evidence
    assert all(
        (pages / f"{e.content_hash}.md").read_text(encoding="utf-8")[e.start : e.end] == e.quote
        for e in evidence
    )


async def test_what_is_stale_is_searched_and_fetched_again_and_replaces_what_was_known(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await research(QUESTION, settings)
    for n, site in enumerate(SITES):
        world.put(site, f"/ferry-{n}", ferry(n, passengers=300))
    with monkeypatch.context() as patched:
        patched.setattr("spadework.tools.knowledge.entry.KEPT_DAYS", 0)
        second = await research(QUESTION, settings)
    assert len(asked(world)) == 2 * len(SITES)
    assert "300" in second.report
    third = await research(QUESTION, settings)
    assert len(asked(world)) == 2 * len(SITES)
    assert "300" in third.report
    assert "212" not in third.report


async def test_of_what_the_web_is_asked_for_known_pages_are_not_fetched_again(
    world: World, searx: Searx, settings: Settings
) -> None:
    searx.script(
        "ferry passengers", [world.url("archive", "/ferry-0"), world.url("news", "/ferry-1")]
    )
    await research(QUESTION, settings)  # two houses are too few to do without the web
    searx.script(
        "ferry passengers", [world.url(site, f"/ferry-{n}") for n, site in enumerate(SITES)]
    )
    searched = len(searx.queries)
    second = await research(QUESTION, settings)
    assert len(searx.queries) > searched
    assert sorted(asked(world)) == [f"/ferry-{n}" for n in range(len(SITES))]
    assert {source.url: source.known for source in second.sources} == {
        world.url(site, f"/ferry-{n}"): n < 2 for n, site in enumerate(SITES)
    }


async def test_what_is_known_of_something_else_does_not_keep_the_web_out(
    world: World, searx: Searx, model: Model, settings: Settings
) -> None:
    await research(QUESTION, settings)
    lamp = (
        "<title>Lamp</title><article><h1>Lamp</h1><p>The lighthouse lamp of Port Aldermere was"
        " first lit in 1851.</p></article>"
    )
    searx.script("lighthouse lamp", [world.put("docs", "/lamp", lamp)])
    play(model, {"Lamp": "lighthouse lamp"}, keywords={"Lamp": "first lit"})
    result = await research("When was the lighthouse lamp lit?", settings)
    assert "lighthouse lamp" in searx.queries
    assert result.topics[0].evidence[0].url == world.url("docs", "/lamp")


async def test_where_the_known_pages_do_not_prove_the_topic_the_web_is_asked_its_own_queries(
    world: World, searx: Searx, model: Model, settings: Settings
) -> None:
    await research(QUESTION, settings)
    searx.script(
        "ferry passengers",
        [world.put("docs", "/ferry-5", ferry(5, more=" Its captain is Ottoline Brack, they say."))],
    )
    play(model, {"Ferry": "ferry passengers"}, keywords={"Ferry": "captain"})
    searched = len(searx.queries)
    result = await research("Whom does the ferry of Port Aldermere carry?", settings)
    assert "ferry passengers" in searx.queries[searched:]
    assert result.iterations == 2
    assert result.topics[0].covered


async def test_with_one_round_the_web_is_always_asked(searx: Searx, settings: Settings) -> None:
    await research(QUESTION, settings)
    searched = len(searx.queries)
    await research(QUESTION, settings.with_(iterations=1))
    assert len(searx.queries) > searched


async def test_nothing_known_is_used_or_kept_where_the_setting_says_so(
    world: World, settings: Settings
) -> None:
    alone = settings.with_(knowledge=False)
    for _ in range(2):
        result = await research(QUESTION, alone)
        assert not any(source.known for source in result.sources)
    assert len(asked(world)) == 2 * len(SITES)
    assert not (settings.home / "knowledge").exists()


async def test_what_is_forgotten_is_fetched_again(world: World, settings: Settings) -> None:
    await research(QUESTION, settings)
    store = knowledge_of(settings)
    assert store
    assert await store.forget(Which((world.url("archive", "/ferry-0"),))) == 1
    await research(QUESTION, settings.with_(iterations=1))
    assert sorted(asked(world)) == sorted([f"/ferry-{n}" for n in range(len(SITES))] + ["/ferry-0"])


async def test_a_page_gains_nothing_by_being_known(
    world: World, searx: Searx, settings: Settings
) -> None:
    urls = [world.url("archive", "/ferry-0"), world.url("news", "/ferry-1")]
    searx.script("ferry passengers", urls[1:])
    await research(QUESTION, settings)
    searx.script("ferry passengers", urls)
    known, plain = [await research(QUESTION, settings.with_(knowledge=on)) for on in (True, False)]
    assert [source.relevance for source in known.sources] == [
        source.relevance for source in plain.sources
    ]
    assert [source.found_by for source in known.sources] == [
        source.found_by for source in plain.sources
    ]


async def test_neither_the_question_nor_what_is_not_of_the_web_enters_the_store(
    settings: Settings, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text(
        "# Secret note\n\nThe ferry passengers of the harbour office are counted by Bram Ostler, "
        + "who counts. " * 40
    )
    await Session.start(QUESTION, settings=settings, attachments=[note]).result()
    store = knowledge_of(settings)
    assert store
    kept = [found async for found in store.pages(Which())]
    assert len(kept) == len(SITES)
    assert all(found.url.startswith("http") and not found.found_by for found in kept)


async def test_pages_of_a_host_of_ones_own_are_for_those_who_may_visit_it(
    world: World, settings: Settings
) -> None:
    await research(QUESTION, settings)
    result = await research(QUESTION, settings.with_(allow_hosts=("127.0.1.1",), iterations=1))
    assert not any(source.known for source in result.sources)


@pytest.mark.parametrize("fault", ["no folder", "no database", "no index"])
async def test_a_store_that_is_broken_costs_nothing_but_itself(
    settings: Settings, searx: Searx, fault: str
) -> None:
    folder = settings.home / "knowledge"
    if fault == "no folder":
        folder.parent.mkdir(parents=True)
        folder.write_text("a file where the folder would be")
    else:
        await research(QUESTION, settings)
    if fault == "no database":
        (folder / "pages.sqlite").write_bytes(b"no database" * 500)
    elif fault == "no index":
        (folder / "index-0" / "meta.json").write_text("nonsense")
    result = await research(QUESTION, settings)
    assert result.topics[0].covered
    assert searx.queries
    [problem] = [problem for problem in result.problems if problem.stage == "knowledge"]
    assert problem.reason.startswith("The knowledge store in ")
    assert "--no-knowledge" in problem.reason


async def test_forgetting_everything_mends_a_broken_store(settings: Settings) -> None:
    await research(QUESTION, settings)
    (settings.home / "knowledge" / "pages.sqlite").write_bytes(b"no database" * 500)
    store = knowledge_of(settings)
    assert store
    with pytest.raises(KnowledgeError, match="cannot be used: file is not a database"):
        await store.count()
    await store.forget(Which())
    assert await store.count() == 0
    await research(QUESTION, settings)
    assert await store.count() == len(SITES)

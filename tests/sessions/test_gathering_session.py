"""Sessions that gather pages: they search, select and read as a run does, and are kept, taken up,
replayed and followed up like one.
"""

from __future__ import annotations

import pytest

from spadework import Session, Settings, gather, research, search
from spadework.errors import FetchError, SearchError, SettingsError
from spadework.sessions.page_sessions import gathering_session, page_of, reading_session
from spadework.sessions.replay import replay
from spadework.sessions.storage.files import read_metadata, read_result
from spadework.sessions.storage.session_list import list_sessions
from tests.world.searx import Searx
from tests.world.sites import World

WORDS = "The lighthouse of Port Aldermere is 41 metres tall and was first lit on 3 October 1887. "


@pytest.fixture
def settings(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


@pytest.fixture
def pages(world: World, searx: Searx) -> list[str]:
    """Pages about a lighthouse, in the order in which they are found."""
    urls = [
        world.put(
            site,
            f"/lighthouse/{site}",
            f"<main><h1>The lighthouse: {site}</h1><p>{WORDS * 3} So says the {site}.</p></main>",
        )
        for site in ("forum", "blog", "archive")
    ]
    searx.script("lighthouse", urls)
    return urls


async def test_what_a_search_says_a_run_would_read_is_what_is_read(
    settings: Settings, pages: list[str]
) -> None:
    chosen = [one.hit.url for one in (await search("lighthouse", settings)).hits if one.selected]
    gathered = await gather("lighthouse", settings)
    assert [one.page.url for one in gathered.pages] == chosen == pages
    assert all(WORDS.strip() in one.text for one in gathered.pages)
    used = gathered.result.usage
    assert (used.searches, used.cache_hits) == (0, 1), "what was searched just now is kept"
    assert used.pages == len(pages)


async def test_one_that_was_killed_is_taken_up_without_asking_anything_again(
    settings: Settings, world: World, searx: Searx, pages: list[str]
) -> None:
    session = gathering_session("lighthouse", settings=settings)
    before = await session.result()
    (session.folder / "result.json").unlink()
    asked = len(world.requests)
    again = Session.resume(session.session_id, home=settings.home)
    assert (await again.result()).report == before.report
    assert len(world.requests) == asked
    assert (await replay(settings.home, session.session_id)).same


async def test_a_follow_up_begins_with_the_pages_that_were_gathered(
    settings: Settings, world: World, pages: list[str]
) -> None:
    gathered = await gather("lighthouse", settings)
    result = await research(
        "How tall is the lighthouse of Port Aldermere?",
        settings,
        follows=gathered.result.session_id,
    )
    assert {source.url for source in result.sources} >= set(pages)
    read = [one.path for one in world.requests if one.path.startswith("/lighthouse/")]
    assert sorted(read) == sorted(set(read)), "none is fetched anew"


async def test_a_page_that_cannot_be_had_is_an_error_and_a_session_that_failed(
    settings: Settings, world: World
) -> None:
    session = reading_session(world.url("blog", "/no-such-page"), settings=settings)
    with pytest.raises(FetchError, match="404"):
        await session.result()
    assert read_metadata(session.folder).status == "failed"
    result = read_result(session.folder)
    assert result is not None
    assert "404" in result.problems[0].reason
    assert await page_of(session.folder) is None


async def test_a_search_that_nobody_answers_is_an_error_and_a_session_that_failed(
    settings: Settings, searx: Searx
) -> None:
    searx.fail("error")
    with pytest.raises(SearchError, match="searxng"):
        await gather("lighthouse", settings)
    [session] = list_sessions(settings.home)
    assert session.status == "failed"


async def test_what_is_no_address_or_no_query_leaves_nothing(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="begins with http"):
        reading_session("nonsense", settings=settings)
    with pytest.raises(SettingsError, match="query is empty"):
        await gather(" ", settings)
    assert not [*list_sessions(settings.home)]


async def test_the_purse_of_a_run_bounds_it(
    settings: Settings, world: World, pages: list[str]
) -> None:
    gathered = await gather("lighthouse", settings.with_(pages=1))
    assert len(gathered.pages) == 1
    assert gathered.result.status == "budget_limited"

"""Reading for a run: pages of earlier sessions used again, and said to be old where they may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.budget import Budget
from spadework.errors import Blocked, TooSlow
from spadework.graph.nodes.read import was_readable
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.stores.journal import Journal
from spadework.values import Hit, Page
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

TEXT = (
    "<title>Ferry</title><article><h1>Ferry</h1><p>The ferry of Port Aldermere carries exactly 212"
    " passengers and nine cars.</p><p>It leaves the old pier at every full hour between six in the"
    " morning and ten at night, and it does not sail in fog.</p></article>"
)
QUESTION = "How many passengers does the ferry of Port Aldermere carry?"


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    url = world.put("archive", "/ferry", TEXT, headers={"cache-control": "max-age=3600"})
    searx.script("ferry passengers", [url])
    play(model, {"Ferry": "ferry passengers"})
    return Settings.load(knowledge=False)


async def test_the_next_session_reads_a_fresh_page_from_the_cache(world: World, settings: Settings):
    first, second = [await research(QUESTION, settings) for _ in range(2)]
    assert len(world.asked("archive", "/ferry")) == 1
    # The plan, the search and the page.
    assert (first.usage.cache_hits, second.usage.cache_hits) == (0, 3)
    assert first.usage.bytes > second.usage.bytes == 0
    assert second.topics[0].evidence[0].quote == first.topics[0].evidence[0].quote
    assert not second.problems


async def test_a_page_whose_server_fails_is_quoted_from_a_copy_and_said_to_be_old(
    world: World, settings: Settings
):
    world.put("archive", "/ferry", TEXT, headers={"cache-control": "max-age=0"})
    first = await research(QUESTION, settings)
    world.put("archive", "/ferry", "Out of order", status=500)
    second = await research(QUESTION, settings)
    [problem] = [problem for problem in second.problems if problem.stage == "copy"]
    assert problem.subject == world.url("archive", "/ferry")
    assert "could not be reached; the copy from" in problem.reason
    assert "may be out of date" in problem.effect
    assert second.topics[0].evidence[0].fetched_at <= first.topics[0].evidence[0].fetched_at
    assert "could not be reached" in second.report


async def test_a_page_that_failed_for_good_is_tried_and_one_that_was_slow_is_not(tmp_path: Path):
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    for url, error in {
        "https://a.org/gone": Blocked("no"),
        "https://a.org/slow": TooSlow("late"),
    }.items():

        async def work(error: Exception = error) -> Page:
            raise error

        with pytest.raises(type(error)):
            await journal.once("page", {"url": url}, Page, work)
    hits = [
        Hit(url=f"https://a.org/{name}", title="", position=1, provider="p", query="q")
        for name in ("gone", "slow", "new")
    ]
    assert [await was_readable(journal, hit) for hit in hits] == [False, None, None]
    await journal.close()

"""Where all that is configured fails, the next provider is tried; who names providers has nobody
else asked.
"""

from __future__ import annotations

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.search import provider_choice
from spadework.tools.search.provider_choice import PROVIDERS, Spec
from spadework.tools.search.web_services import SearXNG
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "How many inhabitants does Port Aldermere have?"
NOWHERE = "http://127.0.0.1:9"


class DuckDuckGo(SearXNG):
    """The search engine of the world in the place of one that no test may ask."""

    name = "duckduckgo"
    describes = "the web, through DuckDuckGo"


@pytest.fixture(autouse=True)
def duckduckgo(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> None:
    async def there(settings: Settings) -> bool:
        return True

    known = Spec(lambda settings: DuckDuckGo(searx.url))
    monkeypatch.setattr(provider_choice, "_web_is_there", there)
    monkeypatch.setitem(PROVIDERS, "duckduckgo", known)
    monkeypatch.setenv("SPADEWORK_ALLOW_HOSTS", ",".join(world.hosts))


def settings(**given: object) -> Settings:
    return Settings.load(searxng_url=NOWHERE, max_level=0, knowledge=False, **given)


async def test_the_next_provider_is_tried_and_told(searx: Searx) -> None:
    result = await research(QUESTION, settings())
    assert result.status == "completed"
    assert result.sources
    assert searx.requests
    assert result.searched == ("the web, through SearXNG", "the web, through DuckDuckGo")
    assert "searxng" in {problem.subject for problem in result.problems}, "that is told, too"


@pytest.mark.parametrize("search", ["searxng", "searxng,searxng"])
async def test_of_those_that_are_named_nobody_else_is_asked(searx: Searx, search: str) -> None:
    result = await research(QUESTION, settings(search=search))
    assert (result.stopped_by, result.sources) == ("nothing searched", ())
    assert not searx.requests


async def test_when_the_next_fails_too_both_are_named(searx: Searx) -> None:
    searx.fail("error")
    result = await research(QUESTION, settings())
    assert (result.stopped_by, result.sources) == ("nothing searched", ())
    assert {"searxng", "duckduckgo"} <= {problem.subject for problem in result.problems}


async def test_nobody_stands_in_for_one_that_finds_nothing(searx: Searx) -> None:
    given = Settings.load(searxng_url=searx.url, max_level=0, knowledge=False)
    result = await research("What is a zxqvbn wqpltr?", given)
    assert result.searched == ("the web, through SearXNG",)

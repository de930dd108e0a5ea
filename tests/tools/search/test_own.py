"""What a caller brings along searches like any provider, and keeps what providers promise."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, strategies as st

from spadework.errors import SearchError, SettingsError
from spadework.settings import Settings
from spadework.tools.search.failover import Search
from spadework.tools.search.provider_choice import choose, own_providers
from spadework.tools.search.result_rows import domains, is_wanted, with_sites
from spadework.values import Hit, Query
from tests.tools.search.test_community import RESULTS, Retriever, tool

ASKED = Query(text="census Port Aldermere")


class Shelf:
    """A provider in a few lines."""

    name = "My Shelf!"
    answer: Any = (Hit(url="https://a.example/1"), Hit(url="https://b.example/2"))

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def ask(source: Any, query: Query = ASKED, limit: int = 5) -> list[Hit]:
    [provider] = own_providers([source])
    return await Search([provider]).ask(provider, query, limit=limit, seconds=1)


async def test_hits_of_ones_own_are_numbered_and_named():
    found = await ask(Shelf())
    assert [(hit.position, hit.provider, hit.query) for hit in found] == [
        (1, "my-shelf", ASKED.text),
        (2, "my-shelf", ASKED.text),
    ]
    assert len(await ask(Shelf(), limit=1)) == 1


async def test_a_hit_may_bring_its_page_and_need_no_address():
    shelf = Shelf()
    shelf.answer = (Hit(title="Box", text="The census counted 4,000."),)
    [hit] = await ask(shelf)
    assert hit.url.startswith("library://my-shelf/")
    assert hit.text == "The census counted 4,000."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ValueError("k3y"), r"^my-shelf could not be searched: ValueError\.$"),
        (None, r"^my-shelf could not be searched: TypeError\.$"),
        ([{"url": "x"}], "not a spadework.values.Hit"),
    ],
)
async def test_whatever_it_raises_is_one_failed_search(answer: Any, words: str):
    shelf = Shelf()
    shelf.answer = answer
    with pytest.raises(SearchError, match=words):
        await ask(shelf)


async def test_one_that_hangs_is_left_at_the_deadline():
    class Hanging(Shelf):
        async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
            await asyncio.Event().wait()
            return []

    with pytest.raises(SearchError, match="did not answer within 1 s"):
        await ask(Hanging())


async def test_tools_and_retrievers_stand_beside_each_other_under_names_of_their_own():
    choice = await choose(Settings.load(), None, [Shelf(), Shelf(), Retriever(), tool(RESULTS)])  # type: ignore[arg-type]
    assert [provider.name for provider in choice.providers] == [
        "my-shelf",
        "my-shelf-2",
        "retriever",
        "search",
    ]
    assert choice.kept == frozenset()


async def test_they_take_the_place_of_auto_and_stand_beside_what_is_named():
    settings = Settings.load(search="wikipedia,auto", brave_api_key="k3y")
    choice = await choose(settings, None, [Shelf()])  # type: ignore[arg-type]
    assert [provider.name for provider in choice.providers] == ["wikipedia", "my-shelf"]


@pytest.mark.parametrize("given_", ["text", object(), Shelf.search, 5])
async def test_what_cannot_search_is_a_settings_error(given_: object):
    with pytest.raises(SettingsError, match="providers must be objects with"):
        await choose(Settings.load(), None, [given_])  # type: ignore[arg-type]


async def test_domains_are_kept_to_whatever_a_provider_gives():
    for wish, urls in (
        ({"include_domains": ("a.example",)}, ["https://a.example/1"]),
        ({"exclude_domains": ("www.a.example",)}, ["https://b.example/2"]),
        ({"include_domains": ("example",)}, ["https://a.example/1", "https://b.example/2"]),
    ):
        assert [hit.url for hit in await ask(Shelf(), ASKED.model_copy(update=wish))] == urls


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://docs.a.example/x", True),
        ("https://A.example:8080/x", True),
        ("https://nota.example/x", False),
        ("https://a.example.evil.example/", False),
        ("library://notes/x.md", True),
    ],
)
def test_a_domain_has_its_subdomains_and_no_more(url: str, kept: bool):
    assert is_wanted(Query(text="x", include_domains=("a.example",)), url) is kept


@given(st.lists(st.text(max_size=40)))
def test_any_text_is_a_domain_or_left_out(named: list[str]):
    found = domains(named)
    assert domains(found) == found
    assert "\n" not in with_sites(Query(text="x", include_domains=tuple(named)))

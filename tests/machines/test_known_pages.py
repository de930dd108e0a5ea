"""The knowledge store in the database does what every one does, and keeps users apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from spadework.errors import KnowledgeError
from spadework.machines.knowledge_store import PostgresKnowledge
from spadework.settings import Settings
from spadework.tools.knowledge import Knowledge, Which, knowledge_of
from tests.tools.knowledge.pages import ALL, CENSUS, FERRY, HARBOUR, LONG_AGO, entry
from tests.tools.knowledge.test_stores import (
    found,
    test_a_newer_state_replaces_the_older_and_never_the_other_way,
    test_a_page_is_known_by_all_spellings_of_its_address_and_by_no_other,
    test_a_page_stands_in_the_answer_once_with_all_its_passages,
    test_a_store_in_which_nothing_was_kept_knows_nothing,
    test_no_question_is_too_odd,
    test_odd_texts_are_kept_too,
    test_only_pages_that_are_fresh_enough_are_found,
    test_pages_are_listed_newest_first,
    test_what_is_forgotten_is_gone_and_nothing_else,
    test_what_was_kept_is_found_again_as_it_was,
    test_whose_page_it_is_is_kept,
)
from tests.world.postgres import Postgres

__all__ = [
    "test_a_newer_state_replaces_the_older_and_never_the_other_way",
    "test_a_page_is_known_by_all_spellings_of_its_address_and_by_no_other",
    "test_a_page_stands_in_the_answer_once_with_all_its_passages",
    "test_a_store_in_which_nothing_was_kept_knows_nothing",
    "test_no_question_is_too_odd",
    "test_odd_texts_are_kept_too",
    "test_only_pages_that_are_fresh_enough_are_found",
    "test_pages_are_listed_newest_first",
    "test_what_is_forgotten_is_gone_and_nothing_else",
    "test_what_was_kept_is_found_again_as_it_was",
    "test_whose_page_it_is_is_kept",
]
pytestmark = pytest.mark.machines


@pytest.fixture
async def store(database: str) -> AsyncIterator[Knowledge]:
    made = PostgresKnowledge(SecretStr(database), "users/anna", 10_000_000)
    yield made
    await made.close()


async def test_what_one_owner_has_read_is_found_by_no_other(
    store: Knowledge, database: str
) -> None:
    await store.add(ALL)
    for name in ("", "users/bob", "users/ann", "users/anna2"):
        other = PostgresKnowledge(SecretStr(database), name, 10_000_000)
        assert await found(other, "census ferry harbour Port Aldermere") == []
        assert await found(other, "users/anna @users/anna") == []
        assert await other.find(CENSUS.page.url) is None
        assert await other.forget(Which()) == 0
        assert await other.count() == 0
        assert [page async for page in other.pages(Which())] == []
        assert await other.add([FERRY]) == 1
        assert await found(other, "census ferry") == [FERRY.page.url]
        await other.close()
    assert await store.count() == 3


async def test_who_adds_a_page_at_once_keeps_it_once(store: Knowledge, database: str) -> None:
    other = PostgresKnowledge(SecretStr(database), "users/anna", 10_000_000)
    added = await asyncio.gather(*(one.add(ALL) for one in (store, other, store, other)))
    assert sum(added) == await store.count() == 3
    await other.close()


async def test_the_least_recently_used_pages_make_room(database: str) -> None:
    sizes = PostgresKnowledge(SecretStr(database), "sizes", 10_000_000)
    texts = [entry(f"https://{n}.example/", f"Bell {n}. " * 40, title=f"{n}") for n in range(4)]
    small = PostgresKnowledge(SecretStr(database), "", 900)
    for one in texts[:2]:
        await small.add([one])
    await small.find(texts[0].page.url)
    await small.add(texts[2:3])
    left = {page.url async for page in small.pages(Which())}
    assert texts[1].page.url not in left and texts[2].page.url in left
    await small.close()
    await sizes.close()


async def test_the_settings_choose_it_for_each_user(settings_of_two: tuple[Settings, ...]) -> None:
    anna, bob = (knowledge_of(settings) for settings in settings_of_two)
    assert isinstance(anna, PostgresKnowledge) and isinstance(bob, PostgresKnowledge)
    await anna.add([HARBOUR])
    assert await found(anna, "harbour") == [HARBOUR.page.url]
    assert await bob.search("harbour", limit=3, since=LONG_AGO) == []
    await anna.close()
    await bob.close()


@pytest.fixture
def settings_of_two(database: str) -> tuple[Settings, ...]:
    from spadework.sessions.users import People

    people = People(Settings.load())
    return people.settings_of("anna"), people.settings_of("bob")


async def test_a_database_that_is_away_is_one_sentence(postgres: Postgres) -> None:
    made = PostgresKnowledge(SecretStr(postgres.address("nothing")), "", 10_000_000)
    with pytest.raises(KnowledgeError, match="does not exist"):
        await made.find("https://a.example/")
    await made.close()

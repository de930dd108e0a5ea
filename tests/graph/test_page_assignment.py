"""Pages of a survey are dealt out the same way whichever worker is first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spadework.budget import Budget
from spadework.graph.pages.page_assignment import How, PageAssignment, PageRequest, assign_pages
from spadework.tools.stores.journal import Journal

WISHES: dict[str, PageRequest] = {"Roots": ("abcd", 2), "Leaves": ("abef", 2), "Bark": ("ba", 1)}
ASSIGNED = {
    "Roots": ({"a", "c"}, {"b", "e"}),
    "Leaves": ({"b", "e"}, {"a", "c"}),
    "Bark": (set(), {"a", "b", "c", "e"}),
}


def test_turn_by_turn_each_takes_the_best_that_is_left() -> None:
    assert assign_pages(WISHES) == {"Roots": ["a", "c"], "Leaves": ["b", "e"], "Bark": []}


def test_of_one_matter_what_several_topics_lead_to_comes_first() -> None:
    wishes: dict[str, PageRequest] = {
        "Roots": ("axyz", 1),
        "Leaves": ("bxyw", 1),
        "Bark": ("cxyz", 1),
    }
    assert assign_pages(wishes) == {"Roots": ["a"], "Leaves": ["b"], "Bark": ["c"]}
    assert assign_pages(wishes, How(joint=True)) == {"Roots": ["x"], "Leaves": ["y"], "Bark": ["z"]}


def test_what_several_would_read_is_dealt_to_all_of_them_and_counts_once() -> None:
    wishes: dict[str, PageRequest] = {"Roots": ("abc", 2), "Leaves": ("acb", 2), "Bark": ("bda", 2)}
    whole = {"Roots": ["a", "b"], "Leaves": ["a", "c"], "Bark": ["b", "d"]}
    assert (
        assign_pages(wishes, How(own=False))
        == assign_pages(wishes, How(own=False, most=4))
        == whole
    )
    few = {"Roots": ["a", "b"], "Leaves": ["a"], "Bark": ["b"]}
    assert assign_pages(wishes, How(own=False, most=2)) == few
    assert assign_pages(wishes, How(most=2)) == {"Roots": ["a"], "Leaves": ["c"], "Bark": []}


@given(
    st.dictionaries(
        st.sampled_from("XYZ"),
        st.tuples(st.lists(st.sampled_from("abcdefgh"), unique=True), st.integers(0, 5)),
    ),
    st.booleans(),
)
def test_nobody_gets_a_page_twice_nor_more_than_wanted_and_none_that_is_wanted_is_left(
    wishes: dict[str, PageRequest], joint: bool
) -> None:
    made = assign_pages(wishes, How(joint=joint))
    given_out = [url for urls in made.values() for url in urls]
    assert len(given_out) == len(set(given_out))
    for topic, (urls, wanted) in wishes.items():
        assert len(made[topic]) <= wanted
        assert set(made[topic]) <= set(urls)
        assert len(made[topic]) == wanted or set(urls) <= set(given_out)


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = await Journal.open(tmp_path / "session.sqlite", Budget())
    yield opened
    await opened.close()


@pytest.mark.parametrize("order", list(permutations(WISHES)))
async def test_the_order_in_which_workers_come_changes_nothing(
    journal: Journal, order: tuple[str, ...]
) -> None:
    table = PageAssignment(journal, ("?", 1), list(WISHES))
    coming = [table.assign(topic, WISHES[topic], asyncio.Event(), seconds=5) for topic in order]
    assert dict(zip(order, await asyncio.gather(*coming), strict=True)) == ASSIGNED


async def test_who_comes_too_late_is_not_waited_for_and_finds_the_pages_dealt(
    journal: Journal,
) -> None:
    table = PageAssignment(journal, ("?", 1), list(WISHES))
    assert await table.assign("Leaves", WISHES["Leaves"], asyncio.Event(), seconds=0.01) == (
        {"a", "b"},
        set(),
    )
    assert await table.assign("Roots", WISHES["Roots"], asyncio.Event(), seconds=5) == (
        {"c", "d"},
        {"a", "b"},
    )


async def test_who_comes_too_late_takes_no_more_than_is_left(journal: Journal) -> None:
    how = How(own=False, most=3)
    table = PageAssignment(journal, ("?", 1), list(WISHES), how)
    first = await table.assign("Leaves", WISHES["Leaves"], asyncio.Event(), seconds=0.01)
    assert first == ({"a", "b"}, set())
    late = await table.assign("Roots", ("acd", 3), asyncio.Event(), seconds=5)
    assert late == ({"a", "c"}, set())


async def test_nobody_is_waited_for_when_the_user_wants_the_report(journal: Journal) -> None:
    stop = asyncio.Event()
    stop.set()
    assert await PageAssignment(journal, ("?", 1), list(WISHES)).assign(
        "Roots", WISHES["Roots"], stop, seconds=600
    ) == ({"a", "b"}, set())


async def test_a_run_that_is_taken_up_again_deals_the_same_and_waits_for_nobody_who_had_ended(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spadework.graph.pages.page_assignment.ASSIGN_SECONDS", 600)
    table = PageAssignment(journal, ("?", 1), list(WISHES))
    await asyncio.gather(
        *(table.assign(topic, wish, asyncio.Event(), seconds=5) for topic, wish in WISHES.items())
    )
    again = PageAssignment(journal, ("?", 1), list(WISHES))
    async with asyncio.timeout(60):
        assert (
            await again.assign("Leaves", WISHES["Leaves"], asyncio.Event(), seconds=600)
            == ASSIGNED["Leaves"]
        )


async def test_each_question_and_each_round_deals_anew(journal: Journal) -> None:
    for of in (("?", 1), ("?", 2), ("other", 1)):
        wishes: dict[str, PageRequest] = {
            "Roots": ((of[0], str(of[1])), 1),
            "Leaves": ((of[0],), 1),
        }
        table = PageAssignment(journal, of, list(wishes))
        assigned_out = await asyncio.gather(
            *(
                table.assign(topic, wish, asyncio.Event(), seconds=5)
                for topic, wish in wishes.items()
            )
        )
        assert assigned_out == [({of[0]}, set()), (set(), {of[0]})]


async def test_what_was_dealt_in_a_hurry_is_not_for_good(journal: Journal) -> None:
    stop = asyncio.Event()
    stop.set()
    hurried = PageAssignment(journal, ("?", 1), list(WISHES))
    assert await hurried.assign("Leaves", WISHES["Leaves"], stop, seconds=5) == ({"a", "b"}, set())
    table = PageAssignment(journal, ("?", 1), list(WISHES))
    coming = [
        table.assign(topic, wish, asyncio.Event(), seconds=5) for topic, wish in WISHES.items()
    ]
    assert dict(zip(WISHES, await asyncio.gather(*coming), strict=True)) == ASSIGNED


async def test_a_deal_of_pages_that_are_not_found_again_gives_what_is_left(
    journal: Journal,
) -> None:
    for wishes in (
        {"Roots": ("ab", 1), "Leaves": ("", 0)},
        {"Roots": ("ab", 1), "Leaves": ("acd", 2)},
    ):
        table = PageAssignment(journal, ("?", 1), list(wishes))
        assigned_out = await asyncio.gather(
            *(
                table.assign(topic, wish, asyncio.Event(), seconds=5)
                for topic, wish in wishes.items()
            )
        )
    assert assigned_out == [({"a"}, set()), ({"c", "d"}, {"a"})]

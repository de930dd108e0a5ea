"""Fusion adds up reciprocal ranks, whatever the order of the lists."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from spadework.tools.ranking.relevance import reciprocal_rank_fusion
from spadework.values import Found, Hit

A, B, C, D = (f"https://example.org/{name}" for name in "abcd")


def scores(lists: list[list[str]], **options: object) -> dict[str, float]:
    return {hit.url: hit.rrf for hit in reciprocal_rank_fusion(lists, **options)}  # type: ignore[arg-type]


def test_scores_are_sums_of_reciprocal_ranks():
    assert scores([[A, B, C], [B, D]]) == pytest.approx(
        {B: 1 / 62 + 1 / 61, A: 1 / 61, D: 1 / 62, C: 1 / 63}
    )
    assert list(scores([[A, B, C], [B, D]])) == [B, A, D, C]


def test_k_and_weights_count():
    assert scores([[A, B], [B]], k=1, weights=[2, 0.5]) == pytest.approx({A: 1.0, B: 2 / 3 + 0.25})
    with pytest.raises(ValueError, match="argument 2"):
        reciprocal_rank_fusion([[A], [B]], weights=[1])


def test_twins_are_one_page_and_count_once_in_a_list():
    twin = "http://www.example.org/a/?utm_source=x#y"
    assert scores([[B, A, twin], [twin]]) == pytest.approx({A: 1 / 62 + 1 / 61, B: 1 / 61})


def test_equal_scores_stay_in_order_of_appearance():
    assert list(scores([[C], [A], [B]])) == [C, A, B]


def test_nothing_gives_nothing():
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []


def test_the_best_copy_is_kept_with_what_all_copies_know():
    first, second = (
        Found(query=q, kind="original", provider="searxng", rank=n) for n, q in enumerate("xy", 1)
    )
    day = datetime(2026, 1, 1, tzinfo=UTC)
    poor = Hit(url=A, title="Poor", relevance=0.2, found_by=(first,), published_at=day)
    good = Hit(
        url="http://www.example.org/a", title="Good", relevance=0.9, found_by=(second, first)
    )
    (hit,) = reciprocal_rank_fusion([[poor], [good]])
    assert hit == good.model_copy(
        update={"rrf": 2 / 61, "found_by": (first, second), "published_at": day}
    )


_LISTS = st.lists(st.lists(st.sampled_from([A, B, C, D]), max_size=6), max_size=5)


@given(_LISTS.flatmap(lambda lists: st.tuples(st.just(lists), st.permutations(lists))))
def test_the_order_of_the_lists_does_not_change_scores(
    orders: tuple[list[list[str]], list[list[str]]],
):
    assert scores(orders[0]) == scores(orders[1])


@given(_LISTS)
def test_every_page_stands_there_once_best_first(lists: list[list[str]]):
    fused = reciprocal_rank_fusion(lists)
    assert sorted(hit.url for hit in fused) == sorted({url for ranked in lists for url in ranked})
    assert [hit.rrf for hit in fused] == sorted((hit.rrf for hit in fused), reverse=True)
    assert all(0 < hit.rrf <= len(lists) / 61 + 1e-12 for hit in fused)


@given(_LISTS, st.sampled_from([A, B, C, D]))
def test_one_more_list_that_holds_a_page_raises_its_score_alone(lists: list[list[str]], url: str):
    before, after = scores(lists), scores([*lists, [url]])
    assert after.pop(url) > before.pop(url, 0)
    assert after == before


@given(_LISTS, st.integers(0, 4))
def test_a_page_that_rises_in_a_list_does_not_lose(lists: list[list[str]], which: int):
    lists = [list(dict.fromkeys(ranked)) for ranked in lists]
    if which < len(lists) and len(lists[which]) > 1:
        *others, last = lists[which]
        risen = [*lists[:which], [last, *others], *lists[which + 1 :]]
        assert scores(risen)[last] > scores(lists)[last]

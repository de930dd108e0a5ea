"""Hits are chosen by relevance, rank and domain, and nothing is lost."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from spadework.deadline import today
from spadework.errors import SettingsError
from spadework.tools.ranking.selection import (
    PAGES_PER_DOMAIN,
    PRESETS,
    Selection,
    affordable,
    halve_selection,
    select,
    source_kind,
)
from spadework.tools.web.urls import domain_of
from spadework.values import Found, Hit, Page, SourceKind


def hits(*marks: tuple[str, float]) -> list[Hit]:
    """Hits, best first, of these hosts and relevances."""
    return [
        Hit(url=f"https://{host}/{n}", relevance=relevance, rrf=1 / n)
        for n, (host, relevance) in enumerate(marks, 1)
    ]


def many(count: int, relevance: float = 0.9) -> list[Hit]:
    return hits(*((f"site{n}.org", relevance) for n in range(count)))


def choose(found: list[Hit], preset: str = "default", limit: int | None = None) -> Selection:
    return select(found, preset=preset, limit=limit)


@pytest.mark.parametrize(
    ("preset", "count"), [("default", 10), ("precise", 5), ("balanced", 8), ("recall", 12)]
)
def test_a_preset_says_how_many(preset: str, count: int):
    found = many(30)
    made = choose(found, preset)
    assert made == Selection(tuple(found[:count]), tuple(found[count:]))


def test_what_is_paid_takes_no_place_of_what_is_not():
    found = many(8)
    first, *rest = found
    made = affordable(choose(found, limit=5), [first.url, rest[2].url], 2)
    assert made.chosen == (first, rest[0], rest[1], rest[2])
    assert made.reserve == tuple(rest[3:])


@pytest.mark.parametrize(
    ("preset", "least"), [("default", 0.3), ("precise", 0.5), ("balanced", 0.3), ("recall", 0.1)]
)
def test_a_preset_says_how_relevant(preset: str, least: float):
    found = hits(
        *(
            (f"site{n}.org", relevance)
            for n, relevance in enumerate([least, least - 0.001, 1, 0, least + 0.001])
        )
    )
    made = choose(found, preset)
    assert made == Selection((found[0], found[2], found[4]), (found[1], found[3]))


def test_a_topic_that_stays_open_lowers_the_threshold_by_a_step_a_round():
    found = hits(
        *(
            (f"site{n}.org", relevance)
            for n, relevance in enumerate([0.9, 0.8, 0.7, 0.25, 0.15, 0.05])
        )
    )
    made = [select(found, preset="default", steps=steps) for steps in range(5)]
    assert [len(one.chosen) for one in made] == [3, 4, 5, 6, 6]
    assert made[0].note == ""
    assert made[1].note.endswith("from 0.3 to 0.2.")


def test_rank_decides_and_not_the_order_given():
    found = many(5)
    assert choose(found[::-1]).chosen == tuple(found)


def test_a_threshold_that_leaves_too_few_is_lowered_in_steps_and_said_so():
    made = choose(hits(("a.org", 0.9), ("b.org", 0.25), ("c.org", 0.15), ("d.org", 0.05)))
    assert [hit.relevance for hit in made.chosen] == [0.9, 0.25, 0.15]
    assert (
        made.note == "Few hits were relevant enough, so the threshold was lowered from 0.3 to 0.1."
    )
    assert choose(hits(("a.org", 0.0), ("b.org", 0.0))).note.endswith("to 0.0.")
    assert len(choose(many(2)).chosen) == 2
    assert choose(many(2)).note == choose([]).note == ""


def test_a_limit_stands_for_the_number_of_the_preset():
    assert len(choose(many(30), limit=4).chosen) == 4
    assert len(choose(many(30), limit=20).chosen) == 20
    assert len(choose(many(30), limit=40).chosen) == 30
    made = choose(hits(("a.org", 0.2), ("b.org", 0.9)), limit=1)
    assert ([hit.relevance for hit in made.chosen], made.note) == ([0.9], "")
    assert choose(many(3), limit=0).chosen == ()


def test_a_domain_waits_while_others_do():
    found = hits(
        *[("docs.big.org", 0.9)] * 6,
        *[("www.big.org", 0.9)] * 2,
        ("small.org", 0.9),
        ("tiny.org", 0.9),
    )
    made = choose(found, "precise")
    assert made.chosen == (*found[:3], found[8], found[9])
    assert made.reserve == tuple(found[3:8])


def test_a_domain_fills_up_when_no_other_waits():
    found = hits(*[("big.org", 0.9)] * 6, ("small.org", 0.9))
    made = choose(found, "precise")
    assert made.chosen == (*found[:4], found[6])
    assert len(choose(hits(*[("big.org", 0.9)] * 12)).chosen) == 10


def test_collections_of_a_library_have_no_share_beyond_which_they_wait():
    urls = [
        *(f"library://python-3.11/{n}" for n in range(6)),
        "library://notes/a",
        "library://notes/b",
    ]
    found = [Hit(url=url, relevance=0.9, rrf=1 / n) for n, url in enumerate(urls, 1)]
    assert [hit.url for hit in choose(found, "precise").chosen] == urls[:5]


def test_a_document_of_a_library_is_read_for_its_rank_since_reading_it_costs_nothing():
    local = [Hit(url=f"library://notes{n}/a", relevance=0.0, rrf=1 / n) for n in range(1, 4)]
    made = choose([*local, *hits(*[("a.org", 0.2)] * 2, ("b.org", 0.9))])
    assert made.note == ""
    assert {hit.url for hit in made.chosen} == {*(hit.url for hit in local), "https://b.org/3"}


def test_an_unknown_preset_is_named_with_the_known_ones():
    with pytest.raises(
        SettingsError, match="one of default, precise, balanced, recall, not 'wild'"
    ):
        choose(many(1), "wild")


_HITS = st.lists(
    st.builds(
        Hit,
        url=st.sampled_from(
            [
                f"https://{host}/{n}"
                for host in ("a.org", "b.org", "c.co.uk", "1.2.3.4")
                for n in range(6)
            ]
        ),
        relevance=st.integers(0, 10).map(lambda tenth: tenth / 10),
        # Nearer to each other than what a crowded domain costs.
        rrf=st.integers(2, 7).map(lambda part: part / 100),
    ),
    max_size=30,
    unique_by=lambda hit: hit.url,
)


@given(_HITS, st.sampled_from(list(PRESETS)), st.none() | st.integers(0, 20))
def test_nothing_is_lost_and_the_rules_hold(found: list[Hit], preset: str, limit: int | None):
    made = choose(found, preset, limit)
    least, most = PRESETS[preset]
    assert sorted(hit.url for hit in (*made.chosen, *made.reserve)) == sorted(
        hit.url for hit in found
    )
    assert [hit.rrf for hit in made.chosen] == sorted(
        (hit.rrf for hit in made.chosen), reverse=True
    )
    assert len(made.chosen) <= (most if limit is None else limit)
    assert all(hit.relevance >= least for hit in made.chosen) or made.note
    counts = Counter(domain_of(hit.url) for hit in made.chosen)
    if any(count > PAGES_PER_DOMAIN for count in counts.values()):
        assert all(
            counts[domain_of(hit.url)] >= PAGES_PER_DOMAIN
            for hit in made.reserve
            if hit.relevance >= least
        )
    assert made == choose(found, preset, limit)


def test_when_time_is_short_the_better_half_is_read_by_priority_and_the_rest_waits() -> None:
    made = choose(
        [*hits(("blog.com", 0.4), ("uni.edu", 0.9), ("shop.com", 0.5), ("state.gov", 0.6))]
    )
    soon = halve_selection(made)
    assert [domain_of(hit.url) for hit in soon.chosen] == ["uni.edu", "state.gov"]
    assert {hit.url for hit in (*soon.chosen, *soon.reserve)} == {
        hit.url for hit in (*made.chosen, *made.reserve)
    }
    [shop] = [hit.url for hit in made.chosen if "shop" in hit.url]
    here = halve_selection(made, [shop])
    assert [domain_of(hit.url) for hit in here.chosen] == ["uni.edu", "shop.com"], "it is cached"


def test_a_named_page_that_was_judged_against_is_not_put_first() -> None:
    found = [Found(query="quillon", kind="broad", provider="library", rank=1)]
    against = Hit(
        url="library://a/quillon", title="Quillon", relevance=0.0, rrf=0.0, found_by=tuple(found)
    )
    others = [
        Hit(url=f"library://a/{n}", title=f"Page {n}", relevance=0.9, rrf=1 / n)
        for n in range(1, 8)
    ]
    assert against not in choose([*others, against], "precise").chosen
    named = against.model_copy(update={"rrf": 0.01})
    assert choose([*others, named], "precise").chosen[0] == named


@pytest.mark.parametrize(
    ("url", "searched", "stated", "kind"),
    [
        ("https://www.example.org/", "news", "", "news"),
        ("https://www.example.org/", "", "forum", "forum"),
        ("https://www.example.org/", "news", "paper", "paper"),
        ("https://www.nist.gov/", "news", "", "official"),
        ("https://pubmed.ncbi.nlm.nih.gov/1/", "paper", "", "paper"),
        ("library://notes/quay.md", "own", "", "own"),
        ("https://www.example.org/", "", "", ""),
    ],
)
def test_a_paper_then_a_state_then_the_search_says_who_speaks(
    url: str, searched: SourceKind, stated: SourceKind, kind: str
):
    page = Page(url=url, kind=stated, fetched_at=today(), content_hash="0", chars=1)
    assert source_kind(Hit(url=url, kind=searched), page) == kind

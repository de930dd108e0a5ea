"""When what is known will do without the web."""

from __future__ import annotations

from datetime import timedelta

import pytest

from spadework.tools.knowledge import Recalled
from spadework.tools.knowledge.entry import DOMAINS, RELEVANT, enough, fresh_since, relevant
from spadework.values import Freshness, Query, Task, Topic
from tests.tools.knowledge.pages import NOW, entry

ORIGINAL, BROAD = Query(text="ferry passengers"), Query(text="ships", kind="broad")


def known(
    domains: int = DOMAINS, *, share: float = 1.0, text: str = "The ferry.", pages: int = 1
) -> list[Recalled]:
    return [
        Recalled(entry(f"https://site{n}.example/{k}", text), text, share, ((0, len(text)),))
        for n in range(domains)
        for k in range(pages)
    ]


def task(*aspects: str, broad: bool = False, number: int = 1) -> Task:
    topic = Topic(name="Ferry", question="What about the ferry?", must_cover=aspects)
    return Task(topic=topic, queries=(ORIGINAL, BROAD), broad=broad, round=number)


def test_good_pages_of_enough_houses_will_do() -> None:
    assert enough(known(), task())
    assert not enough([], task())


def test_one_site_with_many_pages_never_keeps_the_web_out() -> None:
    assert not enough(known(DOMAINS - 1, pages=50), task())


def test_pages_that_lack_what_is_asked_are_not_about_it() -> None:
    assert relevant([known(share=RELEVANT)]) == known(share=RELEVANT)
    assert not relevant([known(share=RELEVANT - 0.01)])


def test_what_is_found_twice_stands_once_in_the_list_of_a_question_best_first() -> None:
    [good], [fair] = known(1, share=1.0), known(1, share=0.9)
    other = known(2, share=0.95)[1]
    assert relevant([[fair, other], [good]]) == [good, other]


def test_a_survey_and_a_gap_always_ask_the_web() -> None:
    assert not enough(known(), task(broad=True))
    assert not enough(known(), task(number=2))


def test_most_of_what_the_topic_must_cover_has_to_stand_there() -> None:
    pages = known(text="The ferries carry passengers, and their crews are paid monthly.")
    assert enough(pages, task("ferry passengers", "crew", "fares"))
    assert not enough(pages, task("captain", "crew", "fares"))


@pytest.mark.parametrize(
    ("freshness", "text", "allowed"),
    [
        ("any", "ferry", timedelta(days=7)),
        ("recent", "ferry", timedelta(hours=12)),
        ("now", "ferry", None),
        ("any", "latest news of the ferry", None),
    ],
)
def test_how_old_a_page_may_be_hangs_on_what_is_asked(
    freshness: Freshness, text: str, allowed: timedelta | None
) -> None:
    since = fresh_since([Query(text=text, freshness=freshness)], NOW)
    assert since == (None if allowed is None else NOW - allowed)


def test_the_strictest_query_counts() -> None:
    assert fresh_since([ORIGINAL, Query(text="ferry", freshness="now")], NOW) is None
    assert fresh_since([], NOW) is None

"""The lead without a model keeps to its figures on ordinary questions."""

from __future__ import annotations

from benchmarks import plans
from spadework.values import Plan, Query, Topic


def test_four_in_five_questions_that_nothing_was_fitted_on_are_planned_rightly() -> None:
    right, of = plans.figures(plans.rows("test"))["all"]
    assert of >= 40
    assert right / of >= 0.8


def test_a_lost_side_an_unseen_aspect_and_a_torn_name_are_mistakes() -> None:
    asked = "Compare fishing nets and hooks for cod"
    row = {"question": asked, "sides": ["fishing nets", "hooks"], "aspects": ["cod"]}

    def mistakes(sides: tuple[str, ...], *queries: str) -> list[str]:
        searched = tuple(Query(text=text) for text in queries)
        topic = Topic(
            name=asked, question=asked, expects="both sides", must_cover=sides, queries=searched
        )
        return plans.mistakes(row, Plan(question=asked, topics=(topic,)))

    both, searches = ("fishing nets", "hooks"), ("fishing nets cod", "hooks cod")
    assert mistakes(both, *searches) == []
    assert mistakes(("fishing nets", "hooks for cod"), *searches) == ["sides"]
    assert mistakes(both, "fishing nets", "hooks") == ["aspects"]
    assert mistakes(both, *searches, "fishing") == ["cut"]

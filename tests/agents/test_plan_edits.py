"""A plan as the user changed it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.agents.plan_edits import MOST_TOPICS, edit_plan
from spadework.values import Plan, Query, Topic

PLAN = Plan(
    question="What is X?",
    subjects=("X",),
    topics=(
        Topic(name="What X is", question="What is X?", queries=(Query(text="x"),)),
        Topic(name="Uses of X", question="?"),
    ),
)


@pytest.mark.parametrize("answer", ["", "yes", "OK.", "Approve", " go "])
def test_a_yes_leaves_the_plan(answer: str) -> None:
    assert edit_plan(PLAN, answer) is PLAN


def test_named_topics_stay_as_they_were_in_the_order_named_and_new_ones_get_queries() -> None:
    changed = edit_plan(PLAN, "1. uses of x\n- Price\n\n* What X is\nPrice")
    assert [topic.name for topic in changed.topics] == ["Uses of X", "Price", "What X is"]
    assert changed.topics[0] is PLAN.topics[1]
    assert [query.text for query in changed.topics[1].queries] == ["X Price", "Price"]


@given(st.text())
def test_whatever_is_said_a_plan_has_topics(answer: str) -> None:
    changed = edit_plan(PLAN, answer)
    assert 1 <= len(changed.topics) <= MOST_TOPICS
    assert all(topic.name for topic in changed.topics)

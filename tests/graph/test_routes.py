"""What workers are told to do: how many pages each reads, and of which."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from spadework.budget import Budget
from spadework.graph.effort.workload import Workload, workload
from spadework.graph.routes import first_tasks, gap_tasks, payload
from spadework.graph.state import Find
from spadework.settings import Settings
from spadework.values import Coverage, Page, Plan, Query, QuestionType, Recommendation, Task, Topic


def load(*, model: bool = True) -> Workload:
    """What workers may do for a moderate question."""
    return workload(planned(1), Settings.load(), model=model)


def planned(count: int, question_type: QuestionType = "general") -> Plan:
    topics = tuple(
        Topic(name=f"T{n}", question="?", queries=(Query(text=f"q{n}"),)) for n in range(count)
    )
    return Plan(question="?", question_type=question_type, topics=topics)


def after(plan: Plan, budget: Budget) -> Any:
    """The state after a first round that has covered nothing and read a page a topic."""
    read = [
        Page(url=f"https://a.org/{n}", fetched_at=datetime.now(UTC), content_hash=str(n), chars=9)
        for n in range(len(plan.topics))
    ]
    return {
        "session_id": "s",
        "plan": plan,
        "tasks": first_tasks(plan, budget, load()),
        "finds": [
            Find(topic=topic.name, round=1, pages=(page,))
            for topic, page in zip(plan.topics, read, strict=True)
        ],
        "coverage": {
            topic.name: Coverage(
                topic=topic.name,
                covered=False,
                score=0.1,
                recommendations=(Recommendation(query=f"more {topic.name}"),),
            )
            for topic in plan.topics
        },
    }


def test_where_there_are_pages_enough_every_topic_reads_what_it_likes() -> None:
    tasks = first_tasks(planned(4), Budget(pages=60), load())
    assert {(task.pages, task.own, task.together) for task in tasks} == {(10, False, None)}


def test_where_pages_are_few_they_are_dealt_out_and_those_of_several_topics_count_once() -> None:
    tasks = first_tasks(planned(4), Budget(pages=20), load())
    assert {(task.pages, task.own, task.together) for task in tasks} == {(10, False, 17)}
    assert payload({"session_id": "s", "plan": planned(4), "tasks": tasks}, tasks[0])["among"] == [
        "T0",
        "T1",
        "T2",
        "T3",
    ]


@pytest.mark.parametrize(("question_type", "joint"), [("list", True), ("general", False)])
def test_deep_effort_deals_out_pages_and_makes_no_survey_of_other_questions(
    question_type: QuestionType, joint: bool
) -> None:
    plan = planned(2, question_type)
    deep = workload(plan, Settings.load(effort="deep"), model=True)
    tasks = first_tasks(plan, Budget(pages=500), deep)
    told = payload({"session_id": "s", "plan": plan, "tasks": tasks}, tasks[0])
    assert (told["among"], told["joint"]) == (["T0", "T1"], joint)


@pytest.mark.parametrize(
    ("left", "shares"), [(60, [(5, None)] * 3), (11, [(5, 11)] * 3), (2, [(2, 2)] * 2), (0, [])]
)
def test_what_is_left_is_divided_among_the_gaps(
    left: int, shares: list[tuple[int, int | None]]
) -> None:
    budget = Budget(pages=100)
    state = after(planned(3), budget)
    budget.charge("pages", 100 - left)
    tasks = gap_tasks(state, budget, load())
    assert [(task.pages, task.together) for task in tasks] == shares


def test_a_gap_looks_also_at_what_the_first_searches_left_unread_and_one_of_a_survey_at_no_page_of_another_topic() -> (  # noqa: E501
    None
):
    budget = Budget(pages=100)
    state = after(planned(2, "list"), budget)
    [one, other] = gap_tasks(state, budget, load())
    assert [[query.text for query in queries] for queries in (one.queries, one.again)] == [
        ["more T0"],
        ["q0"],
    ]
    assert one.own
    assert payload({**state, "tasks": [*state["tasks"], one, other]}, one)["read_before"] == [
        "https://a.org/0",
        "https://a.org/1",
    ]
    state = after(planned(2), budget)
    assert [task.again for task in gap_tasks(state, budget, load())] == [(), ()], (
        "a model asks for what is missing"
    )
    [plain, _] = gap_tasks(state, budget, load(model=False))
    assert [query.text for query in plain.again] == ["q0"]
    assert payload({**state, "tasks": [*state["tasks"], plain]}, plain)["read_before"] == [
        "https://a.org/0"
    ]


def test_a_topic_planned_anew_under_a_name_searched_before_is_searched_by_its_own_queries() -> None:
    budget = Budget(pages=100)
    state = after(planned(1), budget)
    queries = (Query(text="Q0"), Query(text="p0"))
    topic = Topic(name="T0", question="?", queries=queries)
    state["plan"] = state["plan"].model_copy(update={"topics": (topic,)})
    state["tasks"].append(Task(topic=topic, queries=(), round=1))
    [task] = gap_tasks(state, budget, load())
    assert [query.text for query in task.queries] == ["p0", "more T0"]


def test_with_nothing_left_to_ask_what_was_left_unread_is_read_and_then_it_ends() -> None:
    budget = Budget(pages=100)
    state = after(planned(1), budget)
    state["coverage"] = {"T0": Coverage(topic="T0", covered=False, score=0.1)}
    assert gap_tasks(state, budget, load(model=False)) == []
    state["finds"] = [find.model_copy(update={"left": 3}) for find in state["finds"]]
    [task] = gap_tasks(state, budget, load(model=False))
    assert (task.queries, [query.text for query in task.again]) == ((), ["q0"])
    assert gap_tasks(state, budget, load()) == [task.model_copy(update={"pages": 5})]

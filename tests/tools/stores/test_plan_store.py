"""Plans that are kept for the next time."""

from __future__ import annotations

import os
import time
from pathlib import Path

from spadework.tools.stores.plan_store import PLAN_SECONDS, PlanStore, normalise_question
from spadework.values import Plan, Topic

PLAN = Plan(
    question="What is a spade?", topics=(Topic(name="Definition", question="What is a spade?"),)
)


def test_a_plan_comes_back_under_its_key_and_no_other(tmp_path: Path) -> None:
    store = PlanStore(tmp_path / "plans")
    assert store.get({"question": "a"}) is None
    store.put({"question": "a"}, PLAN)
    assert store.get({"question": "a"}) == PLAN
    assert store.get({"question": "b"}) is None


def test_an_old_plan_is_not_used_and_goes_when_another_is_kept(tmp_path: Path) -> None:
    store = PlanStore(tmp_path)
    store.put("a", PLAN)
    [file] = tmp_path.glob("*.json")
    old = time.time() - 2 * PLAN_SECONDS
    os.utime(file, (old, old))
    assert store.get("a") is None
    store.put("b", PLAN)
    assert not file.exists()
    assert store.get("b") == PLAN


def test_a_broken_file_is_no_plan(tmp_path: Path) -> None:
    store = PlanStore(tmp_path)
    store.put("a", PLAN)
    [file] = tmp_path.glob("*.json")
    file.write_text("{")
    assert store.get("a") is None


def test_case_spaces_and_end_marks_do_not_make_another_question() -> None:
    assert normalise_question("  What is\n C++ ?") == normalise_question("what is c++")
    assert normalise_question("what is c") != normalise_question("what is c++")


def test_a_question_is_forgotten_as_asked_and_as_clarified_and_no_other_is(tmp_path: Path) -> None:
    store = PlanStore(tmp_path)
    texts = (
        "What is Mercury?",
        "what is mercury (the planet)?",
        "What is Mercury (the element)?",
        "What is Mercury used for?",
        "Where is Mercury?",
    )
    for text in texts:
        store.put(text, Plan(question=text, topics=(Topic(name="T", question=text),)))
    store.forget(["What is Mercury", "What is Mercury (the planet)?"])
    assert [store.get(text) is None for text in texts] == [True, True, False, False, False]

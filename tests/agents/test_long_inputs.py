"""What somebody else sends may be of any length: it is read at once, and breaks nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from pydantic import BaseModel, ValidationError

from spadework.agents.llm.structured_output import parse_answer
from spadework.agents.plan_edits import change_plan
from spadework.agents.receptionist import chore_of
from spadework.agents.report.marked_text import section_of
from spadework.prompts import fence
from spadework.values import Plan, Topic

PLAN = Plan(question="Q?", topics=(Topic(name="Costs", question="Q?"),))
#: What people type at most, and what a page or a model may hold.
MANY = 20_000


class Number(BaseModel):
    """A number."""

    n: int


def fenced(text: str) -> None:
    with pytest.raises(ValidationError):
        parse_answer(text, Number)


@pytest.mark.timed
@pytest.mark.parametrize(
    ("read", "text"),
    [
        (chore_of, "x\n" + "\n " * (MANY // 2) + "x"),
        (chore_of, "<text " * (5 * MANY // 6)),
        (lambda text: change_plan(PLAN, text), "add costs" + " " * MANY + "x"),
        (lambda text: change_plan(PLAN, text), "add costs" + "," * MANY + "x"),
        (fence, "<" + " " * MANY),
        (fenced, "```json" + "\n" * MANY),
    ],
    ids=["lines", "tags", "spaces of a wish", "commas of a wish", "mark", "fence"],
)
def test_a_text_that_repeats_itself_is_read_at_once(
    read: Callable[[str], object], text: str
) -> None:
    began = time.monotonic()
    read(text)
    assert time.monotonic() - began < 2


def test_numbers_of_thousands_of_digits_are_no_ids_and_no_topics() -> None:
    many = "9" * 5_000
    section = section_of("H", f"It is so [E{many}]. It is said [E1-E{many}]. Thus it is [E2].")
    assert section.sentences[-1].evidence_ids[-1:] == ("E2",)
    assert (
        change_plan(PLAN, f"drop {many}").reason == "There is no topic 999999999: the plan has 1."
    )

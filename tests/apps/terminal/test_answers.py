"""What typed lines mean: commands of the chat, the choice of an option, changes of a plan."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.agents.plan_edits import apply_wish, edit_plan, with_topics
from spadework.apps.terminal.commands import (
    COMMANDS,
    Ask,
    Command,
    Wrong,
    answer,
    choice,
    names,
    parse,
    read_reply,
    source_number,
)
from spadework.values import Plan, Topic

NAMES = ("Use", "Prices", "History")
PLAN = Plan(question="What is it?", topics=tuple(Topic(name=n, question=n) for n in NAMES))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", None),
        ("   ", None),
        ("What is it?", Ask("What is it?")),
        ("/etc/hosts: what is that?", Ask("/etc/hosts: what is that?")),
        ("/PLAN ", Command("plan")),
        ("/quote 3", Command("quote", "3")),
        ("/export my report.md", Command("export", "my report.md")),
        ("/resume", Command("resume")),
        ("/resume 20260101-000000-abcdef", Command("resume", "20260101-000000-abcdef")),
    ],
)
def test_a_line_is_a_command_or_a_question(line: str, meant: object) -> None:
    assert parse(line) == meant


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/exit", "no command /exit"),
        ("/", "no command /"),
        ("/quote", "/quote needs N"),
        ("/export", "/export needs FILE"),
        ("/plan b", "/plan takes no argument."),
    ],
)
def test_what_cannot_be_followed_is_said_in_a_sentence(line: str, said: str) -> None:
    meant = parse(line)
    assert isinstance(meant, Wrong)
    assert said in meant.said


@given(st.text(max_size=100))
def test_no_line_is_too_odd(line: str) -> None:
    meant = parse(line)
    assert meant is None or isinstance(meant, Ask | Wrong) or meant.name in COMMANDS


@pytest.mark.parametrize(
    ("argument", "count", "n"),
    [
        ("1", 2, 1),
        ("[2]", 2, 2),
        ("2.", 2, 2),
        ("0", 2, None),
        ("3", 2, None),
        ("x", 2, None),
        ("1", 0, None),
    ],
)
def test_the_number_of_a_source(argument: str, count: int, n: int | None) -> None:
    found = source_number(argument, count)
    assert isinstance(found, Wrong) if n is None else found == n


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1", "the town"),
        (" 2. ", "the ship"),
        ("", ""),
        ("neither, the hill", "neither, the hill"),
        ("3", None),
        ("0", None),
    ],
)
def test_an_option_is_chosen_by_its_number(line: str, said: str | None) -> None:
    assert choice(("the town", "the ship"), line) == said


def test_a_number_is_a_word_where_nothing_is_offered() -> None:
    assert choice((), "1984") == "1984"


@pytest.mark.parametrize(
    ("line", "topics"),
    [
        ("drop 2", ("Use", "History")),
        ("DROP 1, 3", ("Prices",)),
        ("add  Legal\tmatters", (*NAMES, "Legal matters")),
        ("keep 1 3", ("Use", "History")),
    ],
)
def test_a_plan_is_changed_by_number_and_name(line: str, topics: tuple[str, ...]) -> None:
    change = read_reply(PLAN, line)
    assert (tuple(names(change.plan)), change.reason, change.done) == (topics, "", False)


@pytest.mark.parametrize("line", ["drop 4", "drop 0", "drop 1 2 3", "add use"])
def test_what_cannot_be_done_changes_nothing_and_is_said(line: str) -> None:
    change = read_reply(PLAN, line)
    assert change.plan == PLAN
    assert change.reason
    assert not change.wish, "no model makes it possible"
    assert not change.done


async def test_without_a_model_a_wish_is_answered_with_the_forms_there_are() -> None:
    made, problems = await apply_wish(None, PLAN, "make it shorter", seconds=1)
    assert (made.plan, problems) == (PLAN, [])
    assert (
        made.reason
        == "“make it shorter” was not understood. Examples: drop 2, keep 1 3, add costs."
    )


@pytest.mark.parametrize(
    "line", ["what?", "drop", "add", "drop the second topic", "make it shorter"]
)
def test_what_makes_no_sense_changes_nothing_and_is_for_a_model(line: str) -> None:
    change = read_reply(PLAN, line)
    assert change.plan == PLAN
    assert change.reason
    assert change.wish == line, "a model may understand it"
    assert not change.done


@pytest.mark.parametrize("line", ["", "y", "Yes!", "ok", "go", "start"])
def test_a_yes_accepts(line: str) -> None:
    assert read_reply(PLAN, line).done


@given(
    st.lists(
        st.sampled_from(["Use", "Prices", "Go", "ok", "1. One", "- Two", "yes"]),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_the_engine_makes_the_plan_that_was_wanted(wanted: list[str]) -> None:
    told = answer(PLAN, with_topics(PLAN, wanted))
    assert names(edit_plan(PLAN, told)) == wanted


def test_a_plan_left_as_it_was_is_a_plain_yes() -> None:
    assert answer(PLAN, PLAN) == ""

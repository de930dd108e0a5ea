"""The picture of a run: it fits, whatever the pages call themselves, and says what happened."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from spadework.apps.terminal.live_view import Meter, clock, format_count, picture
from spadework.apps.view_model import SourceView, TopicView, ViewModel
from spadework.budget import Limits
from spadework.events import (
    Answered,
    Asked,
    Assessed,
    Event,
    Planned,
    Read,
    Reading,
    Searched,
    Started,
)
from spadework.values import Coverage, Plan, Topic, Usage

METER = Meter(65, Limits(), Usage(tokens_in=12_000, tokens_out=345, money=0.0312))
STATES = ["waiting", "searching", "reading", "answered", "partly", "open"]


def shown(view: ViewModel, width: int = 80, height: int = 24) -> list[str]:
    return [line.plain for line in picture(view, METER, width, height)]


def view_after(*events: Event) -> ViewModel:
    view = ViewModel()
    for event in events:
        view.take(event)
    return view


def states(view: ViewModel) -> list[str]:
    lines = shown(view)[1 : 1 + len(view.topics)]
    return [line.split("  ")[0].strip(" …✓~✗·") for line in lines]


def plan(*names: str) -> Planned:
    return Planned(
        plan=Plan(question="?", topics=tuple(Topic(name=name, question=name) for name in names))
    )


def assessed(round_: int, *coverage: Coverage) -> Assessed:
    return Assessed(round=round_, coverage=coverage, evidence=3, usage=Usage())


STARTED = Started(session_id="s", question="?", mode="model", searching=("the web",))
COVERED = Coverage(topic="A", covered=True, score=1, evidence_ids=("E1", "E2", "E3"))
OPEN = Coverage(topic="B", covered=False, score=0.2, evidence_ids=("E4",))
NOTHING = Coverage(topic="C", covered=False, score=0)


@given(
    names=st.lists(st.text(max_size=400), max_size=20, unique=True),
    sources=st.lists(
        st.tuples(st.text(max_size=400), st.text(max_size=400), st.booleans()), max_size=12
    ),
    states=st.lists(st.sampled_from(STATES), min_size=20, max_size=20),
    size=st.tuples(st.integers(1, 200), st.integers(1, 60)),
)
def test_it_fits_the_terminal_and_commands_nothing(
    names: list[str], sources: list[tuple[str, str, bool]], states: list[str], size: tuple[int, int]
) -> None:
    view = view_after(STARTED)
    view.topics = {
        name: TopicView(1, Topic(name=name, question=""), state)
        for name, state in zip(names, states, strict=False)
    }  # type: ignore[arg-type]
    view.sources = {
        str(n): SourceView(n, f"http://h{n}", title, "read" if read else "not read", reason)
        for n, (title, reason, read) in enumerate(sources)
    }
    lines = shown(view, *size)
    assert len(lines) <= size[1]
    assert all(cell_len(line) <= size[0] for line in lines)
    assert all(c.isprintable() for line in lines for c in line)


def test_markup_in_a_title_is_words() -> None:
    view = view_after(STARTED, plan("[bold]A[/]"), Reading(topic="[bold]A[/]", url="http://h/"))
    view.take(Read(topic="[bold]A[/]", url="http://h/", title="[red]x[/]\x1b[2J", chars=9))
    assert " … read 1                        [bold]A[/]" in shown(view)
    assert "   ✓ [red]x[/][2J (h)" in shown(view)


def test_a_topic_goes_from_searching_over_reading_to_its_judgement() -> None:
    view = view_after(STARTED, plan("A"))
    seen = states(view)
    for event in (
        Searched(topic="A", query="q", provider="p", hits=2),
        Reading(topic="A", url="http://x/"),
        Read(topic="A", url="http://x/", chars=9),
        assessed(1, COVERED),
    ):
        view.take(event)
        seen += states(view)
    assert seen == ["searching", "searching", "reading 1", "read 1", "answered (3 quotes)"]
    assert view.read == 1


def test_the_states_are_said_in_words() -> None:
    lines = shown(view_after(STARTED, plan("A", "B", "C"), assessed(1, COVERED, OPEN, NOTHING)))
    assert [line.split("  ")[0] for line in lines[1:4]] == [
        " ✓ answered (3 quotes)",
        " ~ partly answered (1 quote)",
        " ✗ open",
    ]


def test_a_plan_waits_while_it_is_approved_and_what_is_known_is_looked_at_first() -> None:
    asked = Asked(kind="approve", text="Approve this plan?")
    assert states(view_after(STARTED, plan("A"), asked)) == ["waiting"]
    answered = Answered(kind="approve", text="")
    assert states(view_after(STARTED, plan("A"), asked, answered)) == ["searching"]
    follows = STARTED.model_copy(update={"follows": "before"})
    known = view_after(follows, plan("A", "B"))
    assert states(known) == ["waiting", "waiting"]
    known.take(assessed(0, COVERED, OPEN))
    assert states(known) == ["answered (3 quotes)", "searching"]


def test_the_topics_of_a_session_that_is_taken_up_come_with_their_events() -> None:
    resumed = STARTED.model_copy(update={"resumed": True})
    found = Searched(topic="A", query="q", provider="p", hits=2)
    assert states(view_after(resumed, found, assessed(1, COVERED, OPEN))) == [
        "answered (3 quotes)",
        "partly answered (1 quote)",
    ]
    assert states(view_after(STARTED, found)) == []


def test_the_newest_sources_are_those_last_heard_of() -> None:
    view = view_after(
        STARTED,
        plan("A"),
        *(Reading(topic="A", url=f"http://h{n}/") for n in range(8)),
        Read(topic="A", url="http://h0/", chars=9),
    )
    lines = [line for line in shown(view) if "http" in line]
    assert [line.split("/")[2] for line in lines] == ["h3", "h4", "h5", "h6", "h7", "h0"]
    assert view.listed[0].url == "http://h0/"


def test_a_source_that_failed_stands_with_its_reason_however_long_its_title() -> None:
    view = view_after(
        STARTED,
        plan("A"),
        Read(
            topic="A",
            url="http://h.example/x",
            title="long " * 50,
            reason="h.example returned 404.",
        ),
    )
    assert shown(view)[2].endswith("…: h.example returned 404.")


def test_many_topics_leave_room_for_the_clock() -> None:
    lines = shown(view_after(STARTED, plan(*"ABCDEFGHIJKL")), 80, 6)
    assert len(lines) == 6
    assert lines[-2:] == [
        "    and 9 more topics",
        " 1:05 of 10:00 · 0 pages · 0 quotes · 12k tokens · $0.031",
    ]


def test_tokens_and_money_stand_only_where_a_model_works() -> None:
    assert (
        shown(view_after(STARTED.model_copy(update={"mode": "extractive"}), plan("A")))[-1]
        == " 1:05 of 10:00 · 0 pages · 0 quotes"
    )


@pytest.mark.parametrize(("n", "said"), [(9_999, "9999"), (12_345, "12k"), (1_234_567, "1.2M")])
def test_tokens_are_short(n: int, said: str) -> None:
    assert format_count(n) == said


def test_hours_are_said() -> None:
    assert (clock(59.9), clock(61), clock(3_605)) == ("0:59", "1:01", "1:00:05")

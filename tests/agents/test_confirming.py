"""A fact is confirmed, or contradicted, by the other pages that were read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from spadework.agents.evidence.expectation import confirm_fact
from spadework.agents.evidence.passages import Judgement, PassageView
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Page, Plan, Result, Topic

QUESTION = "When was the ferry harbour of Port Aldermere opened?"
FIRST = "The ferry harbour of Port Aldermere was opened in 2021 by the mayor."
SAME = "In 2021 the ferry harbour of Port Aldermere was opened with a fair."
OTHER = "The ferry harbour of Port Aldermere was opened in 2019, two years after the bridge."
ELSE = "The lighthouse of Port Aldermere is lit by oil, and its keeper has seven cats."
OWN = (
    "Its stones came by barge from the quarries of Ringwood, where masons cut them by hand.",
    "Gulls nest on every roof there, and no cat of the old town has ever caught a single one.",
    "Who likes maps finds a shop beside the chapel that sells nothing else from May to August.",
)


async def asked(folder: Path, *pages: str) -> Result:
    """The result of the question over pages that say so, each beside what is its own."""
    for n, (said, own) in enumerate(zip(pages, OWN, strict=False)):
        (folder / f"page{n}.md").write_text(f"# Harbour {n}\n\n{said}\n\n{own}\n", encoding="utf-8")
    settings = Settings.load(search="library", library=(folder,), knowledge=False)
    return await research(QUESTION, settings)


def lacking(result: Result) -> set[str]:
    return {shortfall.kind for shortfall in result.shortfalls}


async def test_a_second_page_that_says_the_same_confirms_a_fact(tmp_path: Path) -> None:
    result = await asked(tmp_path, FIRST, SAME, ELSE)
    assert {FIRST, SAME} <= {e.quote for topic in result.topics for e in topic.evidence}
    assert "confirmation" not in lacking(result)
    assert not result.conflicts


async def test_that_one_page_alone_says_a_fact_is_in_the_result(tmp_path: Path) -> None:
    result = await asked(tmp_path, FIRST, ELSE)
    assert "confirmation" in lacking(result)
    assert "no other confirms it" not in result.report


@pytest.mark.parametrize("order", [(FIRST, OTHER), (OTHER, FIRST)])
async def test_another_value_is_a_conflict_with_both_sides(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    result = await asked(tmp_path, *order, ELSE)
    [conflict] = result.conflicts
    assert {side.claim for side in conflict.sides} == {FIRST, OTHER}
    assert FIRST in result.report
    assert OTHER in result.report


def test_quotes_of_several_facts_are_contradicted_by_nothing() -> None:
    said = [f"The {what} harbour was opened in 19{n}1." for n, what in enumerate(("ferry", "old"))]
    assert others([*said, "The crane of the harbour was opened in 1944."], OTHER) == []
    assert others(said[:1], OTHER) == [OTHER]


def others(quoted: list[str], other: str) -> list[str]:
    """What is quoted beside these of a page that says something else."""
    pages = [page_of(n, text) for n, text in enumerate([*quoted, other])]
    topic = Topic(name="Harbour", question=QUESTION, expects="date")
    spots = tuple(shown.spot((0, len(shown.text))) for shown in pages[:-1])
    plan = Plan(question=QUESTION, subjects=("Port Aldermere",), topics=(topic,))
    judged = Judgement(covered=True, score=1.0, spots=spots)
    whole, _ = confirm_fact(plan, topic, judged, pages, lambda: False)
    return [spot.quote for spot in whole.spots[len(spots) :]]


def page_of(n: int, text: str) -> PassageView:
    page = Page(
        url=f"https://{n}.example/",
        fetched_at=datetime(2026, 3, 4, tzinfo=UTC),
        content_hash=str(n),
        chars=len(text),
    )
    return PassageView(page, 0, text)

"""What was found and could not be read: one record and one list, wherever they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.apps.mcp.research_tools import structure_result
from spadework.apps.openai.chat_completion import around
from spadework.apps.view_model import ViewModel
from spadework.errors import BudgetSpent, SearchError
from spadework.events import Read, Selected
from spadework.sessions.metrics.session_index import LOG
from spadework.sessions.one_call import research
from spadework.sessions.page_sessions import gather
from spadework.sessions.record.course import Course
from spadework.sessions.record.log import read_log
from spadework.sessions.record.records import draft_of
from spadework.sessions.storage.files import read_metadata, read_report, read_result
from spadework.settings import Settings
from spadework.values import Hit, Problem, Query, Result
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "How many passengers does the ferry of Port Aldermere carry?"
#: What hosts answer, and what the reason says of it.
REFUSALS = {
    "forum": ("no", 403, "403"),
    "blog": ("busy", 500, "500"),
    "news": ("<title>Robot check</title><form><p>Complete the captcha.</p></form>", 200, "captcha"),
    "docs": ("gone", 404, "404"),
    "archive": ("<p></p>", 200, "no text"),
}


@pytest.fixture
def refused(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is found, and what its reason says."""
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    found = {
        world.put(site, f"/ferry-{site}", body, status=status): said
        for site, (body, status, said) in REFUSALS.items()
    }
    searx.script("", list(found))
    return found


def events_of(result: Result) -> Course:
    return Course(event for event in read_log(Path(result.session_dir)) if event)


def work_product(result: Result) -> str:
    [work] = Path(result.session_dir).glob("search_workproduct_*.md")
    return work.read_text()


async def test_every_reason_recorded_is_the_reason_shown(refused: dict[str, str]) -> None:
    result = await research(QUESTION, Settings.load(knowledge=False, max_level=1))
    folder, course = Path(result.session_dir), events_of(result)
    assert (result.status, result.stopped_by) == ("partial", "nothing read")
    reasons = {read.url: read.reason for read in course.of(Read)}
    assert reasons.keys() == refused.keys()
    assert all(said in reasons[url] for url, said in refused.items())
    assert {one.url: one.reason for one in result.unread} == reasons
    assert {p.subject: p.reason for p in result.problems if p.stage == "read"} == reasons
    written = read_result(folder)
    assert written
    assert written.unread == result.unread
    told = structure_result(result, {}, 8_000).unread
    assert {one.url: one.reason for one in told} == reasons
    assert {one["url"]: one["reason"] for one in around(result)["spadework"]["unread"]} == reasons
    assert all(said in work_product(result) for said in refused.values())
    assert all(said in result.report for said in refused.values())
    assert read_report(folder) == result.report


async def test_the_seconds_of_pages_that_were_not_read_count(
    world: World, refused: dict[str, str]
) -> None:
    settings = Settings.load(knowledge=False, max_level=1)
    result = await research(QUESTION, settings)
    course = events_of(result)
    for read in course.of(Read):
        assert read.attempts
        assert read.attempts[-1].reason == read.reason
        assert (read.level, read.status) == (read.attempts[-1].level, read.attempts[-1].status)
    measured = read_metadata(Path(result.session_dir)).performance_metrics
    asked = [one for one in course.attempts if not one.cached]
    assert measured["crawl_seconds"] == pytest.approx(sum(one.seconds for one in asked), abs=0.01)
    assert measured["crawl_seconds"] > 0
    assert measured["attempts"] == len(asked) == result.usage.fetches
    assert measured["crawl_bytes"] == result.usage.bytes == sum(one.bytes for one in asked)


async def test_what_was_read_is_shown_before_anything_is_judged(refused: dict[str, str]) -> None:
    result = await research(QUESTION, Settings.load(knowledge=False, max_level=1))
    folder = Path(result.session_dir)
    lines = (folder / LOG).read_bytes().splitlines(keepends=True)
    judged = next(n for n, line in enumerate(lines) if b'"type":"assessed"' in line)
    (folder / LOG).write_bytes(b"".join(lines[:judged]))
    shown = draft_of(folder)
    assert "Pages that were tried" in shown
    assert all(said in shown for said in refused.values())


async def test_gathering_tells_the_same(refused: dict[str, str]) -> None:
    found = await gather("ferry", Settings.load(knowledge=False, max_level=1), pages=5)
    assert found.result.status == "partial"
    assert found.unread == found.result.unread
    assert all(
        said in {one.url: one.reason for one in found.unread}[url] for url, said in refused.items()
    )


async def test_a_hit_that_is_not_worth_trying_says_why(
    world: World, searx: Searx, refused: dict[str, str]
) -> None:
    text = "The ferry of Port Aldermere carries exactly 212 passengers and nine cars. " * 5
    pages = [
        world.put("archive", f"/ferry-{n}", f"<main><h1>Ferry {n}</h1><p>{text} {n}</p></main>")
        for n in range(12)
    ]
    video = world.url("news", "/ferry.mp4")
    searx.script("", [video, *pages])
    result = await research(QUESTION, Settings.load(knowledge=False, iterations=1))
    chosen = {hit.url: hit.why for made in events_of(result).of(Selected) for hit in made.hits}
    assert chosen[video] == "Video files are not supported."
    assert "Video files are not supported." in work_product(result)


class Failing:
    """A provider of one's own that fails in one way."""

    describes = "nothing"

    def __init__(self, name: str, error: Exception) -> None:
        self.name, self._error = name, error

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        raise self._error


def all_kinds(of: type[SearchError]) -> list[type[SearchError]]:
    return [of, *(kind for each in of.__subclasses__() for kind in all_kinds(each))]


async def test_every_failure_of_a_search_is_a_problem_shown_as_it_was_recorded(
    refused: dict[str, str],
) -> None:
    failures: list[Exception] = [kind("The shelf is locked.") for kind in all_kinds(SearchError)]
    failures += [RuntimeError("k"), TimeoutError(), OSError(5, "k"), BudgetSpent("searches")]
    down = [Failing(f"shelf{n}", error) for n, error in enumerate(failures)]
    result = await research(QUESTION, Settings.load(knowledge=False), providers=down)
    folder, course = Path(result.session_dir), events_of(result)
    failed = {(p.subject, p.reason) for p in result.problems if p.stage == "search"}
    assert {subject for subject, _ in failed} == {one.name for one in down}
    assert all(reason for _, reason in failed)
    view = ViewModel()
    for event in course.events:
        view.take(event)
    written = read_result(folder)
    assert written
    for told in (
        course.problems,
        written.problems,
        view.problems,
        structure_result(result, {}, 8_000).problems,
        [Problem.model_validate(one) for one in around(result)["spadework"]["problems"]],
    ):
        assert {(p.subject, p.reason) for p in told if p.stage == "search"} == failed
    first = {p.subject: p.reason for p in reversed(result.problems) if p.stage == "search"}
    assert all(said in result.report for said in first.values())
    assert all(said in work_product(result) for _, said in failed)

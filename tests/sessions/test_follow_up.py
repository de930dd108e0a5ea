"""A follow-up uses what the session before has read, and searches only for what that lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.errors import SessionNotFound
from spadework.events import Assessed
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


@pytest.fixture
def online(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


async def followed(
    first: Session, question: str, settings: Settings
) -> tuple[Result, list[Assessed]]:
    session = Session.start(question, settings=settings, follows=first.session_id)
    events = [event async for event in session.events()]
    return events[-1].result, [event for event in events if isinstance(event, Assessed)]


async def test_what_is_known_is_neither_searched_nor_fetched_again(
    model: Model, world: World, searx: Searx, online: Settings
) -> None:
    play(model, TOPICS)
    first = Session.start("What is known about Port Aldermere?", settings=online)
    await first.result()
    searched, asked = len(searx.queries), len(world.requests)
    result, rounds = await followed(first, "And how many people live there?", online)
    assert (len(searx.queries), len(world.requests)) == (searched, asked)
    assert (result.status, result.stopped_by, result.iterations) == ("completed", "coverage", 0)
    assert [event.round for event in rounds] == [0]
    assert result.citations


async def test_the_lead_sees_what_was_answered_before(
    model: Model, world: World, searx: Searx, online: Settings
) -> None:
    play(model, TOPICS)
    first = Session.start("What is known about Port Aldermere?", settings=online)
    done = await first.result()
    model.requests.clear()
    await followed(first, "And how many people live there?", online)
    [plan] = [r for r in model.requests if r.schema_name == "PlanAnswer"]
    _, _, before = plan.user.partition("- What is known about Port Aldermere?\n<page_text>\n")
    answer = before.partition("\n</page_text>")[0]
    assert answer
    assert answer == " ".join(s.text for s in done.document.sections[0].sentences)


async def test_only_the_topic_that_is_missing_is_searched(
    model: Model, searx: Searx, world: World, online: Settings
) -> None:
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    first = Session.start("How many people live in Port Aldermere?", settings=online)
    await first.result()
    before = list(searx.queries)
    said = (
        "<p>The ferry to Port Aldermere leaves at nine, they say.</p>"
        + "<p>Much else is told of it by those who live there.</p>"
    )
    searx.script(
        "ferry",
        [world.put("forum", "/ferry", f"<title>Ferry</title><main><h1>Ferry</h1>{said}</main>")],
    )
    play(
        model,
        {"Inhabitants": "Port Aldermere inhabitants", "Ferry": "Aldermere ferry"},
        keywords={"Ferry": "ferry to Port Aldermere"},
    )
    result, rounds = await followed(first, "And when does the ferry leave?", online)
    assert searx.queries[len(before) :] == ["Aldermere ferry"]
    assert [event.round for event in rounds] == [0, 1]
    assert [(topic.name, topic.covered) for topic in result.topics] == [
        ("Inhabitants", True),
        ("Ferry", True),
    ]


async def test_a_pronoun_means_what_the_question_before_was_about(settings: Settings) -> None:
    first = Session.start("What is the Quillon?", settings=settings)
    await first.result()
    result, _ = await followed(first, "How do I use it?", settings)
    assert "Turn the crank of the Quillon forty times." in result.report
    assert [topic.name for topic in result.topics] == ["How do I use it?"]


async def test_the_pages_lie_in_the_new_sessions_folder_too(settings: Settings) -> None:
    first = Session.start("What is the Quillon?", settings=settings)
    await first.result()
    result, _ = await followed(first, "How do I use it?", settings)
    evidence = [e for topic in result.topics for e in topic.evidence]
    pages = Path(result.session_dir) / "pages"
    assert evidence
    assert all(
        (pages / f"{e.content_hash}.md").read_text(encoding="utf-8")[e.start : e.end] == e.quote
        for e in evidence
    )


async def test_a_follow_up_of_a_follow_up_knows_both(settings: Settings) -> None:
    first = Session.start("What is the Quillon?", settings=settings)
    await first.result()
    second = Session.start("How do I use it?", settings=settings, follows=first.session_id)
    await second.result()
    third = Session.start(
        "How long does its spring last?", settings=settings, follows=second.session_id
    )
    assert third.brief.earlier == ("What is the Quillon?", "How do I use it?")
    assert Session.resume(second.session_id, home=settings.home).brief == second.brief


async def test_pages_whose_texts_are_gone_are_read_anew(settings: Settings) -> None:
    first = Session.start("What is the Quillon?", settings=settings)
    await first.result()
    for page in (first.folder / "pages").glob("*.md"):
        page.unlink()
    result, _ = await followed(first, "How do I use the Quillon?", settings)
    assert "Turn the crank of the Quillon forty times." in result.report


def test_following_an_unknown_session_is_refused(settings: Settings) -> None:
    for name in ("nothing", "../home", ""):
        if name:
            with pytest.raises(SessionNotFound, match="There is no session"):
                Session.start("And then?", settings=settings, follows=name)

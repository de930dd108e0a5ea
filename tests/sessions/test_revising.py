"""A follow-up revises the report: what it does not touch stays, what changes is checked again."""

from __future__ import annotations

import re

from spadework.events import Finished, Notice
from spadework.sessions.replay import replay
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_result
from spadework.settings import Settings
from tests.sessions.followed import (
    ASKED,
    TOPICS,
    ask,
    body,
    changing,
    of,
    shown,
    tell_of_a_ferry,
    text_of,
    unnumbered,
    verdicts,
)
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


async def test_another_form_searches_nothing_and_leaves_the_other_sections_as_they_are(
    model: Model, searx: Searx, world: World, online: Settings
) -> None:
    first = await ask(ASKED, online)
    searched, fetched = len(searx.queries), len(world.requests)
    at = [section.heading for section in body(first)].index("Inhabitants") + 1
    model.script("RevisionAnswer", changing(at))
    model.requests.clear()
    second = await ask("Say the first part for a manager.", online, first.session_id)
    assert (len(searx.queries), len(world.requests)) == (searched, fetched)
    assert [r.schema_name for r in model.requests][:2] == ["TurnAnswer", "RevisionAnswer"]
    before, after = body(first), body(second)
    assert [s.heading for s in after] == [
        "Inhabitants in short" if s.heading == "Inhabitants" else s.heading for s in before
    ]
    for old, new in zip(before, after, strict=True):
        if old.heading == "Inhabitants":
            assert new.sentences == old.sentences[:1]
        else:
            assert new == old
            # A source that is not cited any more leaves its number to the next.
            assert unnumbered(text_of(second, new)) == unnumbered(text_of(first, old))
            assert verdicts(second, new) == verdicts(first, old) != []
    assert second.question == ASKED
    assert (second.revises, second.status, second.iterations) == (first.session_id, "completed", 0)
    kept = read_result(online.home / "sessions" / first.session_id)
    assert kept == first, "the report before stays readable"


async def test_what_a_revision_says_without_proof_is_taken_out(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    entry = first.topics[0].evidence[0]
    told = f"{entry.quote} [{entry.id}]\n\nIt has 77 windmills. [{entry.id}]"
    model.script("RevisionAnswer", changing(2, told))
    second = await ask("Tell it like a tale.", online, first.session_id)
    assert "77 windmills" not in second.report
    assert any("77 windmills" in problem.reason for problem in second.problems)
    changed = next(s for s in body(second) if s.heading == "Inhabitants in short")
    assert [s.evidence_ids for s in changed.sentences] == [(entry.id,)]


async def test_a_section_of_which_nothing_holds_stays_as_it_was(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    id_ = first.topics[0].evidence[0].id
    model.script("RevisionAnswer", changing(2, f"It has 77 windmills. [{id_}]"))
    second = await ask("Tell it like a tale.", online, first.session_id)
    assert body(second) == body(first)
    assert any(p.effect == "The section is unchanged." for p in second.problems)


async def test_what_is_sure_by_its_words_is_asked_of_no_model(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    model.script("RevisionAnswer", changing(2))
    model.requests.clear()
    second = await ask("Shorter, and in German, please!", online, first.session_id)
    assert not of(model, "TurnAnswer")
    [request] = of(model, "RevisionAnswer")
    assert "The asker says now: Shorter, and in German, please!" in request.user
    assert "Write in de," in request.prompt
    assert second.revises


async def test_the_reviser_sees_the_report_with_its_marks_and_what_it_cites(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    model.script("RevisionAnswer", changing(2))
    await ask("shorter", online, first.session_id)
    [request] = of(model, "RevisionAnswer")
    assert [heading for heading, _ in shown(request)] == [s.heading for s in body(first)]
    cited = {i for s in body(first) for one in s.sentences for i in one.evidence_ids}
    assert cited
    for id_ in cited:
        assert any(re.search(rf"\[(?:[^\]]*\W)?{id_}\b", text) for _, text in shown(request))
        assert f"\n[{id_}] " in request.user, "each entry stands whole under its id"


async def test_what_it_lacks_alone_is_searched_and_the_rest_stays(
    model: Model, searx: Searx, world: World, online: Settings
) -> None:
    first = await ask(ASKED, online)
    before = list(searx.queries)
    tell_of_a_ferry(model, searx, world)
    second = await ask("Add what the ferry costs.", online, first.session_id)
    assert searx.queries[len(before) :] == ["Aldermere ferry costs"]
    assert body(second)[:-1] == body(first)
    assert [text_of(second, s) for s in body(first)] == [text_of(first, s) for s in body(first)]
    assert "four crowns" in text_of(second, body(second)[-1])
    assert [topic.name for topic in second.topics] == [*TOPICS, "Costs"]
    ids = [e.id for topic in second.topics for e in topic.evidence]
    assert len(ids) == len(set(ids))


async def test_the_lead_is_told_what_is_kept(model: Model, online: Settings) -> None:
    first = await ask(ASKED, online)
    model.script("TurnAnswer", {"kind": "more", "language": ""})
    model.script("RevisionAnswer", {"title": "", "sections": []})
    model.requests.clear()
    doubt = "I read that the lighthouse was never lit in 1872, was it not 1880?"
    await ask(doubt, online, first.session_id)
    [plan] = of(model, "PlanAnswer")
    assert "The report stays with these sections" in plan.user
    for section in body(first):
        assert f"- {section.heading}" in plan.user
    assert "both sides" in plan.system
    assert "one query looks for support of the report" in plan.system


async def test_where_the_model_fails_the_report_stands_as_it_was(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    model.script("RevisionAnswer", Fault("error"))
    second = await ask("in German", online, first.session_id)
    assert body(second) == body(first)
    assert any(p.effect == "The report is unchanged." for p in second.problems)
    assert second.mode == "model"


async def test_the_budget_holds(model: Model, online: Settings) -> None:
    first = await ask(ASKED, online)
    model.requests.clear()
    second = await ask("in German", online.with_(calls=1, tokens=10), first.session_id)
    assert not model.requests
    assert body(second) == body(first)


async def test_a_revision_is_revised_and_then_followed_by_a_question(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    model.script("RevisionAnswer", changing(2))
    second = await ask("shorter", online, first.session_id)
    model.script("RevisionAnswer", changing(1, heading="In short"))
    third = await ask("longer", online, second.session_id)
    assert body(third)[1:] == body(second)[1:]
    assert third.question == ASKED
    model.script("TurnAnswer", {"kind": "new", "language": ""})
    model.requests.clear()
    await ask("Who keeps it?", online, third.session_id)
    [plan] = of(model, "PlanAnswer")
    assert f"- {ASKED}" in plan.user
    assert "- shorter" not in plan.user


async def test_a_revision_is_replayed_without_what_it_revises(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    model.script("RevisionAnswer", changing(2))
    second = await ask("shorter", online, first.session_id)
    again = await replay(online.home, second.session_id)
    assert again.same


async def test_a_report_of_quotes_gets_shorter_and_longer_by_code(settings: Settings) -> None:
    first = await ask("Tell me about the Quillon", settings)
    count = sum(len(section.sentences) for section in body(first))
    shorter = await ask("Shorter, please", settings, first.session_id)
    assert 0 < sum(len(s.sentences) for s in body(shorter)) < count
    longer = await ask("Can you make it longer?", settings, shorter.session_id)
    assert sum(len(s.sentences) for s in body(longer)) > sum(
        len(s.sentences) for s in body(shorter)
    )
    for topic in longer.topics:
        for entry in topic.evidence:
            page = settings.home / "sessions" / longer.session_id / "pages"
            text = (page / f"{entry.content_hash}.md").read_text(encoding="utf-8")
            assert text[entry.start : entry.end] == entry.quote
    assert {c.verdict for c in longer.citations} == {"supported"}


async def test_a_language_without_a_model_is_refused_in_one_sentence(settings: Settings) -> None:
    first = await ask("What is the Quillon?", settings)
    session = Session.start("auf Deutsch", settings=settings, follows=first.session_id)
    events = [event async for event in session.events()]
    finished = events[-1]
    assert isinstance(finished, Finished)
    second = finished.result
    assert body(second) == body(first)
    said = "Without a language model, only the length of a report can be"
    [notice] = [event.text for event in events if isinstance(event, Notice)]
    assert notice.startswith(said)
    assert notice.endswith("The report is unchanged.")
    assert sum(said in problem.reason for problem in second.problems) == 1
    assert said in second.report


async def test_an_addition_without_a_model_is_a_section_of_its_own(settings: Settings) -> None:
    first = await ask("What is the Quillon?", settings)
    second = await ask("Add how long the spring of the Quillon lasts", settings, first.session_id)
    assert body(second)[: len(body(first))] == body(first)
    assert "about twenty years" in text_of(second, body(second)[-1])


async def test_it_is_said_what_is_done(model: Model, online: Settings) -> None:
    first = await ask(ASKED, online)
    model.script("RevisionAnswer", changing(2))
    session = Session.start("shorter", settings=online, follows=first.session_id)
    events = [event async for event in session.events()]
    assert any(isinstance(e, Notice) and "without searching" in e.text for e in events)
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert (
        "This report revises the one from the previous session. Changed and checked again: 1 of"
        in finished.result.report
    )
    assert "No new search was made." in finished.result.report

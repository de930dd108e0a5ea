"""The editor of deep effort: what it finds weak goes back once, to the writer or to one more round
of search, is verified again, and the review says what became of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.knowledge import knowledge_of
from spadework.tools.knowledge.entry import Which
from spadework.values import Result
from tests.world.brain import evidence, play, written
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.timing import depth
from tests.world.verdicts import in_examination

QUESTION = "How many inhabitants has Port Aldermere, and who was the first keeper of its lamp?"
CENSUS = "The census of Port Aldermere counted 48,212 inhabitants in 2024."
TALK = "Much else is told of that town by those who live there, and little of it was written down."
KEEPER = "The first keeper of the lighthouse of Port Aldermere was called Jory Penhallow."
PAGE = "<title>{0}</title><main><h1>{0}</h1><p>{1}</p><p>{2}</p></main>"
TOPIC = "Inhabitants"
NAMED = {TOPIC: "48,212", "Keeper": "Penhallow"}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A page that proves the one topic, and another that only the editor's query finds."""
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {TOPIC: "Aldermere census"})
    model.script("ReflectionAnswer", {"enough": True, "missing": "", "query": ""})
    searx.script("", [])
    searx.script("census", [world.put("blog", "/census", PAGE.format("Census", CENSUS, TALK))])
    searx.script("keeper of the lamp", [])
    found = world.put("forum", "/keeper", PAGE.format("The keeper", KEEPER, TALK.lower()))
    searx.script("Penhallow", [found])
    return Settings.load(effort="deep", knowledge=False)


def finds(*weaknesses: tuple[str, str, str]) -> dict[str, Any]:
    """An editor's answer: section, weakness and query of each."""
    points = [
        {"section": section, "weakness": said, "query": query, "topic": TOPIC if query else ""}
        for section, said, query in weaknesses
    ]
    return {"verdict": "It answers half of it.", "strengths": [], "weaknesses": points}


def of(model: Model, name: str) -> list[ChatRequest]:
    return [request for request in model.requests if request.schema_name == name]


def review(result: Result) -> str:
    [file] = Path(result.session_dir).glob("editorial_review_*.md")
    return file.read_text()


async def test_a_weak_section_is_written_anew_and_verified_again(
    model: Model, settings: Settings
) -> None:
    model.script("OpinionAnswer", finds((TOPIC, "It does not say when.", "")))
    better = "By the census the town of Port Aldermere had 48,212 inhabitants in 2024."

    def anew(request: ChatRequest) -> dict[str, Any]:
        assert "It does not say when." in request.user
        [(id_, _), *_] = evidence(request)
        return written((better, [id_]), ("It is a fine town to live in.", [id_]))

    model.script("RewrittenAnswer", anew)
    model.script("SectionAnswer", lambda r: written(("48,212 live there.", [evidence(r)[0][0]])))
    result = await research(QUESTION, settings)
    assert better in result.report
    assert "48,212 live there." not in result.report
    checked = [r.user for r in of(model, "VerdictsAnswer") if not in_examination(r)]
    assert [better in prompt for prompt in checked].count(True) == 1
    assert len(of(model, "OpinionAnswer")) == len(of(model, "RewrittenAnswer")) == 1
    assert f"{TOPIC}: It does not say when. {TOPIC}: rewritten." in review(result)


async def test_what_the_question_named_and_the_report_lacks_is_searched_once_more(
    model: Model, searx: Searx, settings: Settings
) -> None:
    lacking = "It does not name the keeper."
    model.script("OpinionAnswer", finds((TOPIC, lacking, "Penhallow lighthouse")))
    model.script(
        "RewrittenAnswer", lambda r: written(*((quote, [id_]) for id_, quote in evidence(r)))
    )
    result = await research(QUESTION, settings)
    assert "Penhallow lighthouse" in searx.queries
    assert (result.iterations, result.status) == (2, "completed")
    assert KEEPER in result.report
    assert CENSUS in result.report
    assessed = [r for r in of(model, "AssessmentAnswer") if lacking in r.prompt]
    assert len(assessed) == 1, "the assessor of the round is told what is missing"
    assert "Searched for “Penhallow lighthouse”" in review(result)


async def test_pages_of_the_round_that_the_editor_asked_for_are_kept_for_later_runs(
    model: Model, world: World, settings: Settings
) -> None:
    model.script("OpinionAnswer", finds((TOPIC, "No keeper is named.", "Penhallow lighthouse")))
    more = "</p><p>In a book of the harbour office it stands that the winter of that year was long."
    for site, path, said in (("blog", "/census", CENSUS), ("forum", "/keeper", KEEPER)):
        world.put(site, path, PAGE.format("Port Aldermere", said, TALK + more))
    settings = settings.with_(knowledge=True)
    result = await research(QUESTION, settings)
    assert "1 new quote. " in review(result)
    store = knowledge_of(settings)
    assert store
    kept = {page.url async for page in store.pages(Which())}
    await store.close()
    assert kept == {world.url("blog", "/census"), world.url("forum", "/keeper")}


async def test_what_does_not_hold_when_it_is_written_anew_leaves_the_section_as_it_was(
    model: Model, settings: Settings
) -> None:
    model.script("OpinionAnswer", finds((TOPIC, "It is dull.", "")))
    model.script("RewrittenAnswer", lambda r: written(("It has 99,999 towers.", ["E1"])))
    result = await research(QUESTION, settings)
    assert CENSUS in result.report
    assert "99,999" not in result.report
    assert "was unsupported or unchanged" in review(result)
    assert {c.sentence for c in result.citations} >= {CENSUS}


async def test_what_is_found_under_the_heading_of_a_section_goes_on_from_it(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    pages = {"/census": CENSUS, "/again": f"It is told that {CENSUS[0].lower()}{CENSUS[1:]}"}
    searx.script(
        "census", [world.put("blog", p, PAGE.format(p, t, TALK)) for p, t in pages.items()]
    )
    play(model, {TOPIC: "Aldermere census", "Keeper": "keeper of the lamp"}, keywords=NAMED)
    about = {"shows": "the town", "form": "prose", "columns": [], "words": 50}
    composed = {**about, "heading": "Keeper", "evidence_ids": ["E1", "E2"]}
    model.script("OutlineAnswer", {"title": "", "answer": "", "sections": [composed]})
    missing = finds(("", "It does not name the keeper.", "Penhallow lighthouse"))
    missing["weaknesses"][0]["topic"] = "Keeper"
    model.script("OpinionAnswer", missing)
    result = await research(QUESTION, settings)
    assert CENSUS in result.report
    assert KEEPER in result.report
    assert result.report.count("## Keeper") == 1


async def test_words_of_pages_stand_only_among_the_evidence(
    model: Model, settings: Settings
) -> None:
    def write(request: ChatRequest) -> dict[str, Any]:
        id_ = evidence(request)[0][0]
        things = ("name", "harbour", "lamp", "census", "book")
        return written(*((f"The town has a {thing}.", [id_]) for thing in things))

    model.script("SectionAnswer", write)
    model.script("OpinionAnswer", finds((TOPIC, "No keeper is named.", "Penhallow lighthouse")))
    model.script("RewrittenAnswer", lambda r: written((KEEPER, [evidence(r)[-1][0]])))
    await research(QUESTION, settings)
    asked = [r.user for r in of(model, "RewrittenAnswer") if "now tells more" in r.user]
    assert asked
    for prompt in asked:
        told = prompt.partition("What the editor found:")[2].partition("Evidence, each")[0]
        assert "Penhallow" not in told
        assert re.search(r"E\d", told)


async def test_what_may_not_be_searched_and_what_has_no_section_is_said(
    model: Model, searx: Searx, settings: Settings
) -> None:
    model.script(
        "OpinionAnswer",
        finds(("", "The keeper is missing.", "Penhallow lamp"), ("No such one", "It is dull.", "")),
    )
    result = await research(QUESTION, settings.with_(iterations=1))
    assert not any("Penhallow" in query for query in searx.queries)
    assert "all allowed rounds are used up" in review(result)
    assert "No section has this heading" in review(result)
    assert not of(model, "RewrittenAnswer")


@pytest.mark.parametrize("query", ["", "Penhallow lighthouse"])
async def test_two_rounds_with_all_that_deep_effort_does_are_sixteen_calls_deep(
    model: Model, world: World, searx: Searx, settings: Settings, query: str
) -> None:
    many = [
        world.put("docs", f"/{n}", PAGE.format(f"Census {n}", f"Census {n}: {CENSUS}", TALK))
        for n in range(6)
    ]
    searx.script("census", many)
    searx.script("reflected", [world.put("news", "/r", PAGE.format("R", CENSUS, TALK.upper()))])
    model.script(
        "ReflectionAnswer", {"enough": False, "missing": "more", "query": "reflected town"}
    )
    model.script("OpinionAnswer", finds((TOPIC, "It does not say more.", query)))
    if not query:  # the second round is one of its own
        play_gap(model)

    def write(request: ChatRequest) -> dict[str, Any]:
        ids = [id_ for id_, _ in evidence(request)]
        told = [
            f"The town has a {thing}." for thing in ("name", "harbour", "lamp", "census", "book")
        ]
        return written(*((text, ids[:1]) for text in (*told, "It has 99,999 towers.")))

    model.script("SectionAnswer", write)
    model.script(
        "RewrittenAnswer", lambda r: written(("The town was counted.", [evidence(r)[0][0]]))
    )
    model.delay = 0.2
    result = await research(QUESTION, settings)
    assert result.iterations == 2
    path = [request for request in model.requests if not in_examination(request)]
    assert {"HitsAnswer", "ReflectionAnswer", "MendingAnswer", "SummaryAnswer"} <= {
        request.schema_name for request in path
    }
    assert {"OpinionAnswer", "RewrittenAnswer"} <= {request.schema_name for request in path}
    assert depth(path) <= 16


def play_gap(model: Model) -> None:
    """An assessor who finds a gap in the first round."""
    from tests.world.brain import assessment
    from tests.world.naming import passages

    def assess(request: ChatRequest) -> dict[str, Any]:
        again = "Already proven" in request.prompt
        quotes = [KEEPER if KEEPER in "".join(passages(request)) else CENSUS]
        return assessment(quotes, gap="" if again else "Penhallow lighthouse")

    model.script("AssessmentAnswer", assess)

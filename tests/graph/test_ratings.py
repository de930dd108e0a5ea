"""What a rating causes: an answered topic whose evidence falls short is searched once more, by the
search that is recommended for it, and its new rating stands beside the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from spadework.agents.evidence import expectation
from spadework.graph import finish
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import assessment, play
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.naming import passages
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about the lighthouse of Port Aldermere?"
LAMP = "The lamp of the lighthouse of Port Aldermere was first lit in 1887 by its first keeper."
MORE = "A lighthouse is a tower with a lamp, and the lighthouse of Port Aldermere is built of oak."
CODE = "light(lamp=True)"
PAGE = "<title>{0}</title>{2}<main><h1>{0}</h1><p>{1}</p></main>"
DATED = '<meta property="article:published_time" content="{0}">'


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A page that answers the question, and one on another site, which only a recommended search
    brings; of a model that calls all that it is shown covered.
    """
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {"Lighthouse": "lighthouse lamp"})
    first = world.put(
        "blog", "/lamp", PAGE.format("The lighthouse", LAMP, DATED.format("2001-02-03"))
    )
    second = world.put(
        "forum",
        "/oak",
        PAGE.format("The tower", f"{MORE}</p><pre><code>{CODE}</code></pre><p>", ""),
    )
    searx.script("", [second])
    searx.script("lamp", [first])
    model.script("AssessmentAnswer", covered())
    monkeypatch.setattr(finish, "JUDGED_UTILITY", 0)
    monkeypatch.setattr(expectation, "SEVERAL", 1)
    return Settings.load(knowledge=False)


def covered(*ratings: float, quotes: Sequence[str] = (LAMP, MORE, CODE)) -> Any:
    """An assessor that calls all covered, with one rating after the other."""
    left = list(ratings)

    def assess(request: ChatRequest) -> dict[str, Any]:
        shown = " ".join(passages(request))
        said = assessment([text for text in quotes if text in shown], covered=True)
        rating = left.pop(0) if left else 8.5
        said["quality"] = dict.fromkeys(said["quality"], rating)
        if rating < 7.5:
            said["gap_queries"] = [
                {"query": "tower of oak", "purpose": "a better source", "priority": "high"}
            ]
        return said

    return assess


def planned(model: Model, question_type: str, **changes: Any) -> None:
    """A plan of one topic for a question of a type."""
    topic = {"name": "Lighthouse", "question": QUESTION, "must_cover": [], "expects": "open"}
    queries = [{"text": "lighthouse lamp", "kind": "original"}]
    freshness = "now" if question_type == "latest" else "any"
    head = {"question_type": question_type, "complexity": "simple", "freshness": freshness}
    head |= {"language": "en", "subjects": ["lighthouse"]}
    topic |= {"queries": queries} | changes
    model.script("PlanAnswer", head | {"topics": [topic]})


async def run(settings: Settings) -> tuple[Result, list[tuple[float | None, float | None]]]:
    """The result of a run, and how its topic was rated before and after each round."""
    rated, result = [], None
    async with aclosing(Session.start(QUESTION, settings=settings).events()) as events:
        async for event in events:
            if event.type == "scored" and event.step == "assess":
                rated.append((event.quality_before, event.quality))
            elif event.type == "finished":
                result = event.result
    assert result is not None
    return result, rated


async def test_what_falls_short_of_nothing_is_not_searched_again(
    model: Model, searx: Searx, settings: Settings
) -> None:
    planned(model, "general")
    result, rated = await run(settings)
    assert (result.iterations, result.stopped_by, rated) == (1, "coverage", [(None, 8.5)])


async def test_quality_below_the_floor_causes_a_round_and_is_compared(
    model: Model, searx: Searx, settings: Settings
) -> None:
    planned(model, "general")
    model.script("AssessmentAnswer", covered(6.0))
    result, rated = await run(settings)
    assert "tower of oak" in searx.queries
    assert rated == [(None, 6.0), (6.0, 8.5)]
    assert (result.iterations, result.stopped_by, result.shortfalls) == (2, "coverage", ())
    assert {e.url.rpartition("/")[2] for e in result.topics[0].evidence} == {"lamp", "oak"}


@pytest.mark.parametrize(
    ("question_type", "kind", "searched", "changes"),
    [
        ("compare", "domains", "lighthouse lamp", {}),
        ("what", "definition", "what is lighthouse definition", {"question": "Which tower?"}),
        ("general", "code", "example code", {"must_cover": ["example script"], "expects": "code"}),
        ("latest", "freshness", "latest", {}),
    ],
)
async def test_what_code_finds_lacking_causes_a_round(
    model: Model,
    searx: Searx,
    settings: Settings,
    question_type: str,
    kind: str,
    searched: str,
    changes: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned(model, question_type, **changes)
    monkeypatch.setattr(expectation, "SEVERAL", 2 if question_type == "compare" else 1)
    result, rated = await run(settings)
    assert result.iterations > 1
    assert len(rated) > 1
    assert any(searched in query for query in searx.queries[1:])
    lacking = {shortfall.kind for shortfall in result.shortfalls}
    assert (kind in lacking) is (kind == "freshness")


async def test_missing_steps_cause_a_round_that_finds_them(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    steps = ["Fill the lamp of the lighthouse.", "Trim the wick of the lamp.", "Light the lamp."]
    listed = "".join(f"<li>{step}</li>" for step in steps)
    text = f"To light the lamp of the lighthouse of oak:</p><ol>{listed}</ol><p>So it burns."
    searx.script("step by step", [world.put("forum", "/steps", PAGE.format("Steps", text, ""))])
    quoted = (LAMP, *steps)
    model.script("AssessmentAnswer", covered(quotes=quoted))
    planned(model, "howto")
    result, rated = await run(settings)
    assert "lighthouse step by step" in searx.queries[1:]
    assert (result.iterations, len(rated), result.shortfalls) == (2, 2, ())
    assert {e.quote for e in result.topics[0].evidence} >= set(steps)


async def test_missing_dates_of_news_cause_a_round_that_finds_them(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    undated = "The lamp of the lighthouse of Port Aldermere burns again, says its keeper of oak."
    dated = "The lamp of the lighthouse of Port Aldermere was lit again on 3 March 2026."
    day = DATED.format("2026-03-03")
    searx.script("news date", [world.put("news", "/lit", PAGE.format("Lit again", dated, day))])
    searx.script("lighthouse lamp", [world.put("blog", "/a", PAGE.format("A", undated, ""))])
    model.script("AssessmentAnswer", covered(quotes=(undated, dated)))
    planned(model, "latest")
    result, rated = await run(settings)
    assert "lighthouse latest news date" in searx.queries[1:]
    assert (result.iterations, len(rated)) == (2, 2)
    assert "dates" not in {shortfall.kind for shortfall in result.shortfalls}
    assert dated in {e.quote for e in result.topics[0].evidence}

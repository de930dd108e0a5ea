"""Statistics over sessions that really ran."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spadework.apps.statistics import lines
from spadework.sessions.session import Session
from spadework.sessions.stats import Statistics, statistics
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


@pytest.fixture
def online(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


async def test_every_quote_is_credited_to_who_found_its_page(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    found = statistics(settings.home)
    [session] = found.sessions
    assert (session.session_id, session.evidence) == (
        result.session_id,
        sum(len(topic.evidence) for topic in result.topics),
    )
    [library] = found.providers
    assert (library.name, library.evidence, library.alone) == (
        "library",
        session.evidence,
        session.evidence,
    )
    assert library.searches == result.usage.searches
    assert max(kind.evidence for kind in found.kinds) <= session.evidence


async def test_a_gap_query_that_helped_shows_as_gain_and_as_kind(
    model: Model, world: World, searx: Searx, online: Settings
) -> None:
    topics = {"Lighthouse": "Port Aldermere lighthouse first lit"}
    play(model, topics, keywords={"Lighthouse": "lamp"}, gaps={"Lighthouse": "who lights the lamp"})
    searx.script("first lit", [])
    text = (
        "The lamp of the lighthouse of Port Aldermere was first lit in 1887. Much else is told of"
        " it, and little of that is written down."
    )
    searx.script(
        "lamp",
        [
            world.put(
                "forum",
                "/keeper",
                f"<title>Keeper</title><main><h1>Keeper</h1><p>{text}</p></main>",
            )
        ],
    )
    await Session.start("What is known about the lighthouse?", settings=online).result()
    found = statistics(online.home)
    assert [(gain.round, gain.evidence) for gain in found.gains] == [(1, 0), (2, 1)]
    assert found.gains[1].before < found.gains[1].after
    assert [(kind.name, kind.evidence, kind.alone) for kind in found.kinds] == [("gap", 1, 1)]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"timings": {"total": 119.0}}, "it took 119 s of the 120 s it was given"),
        (
            {
                "usage": {"searches": 8},
                "problems": [{"stage": "search", "subject": "a", "reason": "down"}],
            },
            "1 of 9 searches failed",
        ),
        (
            {
                "usage": {"model_calls": 9},
                "problems": [{"stage": "lead", "subject": "a", "reason": "It is too long."}],
            },
            "1 of 9 requests",
        ),
    ],
)
async def test_what_should_be_looked_at_is_said(
    settings: Settings, changed: dict[str, Any], said: str
) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    assert statistics(settings.home).alerts == ()
    file = settings.home / "sessions" / result.session_id / "result.json"
    file.write_text(
        json.dumps(json.loads(file.read_text(encoding="utf-8")) | changed), encoding="utf-8"
    )
    [alert] = statistics(settings.home).alerts
    assert alert.startswith(result.session_id)
    assert said in alert


async def test_unfinished_and_broken_sessions_are_left_out(settings: Settings) -> None:
    done = await Session.start("What is the Quillon?", settings=settings).result()
    broken = settings.home / "sessions" / "20200101-000000-abcdef"
    broken.mkdir()
    (broken / "session_metadata.json").write_text("{", encoding="utf-8")
    (broken / "result.json").write_text("{", encoding="utf-8")
    assert [session.session_id for session in statistics(settings.home).sessions] == [
        done.session_id
    ]


async def test_the_tables_name_sessions_providers_and_kinds(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    text = "\n".join(lines(statistics(settings.home)))
    assert result.session_id in text
    assert "library" in text
    assert "original" in text
    assert lines(Statistics()) == ["There are no finished sessions yet."]

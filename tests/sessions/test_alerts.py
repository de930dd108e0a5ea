"""Each alert is raised by a run that crosses its threshold, and not by one that does not."""

from __future__ import annotations

import json

import pytest

from spadework.sessions.metrics.run_history import ENDINGS
from spadework.sessions.metrics.statistics import statistics
from spadework.settings import Settings
from tests.sessions.followed import ASKED, ask
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx


def alerts(settings: Settings) -> list[str]:
    """The alerts, without the ids of their sessions."""
    return [alert.partition(": ")[2] for alert in statistics(settings.home).alerts]


async def test_a_run_in_which_nothing_is_wrong_raises_none(online: Settings) -> None:
    await ask(ASKED, online)
    assert alerts(online) == []


async def test_a_run_that_takes_nearly_all_its_time(model: Model, online: Settings) -> None:
    # Runs before it have ended quickly, so that this one may work nearly to its deadline.
    online.home.mkdir()
    (online.home / "endings.json").write_text(json.dumps(dict.fromkeys(ENDINGS, [0.1] * 9)))
    model.script("SectionAnswer", Fault("hang"))
    model.script("RevisionAnswer", Fault("hang"))
    result = await ask(ASKED, online.with_(minutes=0.2))
    [alert] = [alert for alert in alerts(online) if "s allowed" in alert]
    assert alert == f"took {result.timings['total']:.0f} s of the 12 s allowed."


async def test_model_calls_that_all_fail(model: Model, online: Settings) -> None:
    model.script("", Fault("error"))
    result = await ask(ASKED, online)
    failed = result.usage.model_calls
    assert failed == len(model.requests) == result.usage.model_errors
    assert failed >= 3
    assert alerts(online) == [f"{failed} of {failed} model calls failed."]


@pytest.mark.parametrize(("topics", "fires"), [(1, True), (12, False)])
async def test_one_model_call_that_fails_among_few_and_among_many(
    model: Model, online: Settings, topics: int, fires: bool
) -> None:
    play(model, {f"Part {n}": f"Port Aldermere part {n}" for n in range(topics)})
    once = [Fault("error")]
    model.script(lambda request: bool(once), lambda request: once.pop())
    result = await ask(ASKED, online)
    assert result.usage.model_errors == 1
    assert (result.usage.model_calls < 10) == fires
    expected = [f"1 of {result.usage.model_calls} model calls failed."] if fires else []
    assert [alert for alert in alerts(online) if "model calls" in alert] == expected


@pytest.mark.parametrize(("query", "fires"), [("", True), ("inhabitants", False)])
async def test_searches_that_fail(
    model: Model, searx: Searx, online: Settings, query: str, fires: bool
) -> None:
    play(model, {f"Part {n}": f"Port Aldermere part {n}" for n in range(12)})
    searx.fail("error", query=query, times=None if fires else 1)
    result = await ask(ASKED, online)
    failed, asked = result.usage.search_errors, result.usage.searches
    assert (failed > 0.1 * asked) == fires
    expected = [f"{failed} of {asked} searches failed."] if fires else []
    assert [alert for alert in alerts(online) if "searches failed" in alert] == expected


async def test_requests_that_are_too_long(model: Model, online: Settings) -> None:
    model.script("AssessmentAnswer", Fault("too_long", most=4_000))
    result = await ask(ASKED, online)
    assert result.usage.too_long > 0
    told = f"{result.usage.too_long} of {result.usage.model_calls} requests were too long"
    assert any(alert.startswith(told) for alert in alerts(online))


@pytest.mark.parametrize("fires", [True, False])
async def test_a_follow_up_that_knows_little_of_what_it_needs(
    model: Model, online: Settings, fires: bool
) -> None:
    first = await ask(ASKED, online)
    model.script("TurnAnswer", {"kind": "new", "language": ""})
    if fires:
        topics = {name: f"Quillon {name} today" for name in ("market", "harbour", "ferry")}
        play(model, topics, keywords=dict.fromkeys(topics, "which stands nowhere"))
    result = await ask("And what else is there to be said?", online, first.session_id)
    used = result.usage
    known = f"only {used.cache_hits} of {used.cache_hits + used.searches + used.fetches} searches"
    found = [alert for alert in alerts(online) if alert.startswith("only")]
    assert [alert.startswith(known) for alert in found] == [True] * fires

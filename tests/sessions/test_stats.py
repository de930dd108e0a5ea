"""Statistics over sessions that really ran."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from spadework.apps.commands.statistics import lines
from spadework.sessions.metrics.session_figures import Worth
from spadework.sessions.metrics.statistics import Statistics, statistics
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.sessions.followed import ASKED, ask
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

RECORDED = Path(__file__).parents[1] / "recorded"
LAMP = (
    "The lamp of the lighthouse of Port Aldermere was first lit in 1887. Much else is told of it,"
    " and little of that is written down."
)


def worth(found: Statistics, by: str, name: str) -> Worth:
    return next(w for w in found.brought(by) if w.name == name)


async def test_every_quote_is_credited_to_who_found_its_page(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    found = statistics(settings.home)
    [session] = found.sessions
    quotes = sum(len(topic.evidence) for topic in result.topics)
    cited = {c.evidence_id for c in result.citations}
    assert (session.session_id, session.evidence, session.cited) == (
        *(result.session_id, quotes),
        len(cited),
    )
    [library] = found.brought("provider")
    assert (library.name, library.evidence, library.cited, library.alone) == (
        *("library", quotes),
        *(len(cited), len(cited)),
    )
    assert library.searches == result.usage.searches
    assert max(kind.evidence for kind in found.brought("kind")) <= quotes


async def test_a_gap_query_that_helped_shows_as_gain_kind_and_round(
    model: Model, world: World, searx: Searx, online: Settings
) -> None:
    topics = {"Lighthouse": "Port Aldermere lighthouse first lit"}
    play(model, topics, keywords={"Lighthouse": "lamp"}, gaps={"Lighthouse": "who lights the lamp"})
    searx.script("first lit", [])
    page = f"<title>Keeper</title><main><h1>Keeper</h1><p>{LAMP}</p></main>"
    searx.script("lamp", [world.put("forum", "/keeper", page)])
    await ask("What is known about the lighthouse?", online)
    found = statistics(online.home)
    gains = found.gains()
    assert [(gain.round, gain.evidence, gain.cited) for gain in gains] == [(1, 0, 0), (2, 1, 1)]
    assert gains[0].after == gains[0].before
    assert gains[1].before < gains[1].after
    gap, second = worth(found, "kind", "gap"), worth(found, "round", "round 2")
    assert (gap.evidence, gap.cited, gap.alone) == (1, 1, 1)
    assert (second.evidence, second.cited, second.alone) == (1, 1, 1)
    assert worth(found, "round", "round 1").evidence == 0


async def test_a_round_without_a_new_quote_has_gained_nothing(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    told = result.rounds[-1].model_dump()
    again = told | {
        "number": told["number"] + 1,
        **{"evidence_before": told["evidence_after"], "score_before": told["score"]},
        "score": told["score"] + 0.2,
    }
    file = Path(result.session_dir) / "result.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**data, "rounds": [*data["rounds"], again]}), encoding="utf-8")
    gain = statistics(settings.home).gains()[-1]
    assert (gain.evidence, gain.after - gain.before) == (0, 0.0)


async def test_quotes_that_the_report_does_without_are_not_counted_as_told(
    model: Model, online: Settings
) -> None:
    model.script("OutlineAnswer", _first_only)
    result = await ask(ASKED, online)
    [session] = statistics(online.home).sessions
    assert session.cited == len({c.evidence_id for c in result.citations})
    assert session.cited <= session.evidence
    total = sum(w.cited for w in statistics(online.home).brought("round"))
    assert total == session.cited


def _first_only(request: object) -> dict[str, object]:
    from tests.world.brain import outline

    made = outline(request)  # type: ignore[arg-type]
    for section in made["sections"]:
        section["evidence_ids"] = section["evidence_ids"][:1]
    return made


async def test_unfinished_and_broken_sessions_are_left_out(settings: Settings) -> None:
    done = await Session.start("What is the Quillon?", settings=settings).result()
    broken = settings.home / "sessions" / "20200101-000000-abcdef"
    broken.mkdir()
    (broken / "session_metadata.json").write_text("{", encoding="utf-8")
    (broken / "result.json").write_text("{", encoding="utf-8")
    found = statistics(settings.home)
    assert [session.session_id for session in found.sessions] == [done.session_id]
    [alert] = [alert for alert in found.alerts if "abcdef" in alert]
    assert "session_metadata.json" in alert


@pytest.mark.parametrize("kind", ["with-model", "without-model"])
def test_sessions_of_the_release_before_are_counted(tmp_path: Path, kind: str) -> None:
    (tmp_path / "sessions").mkdir()
    with tarfile.open(RECORDED / f"{kind}.tar.xz") as packed:
        packed.extractall(tmp_path / "sessions", filter="data")
    found = statistics(tmp_path)
    [session] = found.sessions
    assert session.topics
    assert session.evidence
    assert session.cited
    assert "\n".join(lines(found)).count(session.session_id) >= 1


async def test_the_tables_name_sessions_providers_and_kinds(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    text = "\n".join(lines(statistics(settings.home)))
    assert result.session_id in text
    assert "provider: library" in text
    assert "query: original" in text
    assert lines(Statistics()) == ["There are no finished sessions yet."]


async def test_who_wrote_and_who_judged_the_sentences_stands_in_the_table(
    model: Model, online: Settings
) -> None:
    result = await ask(ASKED, online)
    [session] = statistics(online.home).sessions
    cited = len({c.sentence for c in result.citations})
    # The scripted model quotes word for word, which code can judge.
    assert (session.writers, session.judges) == ({"openai:world-model": cited}, {"code": cited})
    row = next(line for line in lines(statistics(online.home)) if session.session_id in line)
    assert row.split()[-4:] == ["openai:world-model", f"({cited})", "code", f"({cited})"]


async def test_sentences_of_code_that_nobody_judged_are_counted_so(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    [session] = statistics(settings.home).sessions
    cited = len({c.sentence for c in result.citations})
    assert session.writers == {"code": cited}
    assert set(session.judges) == {c.judge for c in result.citations} <= {"code", "nobody"}


async def test_all_of_it_is_one_json_object(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    told = json.loads(statistics(settings.home).as_json())
    assert told["sessions"][0]["session_id"] == result.session_id
    assert {"providers", "kinds", "rounds", "gains", "alerts"} <= told.keys()

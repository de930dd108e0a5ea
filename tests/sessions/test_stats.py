"""Statistics over sessions that really ran."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from spadework.apps.commands.statistics import lines
from spadework.sessions.metrics.statistics import Statistics, statistics
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.sessions.followed import ASKED, ask
from tests.world.model import Model

RECORDED = Path(__file__).parents[1] / "recorded"
LAMP = (
    "The lamp of the lighthouse of Port Aldermere was first lit in 1887. Much else is told of it,"
    " and little of that is written down."
)


async def test_quotes_are_counted_and_those_that_the_report_cites(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    found = statistics(settings.home)
    [session] = found.sessions
    quotes = sum(len(topic.evidence) for topic in result.topics)
    cited = {c.evidence_id for c in result.citations}
    assert (session.session_id, session.evidence, session.cited) == (
        *(result.session_id, quotes),
        len(cited),
    )


async def test_quotes_that_the_report_does_without_are_not_counted_as_told(
    model: Model, online: Settings
) -> None:
    model.script("OutlineAnswer", _first_only)
    result = await ask(ASKED, online)
    [session] = statistics(online.home).sessions
    assert session.cited == len({c.evidence_id for c in result.citations})
    assert session.cited <= session.evidence


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


async def test_the_table_names_sessions(settings: Settings) -> None:
    result = await Session.start("What is the Quillon?", settings=settings).result()
    text = "\n".join(lines(statistics(settings.home)))
    assert result.session_id in text
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
    assert told.keys() == {"sessions", "alerts", "alerted"}

"""A report is revised whatever way its pages came, and also where they are gone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from spadework.sessions.replay import replay
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.sessions.followed import ASKED, ask, body, changing, tell_of_a_ferry
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

LAMP = "What is known about the lighthouse of Port Aldermere?"
MATTER = (
    "The lighthouse of Port Aldermere was first lit in 1887, and its lamp is seen from far away.",
    "It was built by Jory Penhallow, who had never seen the sea before he came to the town.",
    "The keeper lives beside the tower, and tends the lamp through every night of the long winter.",
)
JUNK = ("Subscribe to our newsletter", "Follow us", "You may also like", "Sign in") * 20
NOTE = """# Quillon

The Quillon is a spring generator made in Port Aldermere since 1990.

The Quillon weighs forty kilograms and stands on the quay.
"""


def quotes_stand(result: Result) -> bool:
    """Whether every quote stands in its page in the folder of the session."""
    pages = Path(result.session_dir) / "pages"
    entries = [e for topic in result.topics for e in topic.evidence]
    texts = {e.content_hash: (pages / f"{e.content_hash}.md").read_text("utf-8") for e in entries}
    return bool(entries) and all(texts[e.content_hash][e.start : e.end] == e.quote for e in entries)


@pytest.fixture
def cleaned(model: Model, searx: Searx, world: World, online: Settings) -> Settings:
    """The world has one page, which a model cleans."""
    told = "".join(f"<p>{text}</p>" for text in MATTER)
    junk = "".join(f"<p>{text}: Offer {n}</p>" for n, text in enumerate(JUNK))
    page = f"<title>The lighthouse</title><main><h1>The lighthouse</h1>{told}{junk}</main>"
    searx.script("", [world.put("forum", "/lamp", page)])
    play(model, {"Lamp": "lighthouse lamp"})
    model.script("JudgeAnswer", {"score": 0.1})
    model.script("CleanAnswer", {"keep": [1, 2, 3, 4]})
    return online.with_(iterations=1)


async def test_a_report_on_a_page_that_a_model_has_cleaned_is_told_otherwise(
    model: Model, cleaned: Settings
) -> None:
    first = await ask(LAMP, cleaned)
    assert any(request.schema_name == "CleanAnswer" for request in model.requests)
    model.script("RevisionAnswer", changing(1, heading="In short"))
    second = await ask("shorter", cleaned, first.session_id)
    assert [section.heading for section in body(second)] == ["In short"]
    assert quotes_stand(second)
    assert (await replay(cleaned.home, second.session_id)).same


@pytest.mark.full
async def test_a_report_on_a_page_that_a_model_has_cleaned_is_added_to(
    model: Model, cleaned: Settings
) -> None:
    first = await ask(LAMP, cleaned)
    play(model, {"Builder": "lighthouse builder"}, keywords={"Builder": "nobody says this"})
    model.script("JudgeAnswer", {"score": 0.95})
    model.script("TurnAnswer", {"kind": "more", "language": ""})
    model.script("RevisionAnswer", {"title": "", "sections": []})
    second = await ask("Add who built it.", cleaned, first.session_id)
    assert body(second) == body(first)
    assert quotes_stand(second)
    cited = {e.content_hash for topic in first.topics for e in topic.evidence}
    assert [(s.content_hash in cited, s.unused) for s in second.sources] == [(True, "")]


async def test_a_report_on_a_file_that_came_along_is_revised(
    settings: Settings, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text(NOTE, encoding="utf-8")
    asked = "What does the Quillon weigh?"
    first = await Session.start(asked, settings=settings, attachments=[note]).result()
    assert any("note.md" in source.url for source in first.sources), first.sources
    for wanted in ("longer", "shorter", "Add how long the spring of the Quillon lasts"):
        again = await ask(wanted, settings, first.session_id)
        assert again.revises == first.session_id
        assert quotes_stand(again)


async def test_a_page_that_is_gone_proves_nothing_and_the_report_stands(
    model: Model, online: Settings
) -> None:
    first = await ask(ASKED, online)
    for page in (Path(first.session_dir) / "pages").iterdir():
        page.unlink()
    model.script("RevisionAnswer", changing(2))
    second = await ask("shorter", online, first.session_id)
    assert body(second) == body(first)
    assert any("is not in the page it was taken from" in p.reason for p in second.problems)


@pytest.mark.full
async def test_what_was_read_days_ago_still_bears_out_what_stays(
    model: Model, searx: Searx, world: World, online: Settings
) -> None:
    first = await ask(ASKED, online)
    with sqlite3.connect(Path(first.session_dir) / "session.sqlite") as db:
        db.execute(
            "UPDATE journal SET answer = json_set(answer, '$.fetched_at', '2020-01-01T00:00:00Z')"
            " WHERE kind = 'page'"
        )
    tell_of_a_ferry(model, searx, world)
    planned = {"name": "Costs", "question": "What does it cost?", "must_cover": []}
    queries = [{"text": "Aldermere ferry costs", "kind": "original"}]
    head = {"question_type": "fact", "complexity": "simple", "subjects": ["ferry"]}
    model.script(
        "PlanAnswer",
        {**head, "freshness": "now", "language": "en", "topics": [{**planned, "queries": queries}]},
    )
    second = await ask("What does the ferry cost today? Add that.", online, first.session_id)
    assert body(second)[:-1] == body(first)
    assert "four crowns" in second.report
    assert quotes_stand(second)

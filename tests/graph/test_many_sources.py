"""Many sources in deep effort: pages that fit no single window are read in shares side by side, and
each is cited or named with its reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.graph.nodes.distil import SHOWN_TOKENS, WINDOW_TOKENS
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.text.tokens import count
from spadework.values import Result
from tests.world.brain import evidence, written
from tests.world.fault import Fault
from tests.world.library import EMPTY, MATTERS, play_reader, put_library
from tests.world.model import Model

QUESTION = "What is known of the keels and the sails of the boats?"
#: Documents, of which those about the first two matters are looked for.
DOCUMENTS, TOPICS = 100, 2
WINDOW, SHOWN = 3_000, 20_000


@pytest.fixture
def settings(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    put_library(tmp_path / "harbour", DOCUMENTS)
    play_reader(model, TOPICS)
    model.script("SectionAnswer", lambda r: written(*((q, [i]) for i, q in evidence(r))))
    monkeypatch.setitem(SHOWN_TOKENS, "deep", SHOWN)
    monkeypatch.setitem(WINDOW_TOKENS, "deep", WINDOW)
    return Settings.load(library=(tmp_path / "harbour",), search="library", effort="deep")


def review(result: Result) -> str:
    [file] = Path(result.session_dir).glob("editorial_review_*.md")
    return file.read_text()


async def test_each_of_many_sources_is_cited_or_named_with_its_reason(
    model: Model, settings: Settings
) -> None:
    result = await research(QUESTION, settings)
    reading = [r for r in model.requests if r.schema_name == "ReadingAnswer"]
    assert len(reading) > 2
    assert not [r for r in model.requests if r.schema_name == "AssessmentAnswer"]
    pages = [r.user.partition("Passages:")[2] for r in reading]
    assert max(map(count, pages)) < 1.5 * WINDOW, "with the titles of the passages"
    assert sum(map(count, pages)) < 1.5 * SHOWN
    told = " ".join(pages)
    assert all(told.count(f"of boat {n} were renewed") <= 1 for n in range(DOCUMENTS))
    saying = [n for n in range(DOCUMENTS) if n % len(MATTERS) < TOPICS and n % EMPTY < EMPTY - 1]
    looked_for = {f"{MATTERS[n % len(MATTERS)]} of boat {n}" for n in saying}
    assert {s.title for s in result.sources if not s.unused} == looked_for
    said = review(result)
    assert all(f"- {s.title} (" in said for s in result.sources if s.unused)


async def test_what_fits_one_window_is_judged_topic_by_topic(
    model: Model, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tokens in (SHOWN_TOKENS, WINDOW_TOKENS):
        monkeypatch.setitem(tokens, "deep", 24_000)
    await research(QUESTION, settings)
    asked = [request.schema_name for request in model.requests]
    assert asked.count("AssessmentAnswer") == TOPICS
    assert "ReadingAnswer" not in asked


@pytest.mark.full
async def test_where_a_share_cannot_be_read_by_the_model_code_reads_it(
    model: Model, settings: Settings
) -> None:
    model.script("ReadingAnswer", Fault("refusal"))
    model.script("LedgerAnswer", Fault("refusal"))
    result = await research(QUESTION, settings.with_(iterations=1))
    assert result.citations
    assert any("share of the pages" in p.subject for p in result.problems)

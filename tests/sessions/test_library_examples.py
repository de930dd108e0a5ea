"""Examples are questions that a library answers, drawn from what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.sessions.library_index import from_library, related
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.library.library import Library
from tests.apps.web.prepared import large, put

NOTES = {
    "quillon": "# Quillon\n\nThe Quillon is a wind-up radio that plays for 45 minutes after one"
    " winding.\n\n## Overview\n\nIt is a good one.\n",
    "heron": "# Heron architecture\n\nHeron is a service that collects sensor readings from weather"
    " stations and shows them on a dashboard.\n\n## Components\n\n1. Storage.\n",
    "ferry": "# Ferry of Port Aldermere\n\n## How to reach the ferry of Port Aldermere\n\nTo reach"
    " the ferry of Port Aldermere:\n\n1. Take the tram to the old pier.\n2. Walk along the quay.\n",
    "tower": "# Tower\n\n## How to climb the Tower\n\nTo climb the Tower, be fit.\n",
    "liste": "# Einkauf\n\nDer Einkauf ist eine Liste von Dingen, die in der Küche fehlen.\n",
    "empty": "# Nothing\n\nTo be done.\n",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / f"{name}.md").write_text(text)
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


async def test_they_are_answered(settings: Settings) -> None:
    assert await from_library(settings, 4) == (), "the index has yet to be made"
    await (await Library.open(settings.library, home=settings.home)).close()
    found = await from_library(settings, 4)
    assert {"What is Quillon?", "What is Heron?"} <= {*found}
    assert not [question for question in found if "Einkauf" in question or "Tower" in question]
    for question in found:
        result = await research(question, settings)
        assert all(topic.covered for topic in result.topics), question


def test_a_report_is_followed_by_questions_of_what_it_cites_first(tmp_path: Path) -> None:
    result, _ = large("related", sources=50, sections=1, sentences=1)
    page = "# Pier {0}\n\n## How long is pier {0}?\n\nPier {0} is 9 metres long.\n"
    pages = {f"h{n}": page.format(n) for n in range(50)}
    *before, cited = result.sources
    unused = tuple(one.model_copy(update={"unused": "It repeats others."}) for one in before)
    put(tmp_path, result, pages)
    told = result.model_copy(update={"sources": (*unused, cited)})
    assert related(tmp_path / "sessions" / "related", told)[0] == "How long is pier 49?"

"""Questions about somebody's relation to something lead on to a page that only the first page
names.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from spadework.agents.evidence.multi_hop import asks_for_a_relation, multi_hops
from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.judge import assess
from spadework.agents.extractive.lead import plan
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Page, Question
from tests.world.brain import play
from tests.world.model import Model
from tests.world.naming import passages

FILM = (
    "The Salt Road is a 1951 drama film directed by Tilda Marsh. It was filmed in Port Aldermere by"
    " Ringwood Pictures in May 1950."
)
QUESTION = "Where was the director of The Salt Road born?"


def shown(title: str, text: str) -> PassageView:
    page = Page(
        url=f"https://films.org/{title}",
        title=title,
        fetched_at=datetime.now(UTC),
        content_hash=title,
        chars=len(text),
    )
    return PassageView(page=page, start=10, text=text, score=1.0)


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "Who is Tilda Marsh's mother?",
        "What is the capital of the country of Marsh?",
        "Which film has the director who died first, Salt or Pepper?",
    ],
)
def test_a_relation_is_seen(question: str) -> None:
    assert asks_for_a_relation(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is LangGraph and how do I use it?",
        "Compare httpx and requests",
        "how do I retry a request?",
    ],
)
def test_a_plain_question_asks_for_none(question: str) -> None:
    assert not asks_for_a_relation(question)


def test_the_name_beside_what_is_asked_for_comes_first_with_its_sentence() -> None:
    passage = shown("The Salt Road (film)", FILM)
    found = multi_hops(QUESTION, [passage])
    assert found[0].name == "Tilda Marsh"
    start, end = found[0].start - passage.start, found[0].end - passage.start
    assert FILM[start:end] == "The Salt Road is a 1951 drama film directed by Tilda Marsh."
    assert not any(bridge.name.startswith("May") for bridge in found)


def test_a_page_of_what_the_question_names_leads_on_first() -> None:
    birth = shown(
        "Birth",
        "Birth is the arrival of a child. The first book of births was kept by Olaf Kettleby for"
        " the town of Ringwood.",
    )
    found = multi_hops(
        "What is the place of birth of the director of The Salt Road?",
        [birth, shown("The Salt Road", FILM)],
    )
    assert [bridge.name for bridge in found[:2]] == ["Tilda Marsh", "Olaf Kettleby"]


def test_pages_about_something_else_lead_nowhere() -> None:
    assert multi_hops(QUESTION, [shown("The Pepper Road", FILM.replace("Salt", "Pepper"))]) == []


def test_the_first_judgement_of_such_a_topic_asks_for_the_bridge_and_keeps_its_sentence() -> None:
    made = plan(Question(text=QUESTION), [])
    judged = assess(made, made.topics[0], [shown("The Salt Road", FILM)], [])
    assert not judged.covered
    assert judged.recommendations[0].query == "Tilda Marsh"
    assert any("directed by Tilda Marsh" in spot.quote for spot in judged.spots)


def test_what_a_page_is_named_after_in_full_leads_nowhere() -> None:
    asked = "What is the harbour of Port Aldermere?"
    assert asks_for_a_relation(asked)
    said = (
        "The harbour of Port Aldermere is a tidal harbour with two basins. It was dug in 1874 by"
        " the Lantern Company."
    )
    made = plan(Question(text=asked), [])
    judged = assess(made, made.topics[0], [shown("The harbour of Port Aldermere", said)], [])
    assert judged.covered
    assert not judged.recommendations


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """Notes in which only the page of the film names whose page holds the answer."""
    notes = tmp_path / "films"
    notes.mkdir()
    (notes / "salt.md").write_text(f"# The Salt Road\n\n{FILM}\n", encoding="utf-8")
    (notes / "marsh.md").write_text(
        "# Tilda Marsh\n\nTilda Marsh (born 1907 in Oster Bay) was a maker of films and of maps.\n",
        encoding="utf-8",
    )
    for n in range(12):
        (notes / f"other{n}.md").write_text(
            f"# The Road {n}\n\nThe Road {n} is a film about where a director of roads was born.\n",
            encoding="utf-8",
        )
    return notes


async def test_a_run_answers_from_the_second_page(films: Path) -> None:
    settings = Settings.load(search="library", library=(films,), minutes=2, preset="precise")
    result = await Session.start(QUESTION, settings=settings).result()
    assert "Oster Bay" in result.report
    assert "directed by Tilda Marsh" in result.report


async def test_a_model_that_is_content_with_the_first_page_is_shown_the_second(
    films: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    play(model, {"Birthplace": "The Salt Road film 1951"})
    settings = Settings.load(search="library", library=(films,), minutes=2, preset="precise")
    result = await Session.start(QUESTION, settings=settings).result()
    assert result.iterations > 1
    assert any("Oster Bay" in text for each in model.requests for text in passages(each))

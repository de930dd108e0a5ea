"""What is quoted of a definition list has the term that it defines."""

from __future__ import annotations

from datetime import UTC, datetime

from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.judge import assess
from spadework.agents.extractive.lead import plan
from spadework.graph.evidence import pieces
from spadework.tools.text.page_text import PageText
from spadework.values import Page, Question

TEXT = """# Checkpoints of gearbox

Gearbox has three kinds of checkpoint:

**Passive** (0)

Moves as many frames as possible and waits for no reader of the file.

**Restart** (2)

Blocks all the new readers until the whole log was moved into the file.
"""
QUESTION = "What does a passive checkpoint of gearbox do?"
DEFINED = "**Passive** (0)\n\nMoves as many frames as possible and waits for no reader of the file."


def test_a_definition_is_quoted_with_its_term() -> None:
    page = Page(
        url="library://gearbox/checkpoints.md",
        title="gearbox",
        fetched_at=datetime.now(UTC),
        content_hash="gearbox",
        chars=len(TEXT),
    )
    made = plan(Question(text=QUESTION), [])
    shown = PassageView(page=page, start=0, text=TEXT, heading="Checkpoints of gearbox", score=1.0)
    quotes = [spot.quote for spot in assess(made, made.topics[0], [shown], ()).spots]
    assert DEFINED in quotes


def test_a_term_and_its_definition_are_one_entry_of_the_ledger() -> None:
    start = TEXT.index(DEFINED)
    found = pieces(PageText(TEXT), start, start + len(DEFINED))
    assert [TEXT[first:last] for first, last, _ in found] == [DEFINED]


def test_a_definition_and_the_next_term_are_two() -> None:
    start = TEXT.index("Moves")
    quote = TEXT[start : TEXT.index("Blocks")]
    assert len(pieces(PageText(TEXT), start, start + len(quote))) == 2


def test_what_follows_is_one_entry_up_to_code_and_headings() -> None:
    parts = ["*May 3*", "Three are:", "- oil\n- gas", "```\nburn()\n```", "So:", "# End", "Burnt."]
    text = "\n\n".join(parts)
    found = [text[first:last] for first, last, _ in pieces(PageText(text), 0, len(text))]
    assert found == ["*May 3*\n\nThree are:\n\n- oil\n- gas", "burn()", "So:", "Burnt."]

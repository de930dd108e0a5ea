"""What the editor says of a run: how far each topic is answered, and who judged that."""

from __future__ import annotations

import pytest

from spadework.agents.editor import about, not_found
from spadework.values import Coverage, Mode, Plan, Topic

NAMES = ("What is a sluice?", "Prices", "Owners", "Never judged")
PLAN = Plan(question="q", topics=tuple(Topic(name=name, question=name) for name in NAMES))


def test_what_is_not_answered_is_told_as_partly_answered_or_open() -> None:
    coverage = {
        NAMES[0]: Coverage(topic=NAMES[0], covered=True, score=0.9, evidence_ids=("E1",)),
        "Prices": Coverage(
            topic="Prices", covered=False, score=0.4, evidence_ids=("E2",), gaps=("Of which year?",)
        ),
        "Owners": Coverage(topic="Owners", covered=False, score=0, gaps=("Who owns them?",)),
    }
    assert [sentence.text for sentence in not_found(PLAN, coverage, "").sentences] == [
        "“Prices” is partly answered. Of which year?",
        "“Owners” is open. Who owns them?",
        "“Never judged” is open. Nothing was found.",
    ]


@pytest.mark.parametrize(("mode", "told"), [("extractive", True), ("model", False)])
def test_a_report_without_a_model_says_that_none_judged_it(mode: Mode, told: bool) -> None:
    said = about(mode, ["the notes"], (), 1, "coverage").sentences
    assert ("no model judged whether they answer the question" in said[0].text) is told
    assert said[-1].text == "Every topic is answered."

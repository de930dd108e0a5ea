"""What the editor says of a run: how far each topic is answered, and who judged that."""

from __future__ import annotations

from spadework.agents.editor import Made, about, not_found
from spadework.values import Coverage, Plan, Topic

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


def test_a_report_without_a_model_says_that_none_judged_it() -> None:
    said = about(Made("", "", {}), ["the notes"], (), 1, "coverage").sentences
    assert "no model judged whether they answer the question" in said[0].text
    assert said[-1].text == "Every topic is answered."


def test_a_report_of_a_model_says_who_wrote_who_judged_and_what_was_found() -> None:
    made = Made("a-writer", "a-judge", {"supported": 7, "inference": 2})
    [how, *_] = about(made, ["the notes"], (), 1, "coverage").sentences
    assert "a-writer" in how.text
    assert "a-judge" in how.text
    assert "7 sentences are borne out" in how.text
    assert "2 conclude" in how.text
    assert "could not be checked" not in how.text

"""The figures of answers are data first; the text is printed from them."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.answers_figures import as_text, figures


def row(met: list[bool], **changes: Any) -> dict[str, Any]:
    """A question of two facts, asked and answered; `met` are those in the report."""
    facts = {"report": met, "same_length": met[:1] + [False] * (len(met) - 1), "read": [True] * 2}
    facts |= {"plain": [True, True], "plain_same_length": [True, False]}
    told = {"answerable": True, "kind": "fact", "language": "en", "answered": True}
    told |= {"confidence": 0.9, "gold_read": 1.0, "read": 4, "seconds": 1.5, "chars": 800}
    return told | {"facts": facts} | changes


ROWS = [
    row([True, True]),
    row([True, False], kind="list"),
    row([False, False], answerable=False, gold_read=0.0),
    row([False, False], answered=False, confidence=0.1),
]


def test_every_figure_has_a_name() -> None:
    told = figures(ROWS)
    assert (told["questions"], told["unanswerable"], told["gold_read"]) == (4, 1, 1.0)
    assert told["facts"] == pytest.approx(3 / 6)
    assert told["facts_equal_length"] == pytest.approx(2 / 6)
    assert (told["fact.facts"], told["list.facts"]) == (0.5, 0.5)
    assert (told["answered_precision"], told["answered_recall"]) == (pytest.approx(1 / 3), 1.0)
    assert told["unanswerable_answered"] == 1
    assert told["calibration_error"] > 0


def test_the_text_shows_what_the_names_hold() -> None:
    said = as_text(figures(ROWS))
    assert said.startswith("4 questions, 1 of them unanswerable\n")
    assert [line.split()[0] for line in said.splitlines()[3:6]] == ["all", "fact", "list"]
    assert "called answered: 3, of them right 1: precision 0.33" in said
    assert "unanswerable called answered: 1 of 1" in said


def test_there_is_no_precision_where_nothing_is_called_answered() -> None:
    told = figures([row([True, True], answered=False, confidence=None)])
    assert not {"answered_precision", "calibration_error"} & set(told)
    assert "precision -" in as_text(told)


def test_languages_stand_apart_where_there_are_several() -> None:
    told = figures([row([True, True]), row([False, False], language="de")])
    assert (told["facts"], told["de.facts"], told["en.facts"]) == (0.5, 0.0, 1.0)

"""Our own cases for the verifier, and the examination, are whole and keep apart what must be."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[2] / "benchmarks" / "verifier" / "own.jsonl"
LABELS = {"supported", "not supported", "inference or beyond its quotes"}
QUOTE = {"id", "quote", "title", "heading", "date", "before", "after", "url"}


def own() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def examination() -> list[dict[str, Any]]:
    told = files("spadework.agents.llm") / "examination.json"
    questions: list[dict[str, Any]] = json.loads(told.read_text(encoding="utf-8"))
    return questions


def swaps(kinds: list[str]) -> set[str]:
    return {kind.removeprefix("swap ") for kind in kinds if kind.startswith("swap ")}


def test_every_quote_is_told_with_all_that_is_shown() -> None:
    for case in own():
        assert case["section"] and case["evidence"]
        for quote in case["evidence"]:
            assert set(quote) == QUOTE
            assert quote["quote"] and quote["title"] and quote["heading"]
            assert ".example." in quote["url"]
            assert quote["before"] or quote["after"]
        ids = [quote["id"] for quote in case["evidence"]]
        assert len(ids) == len(set(ids))


def test_there_are_as_many_of_each_label_in_either_half() -> None:
    counts = Counter((case["half"], case["label"]) for case in own())
    for half in ("dev", "test"):
        assert [counts[half, label] for label in sorted(LABELS)] == [5, 45, 50]
    assert sum(counts.values()) == 200


def test_no_sentence_stands_twice() -> None:
    told = [case["sentence"] for case in own()] + [one["sentence"] for one in examination()]
    assert len(told) == len(set(told))


def test_the_halves_share_no_document() -> None:
    pages: dict[str, set[str]] = {"dev": set(), "test": set()}
    for case in own():
        pages[case["half"]] |= {quote["url"] for quote in case["evidence"]}
    assert pages["dev"] and pages["test"]
    assert not pages["dev"] & pages["test"]


def test_a_swapped_sentence_tells_what_it_was_and_no_other_does() -> None:
    for case in own():
        swapped = case["label"] == "not supported"
        assert case["kind"].startswith("swap ") == swapped
        assert ("of" in case) == swapped
        if swapped:
            assert case["of"] != case["sentence"]


def test_the_examination_is_half_true_and_short() -> None:
    told = examination()
    assert Counter(one["holds"] for one in told) == {True: 15, False: 15}
    for one in told:
        assert one["sentence"] and 1 <= len(one["quotes"]) <= 2
        assert all(set(quote) == {"quote", "title", "heading"} for quote in one["quotes"])
        assert all(all(quote.values()) for quote in one["quotes"])
        assert one["kind"].startswith("swap ") == (not one["holds"])
    # Four characters a token: the whole of it goes into one call.
    assert len(json.dumps(told, ensure_ascii=False)) / 4 < 3500


def test_the_examination_swaps_as_no_case_of_ours_does() -> None:
    examined = [one["kind"] for one in examination()]
    assert len(swaps(examined)) == 15
    assert not swaps(examined) & swaps([case["kind"] for case in own()])


def test_corrected_labels_name_each_line_once() -> None:
    text = (CASES.parent / "verify-dev-labels.json").read_text(encoding="utf-8")
    corrections = json.loads(text)
    lines = [one["line"] for one in corrections]
    assert lines == sorted(set(lines)) and all(1 <= line <= 189 for line in lines)
    assert all(one["label"] in LABELS and one["why"] for one in corrections)

"""Disagreements between quotes, and copies that are no second source."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.tools.conflicts import conflicts, disagreement
from spadework.tools.facts import stems
from spadework.tools.origins import origins
from spadework.values import Evidence


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Port Aldermere has 48,212 inhabitants.", "Port Aldermere has 61,000 inhabitants.", "number"),
        ("The lighthouse of Aldermere was first lit in 1887.", "The lighthouse in Aldermere was first lit in 1889.", "date"),
        ("Version 2 was released on 17 February 2026.", "Version 2 was released on 24 February 2026.", "date"),
        ("The harbour bridge is open to cars and trams.", "The harbour bridge is not open to cars and trams.", "negation"),
        ("Port Aldermere has 48,212 inhabitants.", "Port Aldermere has 48212 inhabitants.", ""),
        ("Port Aldermere has 48,212 inhabitants.", "The harbour of Aldermere has 12 cranes and two docks.", ""),
        ("It has 12 cranes.", "Founded in 1204, the town was rebuilt after the fire of 1666.", ""),
    ],
)
def test_statements_about_the_same_thing_are_compared(one: str, other: str, kind: str) -> None:
    assert disagreement(one, other) == kind
    assert disagreement(other, one) == kind


def entry(id_: str, quote: str, origin: str) -> Evidence:
    return Evidence(
        id=id_, topic="T", quote=quote, url=origin, start=0, end=len(quote), content_hash=id_, fetched_at=datetime.now(UTC), origin=origin
    )


def test_both_sides_of_a_conflict_keep_their_evidence() -> None:
    [found] = conflicts([entry("E1", "Aldermere has 48,212 inhabitants.", "a"), entry("E2", "Aldermere has 61,000 inhabitants.", "b")])
    assert [side.evidence_ids for side in found.sides] == [("E1",), ("E2",)]


def test_copies_share_an_origin_also_when_a_number_is_changed() -> None:
    text = " ".join(f"The harbour of Aldermere handled {n} thousand tons in its year number {n}, more than ever before." for n in range(30))
    other = " ".join(f"A quite different text about wind-up radios, number {n}, and how they are built by hand." for n in range(30))
    found = origins({"a": text, "b": text.replace("12", "19"), "c": other})
    assert found == {"a": "a", "b": "a", "c": "c"}


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (
            "It was founded in 1204 by salt traders and received its charter in 1288.",
            "The town, founded in 1240, has 61,000 people.",
            "date",
        ),
        ("It was founded in 1204 by salt traders.", "Founded in 1204, the town has 61,000 people.", ""),
        ("It was founded in 1204 by salt traders.", "The charter of the town is of 1288, they say at the harbour.", ""),
    ],
)
def test_another_answer_to_what_was_asked_is_a_disagreement(one: str, other: str, kind: str) -> None:
    found = conflicts([entry("E1", one, "a"), entry("E2", other, "b")], asked=stems("founded"))
    assert [conflict.kind for conflict in found] == ([kind] if kind else [])

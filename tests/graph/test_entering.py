"""What a quote becomes in the ledger, and with which of its entries its claim goes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.agents.evidence.passages import Spot
from spadework.graph.evidence import _enter, split_quote
from spadework.tools.text.page_text import PageText
from spadework.values import Page, Topic

PAGE = Page(
    url="https://a.example/", fetched_at=datetime(2026, 3, 4, tzinfo=UTC), content_hash="h", chars=9
)


@pytest.mark.parametrize(
    ("text", "claim", "entries"),
    [
        (
            "**1.1. Migration**\n\n**1.2. Changes**\n\nRelease date: 2026-05-14",
            "It was released on 2026-05-14.",
            [("**1.1. Migration**\n\n**1.2. Changes**\n\nRelease date: 2026-05-14", True)],
        ),
        (
            "**EXTRA**\n\nSails at night.\n\n**FULL**\n\nSails at noon.",
            "FULL sails at noon.",
            [("**EXTRA**\n\nSails at night.", False), ("**FULL**\n\nSails at noon.", True)],
        ),
        (
            "That is the same as:\n\n```sh\nferry --list\n```",
            "`ferry --list` lists them.",
            [("ferry --list", True)],
        ),
        (
            "Ferries are listed. That is done by:\n\n```sh\nferry --list\n```",
            "Ferries are listed.",
            [("Ferries are listed. That is done by:", True), ("ferry --list", False)],
        ),
    ],
)
def test_a_claim_goes_with_the_entry_that_says_it(
    text: str, claim: str, entries: list[tuple[str, bool]]
) -> None:
    found = split_quote(PageText(text), Spot(PAGE, 0, len(text), text, claim))
    assert [(text[p.start : p.end].strip(), p.claim == claim) for p in found] == entries


def test_rows_that_a_reader_quotes_together_are_one_entry_with_its_claim() -> None:
    names = ("row_number", "rank", "dense_rank", "ntile", "lag")
    rows = [f"| `{name}` () → `bigint` Returns a number for {name}. |" for name in names]
    text = "\n".join(["| Function Description |", "|---|", *rows])
    claim = f"The built-in window functions are {', '.join(names)}."
    start = text.index(rows[0])
    spot = Spot(PAGE, start, len(text), text[start:], claim)
    (entry,) = [p for p in split_quote(PageText(text), spot) if p.kind != "columns"]
    assert text[entry.start : entry.end] == "\n".join(rows)
    assert entry.claim == claim
    alone = split_quote(PageText(text), Spot(PAGE, start, len(text), text[start:]))
    assert [text[p.start : p.end] for p in alone if p.kind != "columns"] == rows


def test_what_a_second_quote_adds_to_the_first_is_an_entry_with_its_claim() -> None:
    text = "The lamp is old. It burns oil. It was lit in 1887."
    first, second, whole = text[:16], text[:30], text
    spots = [Spot(PAGE, 0, len(said), said, claim) for said, claim in ((first, "a"), (second, "b"))]
    spots += [Spot(PAGE, 17, 30, text[17:30], "c"), Spot(PAGE, 0, len(whole), whole, "d")]
    made, lost = _enter(
        Topic(name="t", question="t"), spots, [], {"h": PageText(text)}, lambda: False
    )
    assert not lost
    assert [(e.quote, e.claim) for e in made] == [
        ("The lamp is old.", "a"),
        ("It burns oil.", "b"),
        ("It was lit in 1887.", "d"),
    ]

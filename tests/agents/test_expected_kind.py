"""Code sees whether quotes are of the kind that would answer a topic, whatever a role says of
them.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.agents.evidence.expectation import holds_expected
from spadework.values import Evidence, EvidenceKind, Expected, Topic


def quoted(quote: str, kind: EvidenceKind = "text", title: str = "") -> Evidence:
    return Evidence(
        id="E1",
        topic="T",
        quote=quote,
        url="https://a.example/x",
        start=0,
        end=len(quote),
        content_hash="0",
        fetched_at=datetime.now(UTC),
        origin="https://a.example/x",
        title=title,
        kind=kind,
    )


def topic(question: str, expects: Expected, *must_cover: str) -> Topic:
    return Topic(name="T", question=question, expects=expects, must_cover=must_cover)


@pytest.mark.parametrize(
    ("expects", "question", "answer", "no_answer"),
    [
        (
            "name",
            "Who invented the Quillon?",
            "The Quillon was invented by Ada Brant.",
            "The Quillon was invented long ago.",
        ),
        (
            "number",
            "How many cranes has the port?",
            "The port has twelve cranes.",
            "The port has many cranes.",
        ),
        (
            "number",
            "How many of the 40 cranes are red?",
            "7 cranes of the port are red.",
            "Of the 40 cranes some are red.",
        ),
        (
            "number",
            "Wie viele Kräne hat der Hafen?",
            "Der Hafen hat zwölf Kräne.",
            "Der Hafen hat viele Kräne.",
        ),
        (
            "date",
            "When was the port founded?",
            "It was founded in 1204.",
            "It was founded by fishermen.",
        ),
        ("date", "When is the feast?", "The feast is on 3 May.", "The feast is in the harbour."),
        ("definition", "What is a spade?", "A spade is a tool.", "Our shop is closed on Sunday."),
        (
            "items",
            "What colours are there?",
            "There are red, blue and green ones.",
            "There are many of them.",
        ),
        ("code", "Which command winds it?", "Run `ferrolite wind` once.", "Wind it once."),
    ],
)
def test_a_quote_that_lacks_what_is_expected_answers_nothing(
    expects: Expected, question: str, answer: str, no_answer: str
) -> None:
    asked = topic(question, expects)
    assert holds_expected(asked, [quoted(no_answer), quoted(answer)])
    assert not holds_expected(asked, [quoted(no_answer)])


@pytest.mark.parametrize(
    ("expects", "kinds", "no_answer"),
    [
        ("steps", ["item", "item"], "item"),
        ("steps", ["code"], "text"),
        ("items", ["item", "item"], "item"),
        ("items", ["row", "row"], "row"),
        ("rows", ["row"], "text"),
        ("rows", ["text", "text", "text"], "text"),
        ("code", ["code"], "text"),
    ],
)
def test_some_answers_are_told_by_the_kind_of_their_quotes(
    expects: Expected, kinds: list[EvidenceKind], no_answer: EvidenceKind
) -> None:
    asked = topic("What about the crank?", expects)
    assert holds_expected(asked, [quoted("the crank", kind) for kind in kinds])
    assert not holds_expected(asked, [quoted("the crank", no_answer)])


def test_the_names_of_columns_are_no_answer() -> None:
    asked = topic("How many people live there?", "number")
    assert not holds_expected(asked, [quoted("| Town | People in 2024 |", "columns")])


def test_a_comparison_shows_both_sides_in_a_quote_or_the_title_of_its_page() -> None:
    asked = topic("Compare ferrolite and gearbox", "both sides", "ferrolite", "gearbox")
    one = quoted("Ferrolite winds springs.")
    assert holds_expected(asked, [one, quoted("It turns wheels.", title="Gearbox")])
    assert not holds_expected(asked, [one, quoted("It turns wheels.", title="Wheels")])


def test_two_claims_are_sides_by_what_tells_them_apart() -> None:
    asked = topic(
        "Did the bridge open in June?",
        "both sides",
        "the bridge opened to traffic in June",
        "the bridge opens to traffic in October",
    )
    june, october = quoted("In June cars crossed it again."), quoted("October is still the date.")
    assert holds_expected(asked, [june, october])
    assert not holds_expected(asked, [june])


def test_sides_are_looked_for_where_they_are_two_in_the_language_of_the_pages() -> None:
    page = quoted("A dump is larger than a copy of the files of the server.")
    aspects = topic("How do a dump and a copy differ?", "both sides", "time", "size", "versions")
    assert holds_expected(aspects, [page])
    german = topic("Wie unterscheiden sich die Sicherungen?", "both sides", "Dump", "Dateikopie")
    assert holds_expected(german, [page])


def test_a_name_is_not_missed_in_a_script_without_capitals() -> None:
    assert holds_expected(topic("谁发明了电话?", "name"), [quoted("电话是由贝尔发明的。")])


def test_code_has_no_say_where_anything_may_answer() -> None:
    assert holds_expected(topic("Why is the sky blue?", "open"), [quoted("Light is scattered.")])

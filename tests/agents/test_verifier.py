"""The verifier: what a sentence states must stand in its quotes, and the quote in its page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.agents.verifier import quoted, verdict, verify
from spadework.values import Evidence, Section, Sentence

QUOTE = "Port Aldermere has 48,212 inhabitants and was founded in 1204 by Queen Isaura."


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        (QUOTE, "supported"),
        ("Queen Isaura founded Port Aldermere in 1204.", "supported"),
        ("Port Aldermere has 48212 inhabitants.", "supported"),
        ("Port Aldermere has 48,213 inhabitants.", "unsupported"),
        ("Port Aldermere was founded in 1205.", "unsupported"),
        ("Port Aldermere was founded in 1204 by King Otto.", "unsupported"),
        ("Port Aldermere was not founded in 1204 by Queen Isaura.", "contradicted"),
        ("Whales sing at night beneath the ice.", "unsupported"),
    ],
)
def test_numbers_dates_names_and_denials_are_checked(sentence: str, found: str) -> None:
    assert verdict(Sentence(text=sentence, evidence_ids=("E1",)), [QUOTE]) == found


def test_an_assertion_of_what_is_denied_contradicts() -> None:
    quote = "The harbour bridge is not open to heavy lorries."
    assert (
        verdict(
            Sentence(text="The harbour bridge is open to heavy lorries.", evidence_ids=("E1",)),
            [quote],
        )
        == "contradicted"
    )


def test_code_must_be_exact() -> None:
    code = "radio = Radio(turns=30)\nradio.play()"
    assert verdict(Sentence(text="radio.play()", code=True), [code]) == "supported"
    assert verdict(Sentence(text="radio.stop()", code=True), [code]) == "unsupported"


def evidence(quote: str, page: str) -> Evidence:
    start = page.find(quote)
    return Evidence(
        id="E1",
        topic="T",
        quote=quote,
        url="u",
        start=start,
        end=start + len(quote),
        content_hash="h",
        fetched_at=datetime.now(UTC),
        origin="u",
    )


def test_a_failed_sentence_is_replaced_by_its_quote_and_kept_in_the_problems() -> None:
    section = Section(
        heading="Town",
        sentences=(Sentence(text="Port Aldermere has 7 inhabitants.", evidence_ids=("E1", "E9")),),
    )
    found = verify([section], {"E1": evidence(QUOTE, QUOTE)}, {"h": QUOTE})
    assert [s.text for s in found.sections[0].sentences] == [QUOTE]
    assert "7 inhabitants" in found.problems[0].reason


def test_of_a_long_quote_the_sentences_nearest_to_what_failed_stand_in_for_it_without_the_marks_of_their_list() -> (  # noqa: E501
    None
):
    quote = (
        "- One file. A town is one file.\n- Many lamps. Any number of lamps may burn at once.\n- No"
        " bridge. The bridge fell in 1911."
    )
    section = Section(
        heading="Town",
        sentences=(
            Sentence(text="Up to 900 lamps burn at once in the town.", evidence_ids=("E1",)),
        ),
    )
    found = verify([section], {"E1": evidence(quote, quote)}, {"h": quote})
    assert [s.text for s in found.sections[0].sentences] == [
        "A town is one file. Any number of lamps may burn at once."
    ]


def test_an_item_of_several_sentences_is_quoted_whole() -> None:
    quote = "Intuitive: Great support. Completion everywhere. Less time reading. Fewer faults."
    assert quoted(evidence(quote, quote)).text == quote


def test_a_quote_that_is_not_in_its_page_is_not_used() -> None:
    section = Section(heading="Town", sentences=(Sentence(text=QUOTE, evidence_ids=("E1",)),))
    found = verify([section], {"E1": evidence(QUOTE, QUOTE)}, {"h": "Another text."})
    assert not found.sections
    assert "does not stand" in found.problems[0].reason


def test_what_one_section_said_another_repeats_only_where_it_has_little_else() -> None:
    own = [
        f"Its harbour has {count} cranes."
        for count in ("twelve", "thirteen", "fourteen", "fifteen")
    ]
    page = " ".join([QUOTE, *own])
    ledger = {
        f"E{n}": evidence(text, page).model_copy(update={"id": f"E{n}"})
        for n, text in enumerate([QUOTE, *own], 1)
    }
    town, *harbour = (Sentence(text=e.quote, evidence_ids=(e.id,)) for e in ledger.values())
    asked = [("Town", (town,)), ("Port", (town, *harbour)), ("Again", (town, harbour[0]))]
    found = verify(
        [Section(heading=name, sentences=sentences) for name, sentences in asked],
        ledger,
        {"h": page},
    )
    assert [(s.heading, s.sentences) for s in found.sections] == [
        ("Town", (town,)),
        ("Port", tuple(harbour)),
        ("Again", (town, harbour[0])),
    ]


TOWNS = "| Town | Inhabitants | Area |\n|---|---|---|\n| Kelling | 3,100 | 5 |"
SHIPS = "| Ship | Crew | Built |\n|---|---|---|\n| Isaura | 14 | old |"
TABLES = f"{TOWNS}\n\n{SHIPS}"


def of_table(id_: str, quote: str, **changes: object) -> Evidence:
    return evidence(quote, TABLES).model_copy(update={"id": id_, **changes})


def test_a_row_is_told_with_the_names_of_columns_of_its_own_table_only() -> None:
    names = of_table("E1", "| Town | Inhabitants | Area |", kind="columns")
    town = of_table("E2", "| Kelling | 3,100 | 5 |", kind="row", columns=names.start)
    ship = of_table("E3", "| Isaura | 14 | old |", kind="row", columns=TABLES.index("| Ship"))
    wrong = tuple(
        Sentence(text="There are 99 of them.", evidence_ids=(id_,)) for id_ in ("E2", "E3")
    )
    found = verify(
        [Section(heading="All", sentences=wrong)],
        {e.id: e for e in (names, town, ship)},
        {"h": TABLES},
    )
    assert [s.text for s in found.sections[0].sentences] == [
        "Town: Kelling; Inhabitants: 3,100; Area: 5.",
        "Isaura: 14, old.",
    ]


def test_a_failed_sentence_that_cites_only_names_of_columns_is_removed() -> None:
    names = of_table("E1", "| Town | Inhabitants | Area |", kind="columns")
    section = Section(
        heading="Towns",
        sentences=(Sentence(text="Kelling has 99 inhabitants.", evidence_ids=("E1",)),),
    )
    found = verify([section], {"E1": names}, {"h": TABLES})
    assert not found.sections
    assert found.problems[0].effect == "It was removed."

"""Sentences that are the words of an entry, and the sections that are left after verifying."""

from __future__ import annotations

from datetime import UTC, datetime

from spadework.agents.extractive.writer import columns_of, own_words, quote_entry
from spadework.graph.nodes.verify import Check, still_proven, verify_ledger, verify_sections
from spadework.values import Coverage, Evidence, Part, Plan, Section, Sentence, Topic

QUOTE = "Port Aldermere has 48,212 inhabitants and was founded in 1204 by Queen Isaura."


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


async def held(
    sections: list[Section], ledger: list[Evidence], page: str
) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """What is left of sections without a model that judges, and the problems."""
    topics = tuple(Topic(name=s.heading, question=s.heading) for s in sections)
    material, lost = verify_ledger(ledger, {"h": page}, "A question")
    found = await verify_sections(
        None, Plan(question="A question", topics=topics), sections, material, Check(1)
    )
    told = [(s.heading, [one.text for one in s.sentences]) for s in found.sections]
    return told, [f"{p.reason} {p.effect}" for p in (*lost, *found.problems)]


async def test_what_is_refused_is_taken_out_and_named() -> None:
    said = ("Port Aldermere has 7 inhabitants.", QUOTE)
    sentences = tuple(Sentence(text=text, evidence_ids=("E1", "E9")) for text in said)
    told, problems = await held(
        [Section(heading="Town", sentences=sentences)], [evidence(QUOTE, QUOTE)], QUOTE
    )
    assert told == [("Town", [QUOTE])]
    assert "7 inhabitants" in problems[0]
    assert "removed" in problems[0]


async def test_what_stands_before_a_line_that_led_to_refused_code_stays() -> None:
    lead = Sentence(
        text="Queen Isaura founded it in 1204. This counts its people:", evidence_ids=("E1",)
    )
    code = Sentence(text="count --all", evidence_ids=("E1",), code=True)
    parts = (Part(form="paragraph", takes=(1,)), Part(form="code", takes=(1,)))
    section = Section(heading="Town", sentences=(lead, code), parts=parts)
    told, problems = await held([section], [evidence(QUOTE, QUOTE)], QUOTE)
    assert told == [("Town", ["Queen Isaura founded it in 1204."])]
    assert len(problems) == 1


def test_an_item_of_several_sentences_is_quoted_whole() -> None:
    quote = "Intuitive: Great support. Completion everywhere. Less time reading. Fewer faults."
    assert quote_entry(evidence(quote, quote)).text == quote


async def test_a_quote_that_is_not_in_its_page_is_not_used() -> None:
    section = Section(heading="Town", sentences=(Sentence(text=QUOTE, evidence_ids=("E1",)),))
    told, problems = await held([section], [evidence(QUOTE, QUOTE)], "Another text.")
    assert not any(said for _, said in told)
    assert "is not in the page it was taken from" in problems[0]


def test_a_topic_is_open_once_nothing_that_proves_it_stands() -> None:
    ledger = [
        evidence(QUOTE, QUOTE),
        evidence(QUOTE, QUOTE).model_copy(update={"id": "E2", "start": 5}),
    ]
    material, lost = verify_ledger(ledger, {"h": QUOTE}, "")
    assert [problem.subject for problem in lost] == ["E2"]
    before = {
        "A": Coverage(topic="A", covered=True, score=0.9, evidence_ids=("E1", "E2")),
        "B": Coverage(topic="B", covered=True, score=0.9, evidence_ids=("E2",)),
    }
    after = still_proven(before, material)
    assert (after["A"].state, after["A"].evidence_ids) == ("answered", ("E1",))
    assert (after["B"].state, after["B"].score) == ("open", 0.0)


async def test_what_one_section_said_another_repeats_only_where_it_has_little_else() -> None:
    own = [
        f"Its harbour has {count} cranes."
        for count in ("twelve", "thirteen", "fourteen", "fifteen")
    ]
    page = " ".join([QUOTE, *own])
    ledger = [
        evidence(text, page).model_copy(update={"id": f"E{n}"})
        for n, text in enumerate([QUOTE, *own], 1)
    ]
    town, *harbour = (Sentence(text=e.quote, evidence_ids=(e.id,)) for e in ledger)
    asked = [("Town", (town,)), ("Port", (town, *harbour)), ("Again", (town, harbour[0]))]
    told, _ = await held(
        [Section(heading=name, sentences=sentences) for name, sentences in asked], ledger, page
    )
    assert told == [("Town", [QUOTE]), ("Port", own), ("Again", [QUOTE, own[0]])]


TOWNS = "| Town | Inhabitants | Area |\n|---|---|---|\n| Kelling | 3,100 | 5 |"
SHIPS = "| Ship | Crew | Built |\n|---|---|---|\n| Isaura | 14 | old |"
TABLES = f"{TOWNS}\n\n{SHIPS}"


def of_table(id_: str, quote: str, **changes: object) -> Evidence:
    return evidence(quote, TABLES).model_copy(update={"id": id_, **changes})


def test_a_row_is_told_with_the_names_of_columns_of_its_own_table_only() -> None:
    names = of_table("E1", "| Town | Inhabitants | Area |", kind="columns")
    town = of_table("E2", "| Kelling | 3,100 | 5 |", kind="row", columns=names.start)
    ship = of_table("E3", "| Isaura | 14 | old |", kind="row", columns=TABLES.index("| Ship"))
    told = [quote_entry(e, columns_of(e, (names, town, ship))) for e in (town, ship)]
    assert [(s.text, s.evidence_ids) for s in told] == [
        ("Town: Kelling; Inhabitants: 3,100; Area: 5.", ("E2", "E1")),
        ("Isaura: 14, old.", ("E3",)),
    ]


def test_only_whole_sentences_of_one_quote_are_its_own_words() -> None:
    said = "Critics claim that it costs 15 dollars. It is red. It has a handle."
    entries = [
        evidence(said, f"{said} A lamp burns."),
        evidence("A lamp burns.", f"{said} A lamp burns."),
    ]
    for text in (
        "it costs 15 dollars.",
        "5 dollars.",
        "It is red. It has",
        "It has a handle. A lamp burns.",
        "Critics claim that it costs 15 dollars. It has a handle.",
    ):
        assert not own_words(Sentence(text=text, evidence_ids=("E1",)), entries)
    for text in ("It is red.", "It is red. It has a handle.", said, "A lamp burns."):
        assert own_words(Sentence(text=text, evidence_ids=("E1",)), entries)


async def test_cells_that_an_earlier_table_has_stay_in_the_next() -> None:
    page = "Yes. No."
    parts = (Part(form="table", columns=("Plan", "Free"), takes=(1, 1)),)
    entry = evidence("Yes.", page)
    cells = (Sentence(text="A"), Sentence(text="Yes.", evidence_ids=("E1",)))
    sections = [Section(heading=name, sentences=cells, parts=parts) for name in ("One", "Two")]
    told, _ = await held(sections, [entry], page)
    assert told == [("One", ["A", "Yes."]), ("Two", ["A", "Yes."])]

"""How a section is set: as its writer chose, and as code does where none chose."""

from __future__ import annotations

import pytest

from spadework.agents.extractive.writer import quote_entry
from spadework.tools.export.section_blocks import Set, blocks
from spadework.tools.text.language import Phrases
from spadework.values import Evidence, Part, Section, Sentence
from tests.tools.export.results import evidence
from tests.tools.export.rich import rich

ONE, TWO, THREE = (Sentence(text=text) for text in ("One.", "Two.", "Three."))
CODE = Sentence(text="x = 1", code=True)


def test_code_amid_a_paragraph_is_a_block_and_amid_a_list_stays_in_its_item() -> None:
    section = Section(
        heading="T",
        sentences=(ONE, CODE, TWO, ONE, CODE, TWO, THREE),
        parts=(Part(form="paragraph", takes=(3,)), Part(form="steps", takes=(3, 1))),
    )
    assert blocks(section, {}) == [
        Set("paragraph", ((ONE,),)),
        Set("code", ((CODE,),)),
        Set("paragraph", ((TWO,),)),
        Set("steps", ((ONE, CODE, TWO), (THREE,))),
    ]


def test_what_only_leads_to_the_next_has_no_mark_where_that_cites_the_same_pages() -> None:
    ledger = {e.id: e for topic in rich().topics for e in topic.evidence}
    first, other = (e.id for e in list({e.url: e for e in ledger.values()}.values())[:2])
    for cited, marked in ((first, ()), (other, (first,))):
        lead = Sentence(text="**So:**", evidence_ids=(first,))
        said = Sentence(text="One.", evidence_ids=(cited,))
        section = Section(
            heading="T", sentences=(lead, said), parts=(Part(form="paragraph", takes=(1, 1)),)
        )
        drawn = [one for block in blocks(section, ledger) for item in block.items for one in item]
        assert [one.evidence_ids for one in drawn] == [marked, (cited,)]


def marks(section: Section, ledger: dict[str, Evidence]) -> list[tuple[str, ...]]:
    drawn = [one for block in blocks(section, ledger) for item in block.items for one in item]
    return [one.evidence_ids for one in drawn]


def test_a_paragraph_or_row_of_one_page_has_one_mark_with_all_its_evidence() -> None:
    ledger = {e.id: e for topic in rich().topics for e in topic.evidence}
    pages = {e.url: e.id for e in ledger.values()}
    first, other = list(pages.values())[:2]
    again = next(e.id for e in ledger.values() if e.url == ledger[first].url)
    said = tuple(Sentence(text="So.", evidence_ids=(id_,)) for id_ in (first, again))
    away = Sentence(text="Not so.", evidence_ids=(other,))
    both = tuple(dict.fromkeys((first, again)))
    one = Section(heading="T", sentences=said, parts=(Part(form="paragraph", takes=(2,)),))
    assert marks(one, ledger) == [(), both]
    mixed = Section(
        heading="T", sentences=(*said, away), parts=(Part(form="paragraph", takes=(3,)),)
    )
    assert marks(mixed, ledger) == [(first,), (again,), (other,)]
    rows = Part(form="table", columns=("A", "B"), takes=(1, 1, 1, 1))
    table = Section(heading="T", sentences=(*said, said[0], away), parts=(rows,))
    assert marks(table, ledger) == [(), both, (first,), (other,)]


def test_each_item_of_a_list_has_its_mark() -> None:
    ledger = {e.id: e for topic in rich().topics for e in topic.evidence}
    first = next(iter(ledger))
    lead, one = (Sentence(text=text, evidence_ids=(first,)) for text in ("So:", "One."))
    parts = (Part(form="paragraph", takes=(1,)), Part(form="bullets", takes=(1, 1)))
    section = Section(heading="T", sentences=(lead, one, one), parts=parts)
    assert marks(section, ledger) == [(), (first,), (first,)]


def test_what_leads_to_a_table_or_to_code_is_marked_as_they_are() -> None:
    ledger = {e.id: e for topic in rich().topics for e in topic.evidence}
    first = next(iter(ledger))
    lead = Sentence(text="So:", evidence_ids=(first,))
    name, cell = Sentence(text="A"), Sentence(text="One.", evidence_ids=(first,))
    parts = (
        Part(form="paragraph", takes=(1,)),
        Part(form="table", columns=("", "B"), takes=(1, 1)),
    )
    table = Section(heading="T", sentences=(lead, name, cell), parts=parts)
    assert marks(table, ledger) == [(), (), (first,)]
    code = CODE.model_copy(update={"evidence_ids": (first,)})
    bare = Sentence(text="So:")
    told = Section(heading="T", sentences=(bare, code), parts=(Part(form="paragraph", takes=(2,)),))
    assert marks(told, ledger) == [(first,), ()]


def test_what_no_source_bears_out_does_not_share_a_mark() -> None:
    ledger = {e.id: e for topic in rich().topics for e in topic.evidence}
    bare, cited = ONE, Sentence(text="Two.", evidence_ids=("E1",))
    section = Section(
        heading="T", sentences=(cited, bare, cited), parts=(Part(form="paragraph", takes=(3,)),)
    )
    assert marks(section, ledger) == [("E1",), (), ("E1",)]


def test_a_paragraph_has_the_sign_of_a_conclusion_once() -> None:
    ledger = {e.id: e for topic in rich().topics for e in topic.evidence}
    first, other = (e.id for e in list({e.url: e for e in ledger.values()}.values())[:2])
    said = tuple(Sentence(text="So.", evidence_ids=(id_,), inferred=True) for id_ in (first, other))
    section = Section(heading="T", sentences=said, parts=(Part(form="paragraph", takes=(2,)),))
    [block] = blocks(section, ledger)
    assert [one.inferred for one in block.items[0]] == [False, True]


def test_no_sentence_is_lost_that_no_part_takes() -> None:
    taken = Section(heading="T", sentences=(ONE, TWO), parts=(Part(form="heading", takes=(1,)),))
    assert [block.items for block in blocks(taken, {})] == [(), ((ONE,),), ((TWO,),)]


def test_the_rows_of_a_table_are_as_wide_as_its_columns() -> None:
    table = Set("table", ((ONE,), (TWO,), (THREE,)), columns=("A", "B"))
    assert table.rows == [((ONE,), (TWO,)), ((THREE,), ())]


def test_where_no_writer_chose_pages_make_paragraphs_and_items_make_lists() -> None:
    chosen = rich()
    ledger = {e.id: e for topic in chosen.topics for e in topic.evidence}
    said = [Sentence(text=id_, evidence_ids=(id_,)) for id_ in ("E1", "E1", "E2", "E3", "E3")]
    section = Section(heading="T", sentences=(*said, CODE))
    assert [(block.form, len(block.items)) for block in blocks(section, ledger)] == [
        ("paragraph", 1),
        ("paragraph", 1),
        ("bullets", 2),
        ("code", 1),
    ]


def test_a_documented_call_has_a_paragraph_of_its_own() -> None:
    ledger = {e.id: e for topic in rich().topics for e in topic.evidence}
    texts = ("One.", "`soup.stir(times)` Stir it.", "`soup.eat()` Eat it.", "Two.", "Three.")
    said = tuple(Sentence(text=text, evidence_ids=("E1",)) for text in texts)
    drawn = blocks(Section(heading="T", sentences=said), ledger)
    assert [len(block.items[0]) for block in drawn] == [1, 1, 1, 2]


def _quoted(id_: str, quote: str, kind: str) -> Evidence:
    return evidence(id_, "T", quote, "https://www.example.org/guide", kind)


def _step(n: int, of: int = 0, step: int | None = None) -> Evidence:
    return _quoted(f"S{n}", f"Step {n}.", "item").model_copy(
        update={"step": step or n, "steps": of}
    )


@pytest.mark.parametrize(
    ("entries", "forms"),
    [
        ((_step(1), _step(2), _step(3)), [("steps", (1, 1, 1))]),
        ((_step(1), _step(2)), [("steps", (1, 1))]),
        ((_step(1), _quoted("C", "run", "code"), _step(2)), [("steps", (2, 1))]),
        ((_step(2), _step(3)), [("bullets", (1, 1))]),
        ((_step(1), _step(3)), [("bullets", (1, 1))]),
        ((_step(1),), [("bullets", (1,))]),
        ((_step(1), _quoted("I", "Other.", "item"), _step(2)), [("bullets", (1, 1, 1))]),
        ((_step(1), _step(2), _step(3, of=9)), [("steps", (1, 1)), ("bullets", (1,))]),
        (
            (_step(1), _step(2), _step(3, 9, step=1), _step(4, 9, step=2)),
            [("steps", (1, 1)), ("steps", (1, 1))],
        ),
    ],
)
def test_quotes_are_numbered_only_where_their_numbers_are_those_of_the_page(
    entries: tuple[Evidence, ...], forms: list[tuple[str, tuple[int, ...]]]
) -> None:
    section = Section(heading="T", sentences=tuple(map(quote_entry, entries)))
    drawn = blocks(section, {e.id: e for e in entries})
    assert [(block.form, tuple(map(len, block.items))) for block in drawn] == forms


def test_below_a_writers_table_stands_what_its_empty_cells_mean() -> None:
    def below(*takes: int, quoted: bool = False) -> list[str]:
        part = Part(form="table", columns=("Feature", "A", "B"), takes=takes, quoted=quoted)
        section = Section(heading="T", sentences=(ONE,) * sum(takes), parts=(part,))
        drawn = blocks(section, {}, Phrases("de"))[1:]
        return [one.text for block in drawn for item in block.items for one in item]

    [told] = below(1, 1, 0)
    assert told == Phrases("de")("nothing_said", sign="–")
    assert below(1, 1, 1) == []
    assert below(1, 1, 0, quoted=True) == [], "the cell is empty in the page, too"

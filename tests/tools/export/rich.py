"""A report with every form that sentences are set in, and what any format gives back of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import html

from spadework.apps.view_model import ViewModel
from spadework.apps.web.page_templates import part
from spadework.apps.web.report_view import show_report
from spadework.settings import Settings
from spadework.tools.export.section_blocks import INFERRED, Set, blocks
from spadework.tools.text.markdown import plain
from spadework.values import CoveredTopic, Evidence, Part, Report, Result, Section, Sentence
from tests.tools.export.results import BLOG, NOTES, PUBLISHED, WEB, evidence, result, source

#: Code with what could end a fence, a list, a cell or a line.
SCRIPT = 'while true; do\n\n\techo "a | b" `date`\n```\n1. - no list\n    deep\n~~~\n'
LINE = "ls -l | grep `whoami`"

#: What is read of a block: its form, its heading or columns, and item by item the words of its
#: sentences with their marks, and its code.
Piece = tuple[str, str]
Read = tuple[str, tuple[str, ...], tuple[tuple[Piece, ...], ...]]


@dataclass(frozen=True)
class Words:
    """The words from outside that the rich report is made of."""

    said: str = "A **sluice** is a gate for [water](http://x.org/w)."
    cell: str = "up to `a | b` | or 40 \\| 50"
    heading: str = "How it is *used*"
    column: str = "Width | metres"
    title: str = "The guide to sluices"
    around: str = "Before it there is a _sentence_."
    address: str = WEB


def rich(given: Words | None = None) -> Result:
    """A report with every form, also within one another."""
    own = given or Words()
    ledger = _ledger(own)
    document = Report(
        title="What is a sluice?",
        sections=(
            Section(
                heading="Summary",
                kind="summary",
                sentences=(
                    Sentence(text=own.said, evidence_ids=("E1",)),
                    Sentence(
                        text="So it holds water.", evidence_ids=("E1", "E2", "E3"), inferred=True
                    ),
                ),
                parts=(Part(form="paragraph", takes=(2,)),),
            ),
            _use(own),
            Section(
                heading="About this report",
                kind="limits",
                sentences=(Sentence(text="Searched: the notes. Pages read: 14."),),
            ),
        ),
    )
    topics = (CoveredTopic(name="Use", covered=True, score=1.0, evidence=ledger),)
    sources = (
        source(1, own.address, own.title, "example.org", PUBLISHED),
        source(2, BLOG, "A blog", "example.net"),
        source(3, NOTES, "", "notes"),
    )
    return result(document, topics, sources)


def _ledger(own: Words) -> tuple[Evidence, ...]:
    first = evidence(
        "E1", "Use", "A **sluice** is a gate for water.", own.address, published=PUBLISHED
    )
    around = {"heading": own.heading, "before": own.around, "after": own.around}
    return (
        Evidence.model_validate(
            first.model_dump() | around | {"title": own.title, "author": "Ada & Bo"}
        ),
        evidence("E2", "Use", "There are 40 sluices.", BLOG),
        evidence("E3", "Use", "Turn the `crank`.", NOTES, "item"),
        evidence("E4", "Use", SCRIPT, BLOG, "code"),
    )


def _use(own: Words) -> Section:
    script = Sentence(text=SCRIPT, evidence_ids=("E4",), code=True, language="sh")
    line = Sentence(text=LINE, evidence_ids=("E4",), code=True)
    said = Sentence(text=own.said, evidence_ids=("E1", "E2"))
    cell = Sentence(text=own.cell, evidence_ids=("E2",))
    turn = Sentence(text="Turn the `crank`.", evidence_ids=("E3",))
    concluded = Sentence(text=own.cell, evidence_ids=("E2", "E3"), inferred=True)
    held: tuple[tuple[Part, tuple[Sentence, ...]], ...] = (
        (Part(form="heading", text=own.heading), ()),
        (Part(form="paragraph", takes=(4,)), (said, turn, script, turn)),
        (Part(form="bullets", takes=(1, 2)), (said, turn, cell)),
        (Part(form="bullets", takes=(1,)), (turn,)),
        (Part(form="steps", takes=(3, 1, 2)), (turn, script, said, turn, script, line)),
        (Part(form="steps", takes=(1,) * 11), (turn,) * 11),
        (
            Part(form="table", columns=("Name", own.column, ""), takes=(1, 2, 0, 1, 1, 1)),
            (turn, cell, said, concluded, line, cell),
        ),
        (Part(form="table", columns=(own.column,), takes=(1,)), (turn,)),
        (Part(form="heading", text="Code"), ()),
        (Part(form="code", takes=(1,)), (script,)),
    )
    return Section(
        heading="Use",
        sentences=tuple(sentence for _, sentences in held for sentence in sentences),
        parts=tuple(part for part, _ in held),
    )


def expected(of: Result, *, code_in_cells: bool = True) -> list[Read]:
    """What must be read of a result, section by section; code in cells as words where a format has
    no blocks there.
    """
    ledger = {e.id: e for topic in of.topics for e in topic.evidence}
    numbers = {source.url: source.n for source in of.sources}

    def marks(sentence: Sentence) -> str:
        pages = dict.fromkeys(numbers[ledger[i].url] for i in sentence.evidence_ids)
        return "".join(f"[{n}]" for n in pages) + (INFERRED if sentence.inferred else "")

    def item(sentences: tuple[Sentence, ...], blocks: bool) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        for one in sentences:
            if one.code and not blocks:
                pieces.append(("words", one.text))
            elif one.code:
                pieces.append(("code", one.text.strip("\n")))
            words = ("" if one.code else squeezed(plain(one.text))) + marks(one)
            pieces.append(("words", words))
        return joined(pieces)

    def read(block: Set) -> Read:
        names = (block.text,) if block.form == "heading" else block.columns
        items = [one for row in block.rows for one in row] if names else block.items
        kept = code_in_cells or block.form != "table"
        empty = (("words", "–"),) if block.form == "table" else ()
        read = tuple(item(one, kept) or empty for one in items)
        return block.form, tuple(squeezed(plain(name)) for name in names), read

    found: list[Read] = []
    for section in of.document.sections:
        heading = of.document.heading_of(section)
        found += [("section", (squeezed(plain(heading)),), ())] if heading else []
        found += map(read, blocks(section, ledger))
    return found


def on_the_page(of: Result) -> html.HtmlElement:
    """The report as the web page of its session shows it."""
    text = part(
        "_report.html",
        id=of.session_id,
        picture=ViewModel(result=of),
        view=show_report(of, ()),
        settings=Settings.load(),
        models=[("", "world:model")],
        csrf="",
        seen={"changes": True},
    )
    return html.document_fromstring(text)


def joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Pieces with neighbouring words as one, without white space."""
    made: list[Piece] = []
    for kind, text in pieces:
        if kind == "words" and made and made[-1][0] == "words":
            made[-1] = ("words", made[-1][1] + squeezed(text))
        elif kind == "code" or squeezed(text):
            made.append((kind, text if kind == "code" else squeezed(text)))
    return tuple(made)


def behind_code(found: list[Read]) -> list[Read]:
    """Paragraphs that are nothing but the marks of the code before them, joined to it."""
    made: list[Read] = []
    for block in found:
        words = "".join(text for item in block[2] for _, text in item)
        if made and made[-1][0] == "code" and re.fullmatch(rf"(\[\d+\])+{INFERRED}?", words):
            made[-1] = ("code", (), (made[-1][2][0] + block[2][0],))
        else:
            made.append(block)
    return made


def squeezed(text: str) -> str:
    """Text without white space."""
    return "".join(text.split())

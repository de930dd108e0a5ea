"""Word files as Markdown: headings, paragraphs, lists, tables, listings and links in order,
followed by notes, comments and charts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from spadework.tools.extract.extracted import Draft, Extracted
from spadework.tools.extract.markdown_writer import Grid, blocks, plain, table, write_heading
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.office.docx_styles import Style, Styles
from spadework.tools.extract.office.drawings import drawing_text
from spadework.tools.extract.office.equations import linear
from spadework.tools.extract.office.package import Package
from spadework.tools.extract.xml import Element, attribute, child, number, tag

#: Elements not shown: deleted and moved text, settings, alternative drawings.
_UNSEEN = frozenset(
    {"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", "tblPr", "trPr", "tcPr"}
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "p": " "}
#: Parts with notes, by the element that refers to them.
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
#: Maximum columns that a cell spans.
_MOST_SPAN = 63
_BREAKS_LINK = re.compile(r"[\s()<>]")


def extract_docx(package: Package, url: str) -> Extracted:
    """Return a Word file's text, title, author and date. Raises Unreadable if damaged, TooLarge."""
    document = _Document(package)
    document.read(package.needed(package.main))
    markdown = blocks([document.draft.markdown(), *document.notes(), *document.comments()])
    return package.about(markdown, title=document.title, kind="docx")


class _Document:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._links = package.relations(package.main)
        self._styles = Styles(package.tree("word/styles.xml"), package.tree("word/numbering.xml"))
        #: The last number of each list at each depth.
        self._numbers: dict[str, list[int]] = {}
        #: The notes referred to, by part and id, in text order.
        self._called: dict[tuple[str, str], int] = {}
        self.draft = Draft()
        self.title = ""

    def read(self, around: Element) -> None:
        """Add every block in an element to the draft, through any wrappers."""
        for element in around:
            name = tag(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name not in _UNSEEN:
                self.read(element)

    def notes(self) -> Iterator[str]:
        """Yield the notes referred to, each after its mark; they may refer to others."""
        found = {
            (name, attribute(note, "id")): note
            for name in _NOTES.values()
            for note in self._part(name)
        }
        told = 0
        while told < len(self._called):
            key = [*self._called][told]
            told += 1
            text = " ".join(self._text(found[key]).split()) if key in found else ""
            yield plain(f"[{told}] {text}") if text else ""

    def comments(self) -> Iterator[str]:
        """Yield the comments on the text with their authors."""
        for comment in self._part("comments"):
            author = attribute(comment, "author")
            text = " ".join(self._text(comment).split())
            yield plain(f"Comment{author and f' ({author})'}: {text}") if text else ""

    def _part(self, name: str) -> Element:
        folder = self._package.main.rpartition("/")[0]
        found = self._package.tree(f"{folder}/{name}.xml")
        return found if found is not None else ()

    def _paragraph(self, element: Element) -> None:
        style = self._styles.of(element)
        text = self._text(element)
        if style.code:
            self.draft.code(text.replace("\xa0", " "))
        elif text.strip():
            self._prose(text.strip(), style)
        self._write_drawings(element)

    def _write_drawings(self, around: Element) -> None:
        for drawn in _outermost(around, "txbxContent", "chart", "relIds"):
            if tag(drawn) == "txbxContent":
                self.read(drawn)
            else:
                self.draft.add(drawing_text(self._package, self._links, drawn))

    def _prose(self, text: str, style: Style) -> None:
        if style.level:
            self.title = self.title or " ".join(text.split())
            self.draft.add(write_heading(text, style.level))
        elif style.listed:
            number = self._next_number(style)
            self.draft.item(plain(text), style.depth, numbered=style.numbered, number=number)
        else:
            self.draft.add(plain(text))

    def _next_number(self, style: Style) -> int:
        """Return the number of an item: a list continues after an interruption."""
        numbers = self._numbers.setdefault(style.list_id, [])
        del numbers[style.depth + 1 :]
        numbers += [0] * (style.depth + 1 - len(numbers))
        numbers[style.depth] += 1
        return numbers[style.depth]

    def _text(self, element: Element) -> str:
        """Return the visible text in an element with its links, without text boxes."""
        return joined(self._pieces(element, Place.LEVEL))

    def _pieces(self, element: Element, place: Place) -> Iterator[tuple[str, Place]]:
        for part in element:
            name = tag(part)
            if name == "t":
                yield part.text or "", place
            elif name == "hyperlink":
                yield self._link(part), place
            elif name in ("oMath", "oMathPara"):
                yield linear(part), Place.LEVEL
            elif name in _NOTES:
                key = _NOTES[name], attribute(part, "id")
                yield str(self._called.setdefault(key, len(self._called) + 1)), Place.NOTE
            elif name == "r":
                yield from self._pieces(part, self._styles.place(part))
            elif name not in _UNSEEN and name != "txbxContent":
                if sign := _SIGNS.get(name):
                    yield sign, place
                yield from self._pieces(part, place)

    def _link(self, element: Element) -> str:
        text = self._text(element)
        target = self._links.get(attribute(element, "id"), "")
        leads = target.startswith(("http://", "https://")) and not _BREAKS_LINK.search(target)
        return f"[{text}]({target})" if leads and text.strip() not in ("", target) else text

    def _table(self, element: Element) -> None:
        rows = [list(_cells(row)) for row in element if tag(row) == "tr"]
        if [len(row) for row in rows] == [1]:  # a frame around text
            self.read(rows[0][0])
            return
        grid = Grid()
        self.draft.add(table([grid.row(map(self._cell, row)) for row in rows]))
        for cell in chain.from_iterable(rows):
            self._write_drawings(cell)

    def _cell(self, cell: Element) -> tuple[str | None, int, int]:
        settings = child(cell, "tcPr")
        span = number(attribute(child(settings, "gridSpan"), "val"), most=_MOST_SPAN)
        merged = child(settings, "vMerge")
        goes_on = merged is not None and attribute(merged, "val", "continue") == "continue"
        return None if goes_on else " ".join(self._text(cell).split()), max(span, 1), 1


def _outermost(around: Element, *names: str) -> Iterator[Element]:
    for element in around:
        if tag(element) in names:
            yield element
        elif tag(element) != "Fallback":
            yield from _outermost(element, *names)


def _cells(row: Element) -> Iterator[Element]:
    for element in row:
        if tag(element) == "tc":
            yield element
        elif tag(element) in ("sdt", "sdtContent", "customXml"):
            yield from _cells(element)

"""OpenDocument files as Markdown: texts, spreadsheets and presentations by one walk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, repeat

from spadework.errors import Unreadable
from spadework.tools.extract.draft import Draft
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.package import Package, described
from spadework.tools.extract.writing import MAX_COLUMNS, blocks, heading, plain, sheet_table
from spadework.tools.extract.xml_tree import Element, attribute, below, child, number, tag, text

_UNSEEN = frozenset((
    "annotation", "tracked-changes", "note", "forms", "sequence-decls", "table-of-content",
    "bibliography", "notes",
))  # fmt: skip
_CODE = "Preformatted"
_MAX_SPACES = 100
#: The size of a sheet, further than which nothing is repeated.
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384


def extract_odt(package: Package, url: str) -> Extracted:
    """An OpenDocument file's text, title, author, date. Raises Unreadable if damaged or locked."""
    root = package.needed("content.xml")
    body = child(root, "body")
    if body is None:
        raise Unreadable(f"The {package.what} has no body.")
    document = _Document(root)
    document.read(body)
    about = package.tree("meta.xml")
    told = below(about, "title", "creator", "date", "language") if about is not None else ()
    said = {tag(part): text(part) for part in told}
    return described(said, document.draft.markdown(), title=document.title, kind="odt")


class _Document:
    def __init__(self, root: Element) -> None:
        styles = {
            attribute(style, "name"): attribute(style, "parent-style-name")
            for style in below(root, "style")
        }
        self._code = {name for name, parent in styles.items() if _CODE in parent or _CODE in name}
        self._numbered = {
            attribute(style, "name")
            for style in below(root, "list-style")
            if tag(next(iter(style), style)) == "list-level-style-number"
        }
        self.draft = Draft()
        self.title = ""

    def read(self, around: Element) -> None:
        for element in around:
            name = tag(element)
            if name == "h":
                self._heading(element)
            elif name == "p":
                self._paragraph(element)
            elif name == "list":
                self._list(element)
            elif name == "table":
                self._table(element)
            elif name not in _UNSEEN:
                self.read(element)

    def _heading(self, element: Element) -> None:
        self.title = self.title or " ".join(_text(element).split())
        self.draft.add(heading(_text(element), number(attribute(element, "outline-level"), most=6)))

    def _paragraph(self, element: Element) -> None:
        style = attribute(element, "style-name")
        if style in self._code or _CODE in style:
            self.draft.code(_text(element))
        elif style == "Title":
            self._heading(element)
        else:
            self.draft.add(plain(_text(element)))
            for box in below(element, "text-box"):
                self.read(box)

    def _list(self, element: Element, depth: int = 0, *, numbered: bool = False) -> None:
        if style := attribute(element, "style-name"):
            numbered = style in self._numbered
        for entry in element:
            if child(entry, "h") is not None:  # numbered headings are items of lists
                self.read(entry)
                continue
            for inner, parts in groupby(entry, lambda part: tag(part) == "list"):
                if inner:
                    for part in parts:
                        self._list(part, depth + 1, numbered=numbered)
                elif any(said := [plain(_text(part)) for part in parts]):
                    self.draft.item(blocks(said), depth, numbered=numbered)
        if depth == 0:
            self.draft.add("")

    def _table(self, element: Element) -> None:
        name = attribute(element, "name")
        if name and tag(element.getparent()) == "spreadsheet":
            self.draft.add(heading(name, 2))
        self.draft.add(sheet_table(_rows(element)))


def _rows(element: Element) -> Iterator[list[str]]:
    """The rows of a table; filled ones repeated as they are, within the size of a sheet."""
    for row in below(element, "table-row"):
        cells = _cells(row)
        times = number(attribute(row, "number-rows-repeated", "1"), most=_MOST_ROWS)
        yield from repeat(cells, times if any(cells) else 1)


def _cells(row: Element) -> list[str]:
    """The cells of a row; an empty one is repeated only as often as it can be shown."""
    found: list[str] = []
    for cell in row:
        if tag(cell) in ("table-cell", "covered-table-cell") and len(found) < _MOST_COLUMNS:
            shown = " ".join(" ".join(map(_text, cell)).split())
            found += [shown] * number(
                attribute(cell, "number-columns-repeated", "1"),
                most=_MOST_COLUMNS if shown else MAX_COLUMNS,
            )
    return found


def _text(element: Element) -> str:
    return "".join(_pieces(element))


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for part in element:
        match tag(part):
            case "s":
                yield " " * number(attribute(part, "c", "1"), most=_MAX_SPACES)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case name if name not in _UNSEEN and name != "text-box":
                yield from _pieces(part)
        yield part.tail or ""

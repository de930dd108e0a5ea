"""Convert OpenDocument texts, spreadsheets and presentations to Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, repeat

from spadework.errors import Unreadable
from spadework.tools.extract.extracted import Draft, Extracted
from spadework.tools.extract.markdown_writer import (
    MAX_COLUMNS,
    blocks,
    plain,
    quote,
    sheet_table,
    write_heading,
)
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.office.equations import linear
from spadework.tools.extract.office.package import Package, described
from spadework.tools.extract.xml import Element, attribute, below, child, number, tag, text

_UNSEEN = frozenset((
    "tracked-changes", "forms", "sequence-decls", "table-of-content", "bibliography",
))  # fmt: skip
_CODE = "Preformatted"
_MAX_SPACES = 100
#: Maximum rows and columns of a sheet, including repeated ones.
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384


def extract_odt(package: Package, url: str) -> Extracted:
    """Return an OpenDocument file's text and metadata. Raises Unreadable or TooLarge."""
    root = package.needed("content.xml")
    body = child(root, "body")
    if body is None:
        raise Unreadable(f"The {package.what} has no body.")
    document = _Document(package, root)
    document.read(body)
    about = package.tree("meta.xml")
    markdown = blocks([document.draft.markdown(), *document.notes, package.unread()])
    told = below(about, "title", "creator", "date", "language") if about is not None else ()
    said = {tag(part): text(part) for part in told}
    return described(said, markdown, title=document.title, kind="odt")


class _Document:
    def __init__(self, package: Package, root: Element) -> None:
        self._package = package
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
        named = package.tree("styles.xml")
        self._placed = {
            attribute(style, "name"): place
            for part in (root, named)
            if part is not None
            for style in below(part, "style")
            if (place := _place(child(style, "text-properties"))) != Place.LEVEL
        }
        self.draft = Draft()
        #: Notes and comments in text order. Only notes are numbered.
        self.notes: list[str] = []
        self._numbered_notes = 0
        self.title = ""

    def read(self, around: Element) -> None:
        for element in around:
            name = tag(element)
            if name == "h":
                self._add_heading(element)
            elif name == "p":
                self._paragraph(element)
            elif name == "list":
                self._list(element)
            elif name == "table":
                self._table(element)
            elif name == "notes":
                self.draft.add(quote(blocks([plain(said) for said in self._paragraphs(element)])))
            elif name == "annotation":
                self._note(element)
            elif name == "object":
                self.draft.add(self._object(element))
            elif name not in _UNSEEN:
                self.read(element)

    def _add_heading(self, element: Element) -> None:
        self.title = self.title or " ".join(self._text(element).split())
        self.draft.add(
            write_heading(self._text(element), number(attribute(element, "outline-level"), most=6))
        )

    def _paragraph(self, element: Element) -> None:
        style = attribute(element, "style-name")
        if style in self._code or _CODE in style:
            self.draft.code(self._text(element))
        elif style == "Title":
            self._add_heading(element)
        else:
            self.draft.add(plain(self._text(element)))
        for drawn in _outermost(element, "text-box", "object"):
            if tag(drawn) == "text-box":
                self.read(drawn)
            elif not self._formula(drawn):
                self.draft.add(self._object(drawn))

    def _list(self, element: Element, depth: int = 0, *, numbered: bool = False) -> None:
        if style := attribute(element, "style-name"):
            numbered = style in self._numbered
        for entry in element:
            if child(entry, "h") is not None:  # Numbered headings are stored as list items.
                self.read(entry)
                continue
            for inner, parts in groupby(entry, lambda part: tag(part) == "list"):
                if inner:
                    for part in parts:
                        self._list(part, depth + 1, numbered=numbered)
                elif any(said := [plain(self._text(part)) for part in parts]):
                    self.draft.item(blocks(said), depth, numbered=numbered)
        if depth == 0:
            self.draft.add("")

    def _table(self, element: Element) -> None:
        name = attribute(element, "name")
        if name and tag(element.getparent()) == "spreadsheet":
            self.draft.add(write_heading(name, 2))
        self.draft.add(sheet_table(self._rows(element)))

    def _rows(self, element: Element) -> Iterator[list[str]]:
        merged: dict[int, tuple[int, str]] = {}
        for row in below(element, "table-row"):
            cells = self._cells(row, merged)
            times = number(attribute(row, "number-rows-repeated", "1"), most=_MOST_ROWS)
            yield from repeat(cells, times if any(cells) else 1)
            for column, (rows, shown) in [*merged.items()]:
                merged[column] = (rows - 1, shown) if rows > 1 else (0, "")

    def _cells(self, row: Element, merged: dict[int, tuple[int, str]]) -> list[str]:
        """Return a row's cells. `merged` maps columns of merged cells to (rows left, text)."""
        found: list[str] = []
        filled = 0
        for cell in row:
            if len(found) >= _MOST_COLUMNS or tag(cell) not in ("table-cell", "covered-table-cell"):
                continue
            covered = tag(cell) == "covered-table-cell"
            shown = " ".join(" ".join(self._paragraphs(cell)).split())
            times = number(
                attribute(cell, "number-columns-repeated", "1"),
                most=_MOST_COLUMNS if shown else MAX_COLUMNS,
            )
            filled += times * bool(shown and not covered)
            if not covered and shown:
                across, down = (
                    number(attribute(cell, f"number-{name}-spanned", "1"), most=MAX_COLUMNS)
                    for name in ("columns", "rows")
                )
                for column in range(len(found), len(found) + across):
                    merged[column] = (down, shown)
            for _ in range(times):
                found.append(merged.get(len(found), (0, ""))[1] if covered else shown)
        return _merge_equal(found) if filled == 1 and len({*found} - {""}) == 1 else found

    def _paragraphs(self, around: Element) -> list[str]:
        return [self._text(part) for part in _outermost(around, "p", "h")]

    def _text(self, element: Element) -> str:
        return joined(self._pieces(element, Place.LEVEL))

    def _pieces(self, element: Element, place: Place) -> Iterator[tuple[str, Place]]:
        yield element.text or "", place
        for part in element:
            match tag(part):
                case "s":
                    yield " " * number(attribute(part, "c", "1"), most=_MAX_SPACES), place
                case "tab":
                    yield "\t", place
                case "line-break":
                    yield "\n", place
                case "note" | "annotation":
                    yield self._note(part), Place.NOTE
                case "object":
                    yield self._formula(part), Place.LEVEL
                case name if name not in _UNSEEN and name != "text-box":
                    own = self._placed.get(attribute(part, "style-name"), place)
                    yield from self._pieces(part, own)
            yield part.tail or "", place

    def _note(self, element: Element) -> str:
        author = next((text(part) for part in element if tag(part) == "creator"), "")
        said = " ".join(" ".join(self._paragraphs(element)).split())
        if tag(element) == "annotation":
            comment = f"Comment{author and f' ({author})'}: {said}"
            self.notes.append(plain(comment) if said else "")
            return ""
        self._numbered_notes += 1
        self.notes.append(plain(f"[{self._numbered_notes}] {said}"))
        return str(self._numbered_notes)

    def _object(self, element: Element) -> str:
        root = self._embedded(element)
        if root is None or tag(root) == "math":
            return self._formula(element)
        title = next(below(root, "title"), None)
        found = next(below(root, "table"), None)
        shown = sheet_table(self._rows(found)) if found is not None else ""
        said = text(title)
        return blocks([plain(f"Chart: {said}") if said else "", shown])

    def _formula(self, element: Element) -> str:
        root = self._embedded(element)
        return linear(root) if root is not None and tag(root) == "math" else ""

    def _embedded(self, element: Element) -> Element | None:
        inside = child(element, "math")
        if inside is not None:
            return inside
        folder = attribute(element, "href").removeprefix("./")
        return self._package.tree(f"{folder}/content.xml") if folder else None


def _place(settings: Element | None) -> Place:
    position = attribute(settings, "text-position").partition(" ")[0]
    if position.startswith("sub") or position.startswith("-"):
        return Place.LOWERED
    raised = position.startswith("super") or position.rstrip("%").strip("0.") != ""
    return Place.RAISED if raised else Place.LEVEL


def _merge_equal(cells: list[str]) -> list[str]:
    first = next((place for place, cell in enumerate(cells) if cell), 0)
    return [cell if place == first else "" for place, cell in enumerate(cells)]


def _outermost(around: Element, *names: str) -> Iterator[Element]:
    for element in around:
        if tag(element) in names:
            yield element
        elif tag(element) not in _UNSEEN and tag(element) not in ("note", "annotation"):
            yield from _outermost(element, *names)

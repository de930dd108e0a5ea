"""Convert Word files to Markdown, with notes and comments at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from spadework.tools.extract.extracted import Draft, Extracted
from spadework.tools.extract.markdown_writer import Grid, blocks, plain, table, write_heading
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.office.equations import linear
from spadework.tools.extract.office.package import Package, drawing_text
from spadework.tools.extract.xml import Element, attribute, below, child, number, tag

_CODE = re.compile(
    r"\b(?:code|source|listing|preformatted|macro text|verbatim)\b|^plain text$", re.IGNORECASE
)
_FIXED = re.compile(r"\bmono|courier|consolas|menlo|lucida console", re.IGNORECASE)
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
#: Maximum parent styles to follow. Damaged files may contain cycles.
_ANCESTORS = 10
_PLACES = {"superscript": Place.RAISED, "subscript": Place.LOWERED}
#: Outline level of body text.
_TEXT_LEVEL = 9
#: Maximum list level, counted from 0.
_DEEPEST = 8


@dataclass(frozen=True)
class Style:
    """A paragraph's role: a heading of `level` 1–9, a list item at `depth`, or code."""

    level: int = 0
    list_id: str = ""
    depth: int = 0
    code: bool = False
    numbered: bool = False

    @property
    def listed(self) -> bool:
        """True if the paragraph is a list item."""
        return self.list_id not in ("", "0")


class Styles:
    """A Word file's styles and lists."""

    def __init__(self, styles: Element | None, numbering: Element | None) -> None:
        found = [style for style in styles if tag(style) == "style"] if styles is not None else []
        self._elements = {attribute(style, "styleId"): style for style in found}
        self._known: dict[str, Style] = {}
        self._numbered = _numbered_lists(numbering)
        self._placed: dict[str, Place] = {}

    def place(self, run: Element) -> Place:
        """Return a run's vertical position, from its settings or style."""
        settings = child(run, "rPr")
        own = attribute(child(settings, "vertAlign"), "val")
        if own:
            return _PLACES.get(own, Place.LEVEL)
        name = attribute(child(settings, "rStyle"), "val")
        if name not in self._placed:
            aligned = child(self._elements.get(name), "rPr", "vertAlign")
            self._placed[name] = _PLACES.get(attribute(aligned, "val"), Place.LEVEL)
        return self._placed[name]

    def of(self, paragraph: Element) -> Style:
        """Return a paragraph's style. Text entirely in a fixed-width font is code."""
        own = child(paragraph, "pPr")
        style = _change_style(self._named(attribute(child(own, "pStyle"), "val")), own)
        if not style.level and not style.code and _is_fixed(paragraph):
            style = replace(style, code=True)
        return replace(style, numbered=(style.list_id, style.depth) in self._numbered)

    def _named(self, name: str) -> Style:
        if name not in self._known:
            chain: list[Element] = []
            ancestor = name
            while ancestor in self._elements and len(chain) < _ANCESTORS:
                chain.append(self._elements[ancestor])
                ancestor = attribute(child(chain[-1], "basedOn"), "val")
            style = Style()
            for element in reversed(chain):
                style = _change_style(style, child(element, "pPr"))
                style = by_name(style, attribute(child(element, "name"), "val"))
            self._known[name] = style
        return self._known[name]


def by_name(style: Style, name: str) -> Style:
    """Return `style` with what a Word style's name implies. Heading names are always English."""
    if found := _HEADING.match(name):
        return replace(style, level=int(found[1]))
    if name.lower() == "title":
        return replace(style, level=1)
    return replace(style, code=True) if _CODE.search(name) else style


def _change_style(style: Style, settings: Element | None) -> Style:
    outline = attribute(child(settings, "outlineLvl"), "val")
    if outline:
        style = replace(style, level=(number(outline, most=_TEXT_LEVEL) + 1) % (_TEXT_LEVEL + 1))
    in_list = attribute(child(settings, "numPr", "numId"), "val")
    if in_list:
        style = replace(style, list_id=in_list)
    depth = attribute(child(settings, "numPr", "ilvl"), "val")
    return replace(style, depth=number(depth, most=_DEEPEST)) if depth else style


def is_fixed_font(name: str) -> bool:
    """Return whether a font is fixed-width, judging by its name."""
    return bool(_FIXED.search(name))


def _is_fixed(paragraph: Element) -> bool:
    fonts = [
        attribute(child(run, "rPr", "rFonts"), "ascii")
        for run in below(paragraph, "r")
        if any(tag(part) == "t" and (part.text or "").strip() for part in run)
    ]
    return bool(fonts) and all(map(is_fixed_font, fonts))


def _numbered_lists(numbering: Element | None) -> frozenset[tuple[str, int]]:
    found: dict[str, list[int]] = {}
    lists = set()
    for part in numbering if numbering is not None else ():
        if tag(part) == "abstractNum":
            found[attribute(part, "abstractNumId")] = [
                number(attribute(level, "ilvl"), most=_DEEPEST)
                for level in part
                if tag(level) == "lvl"
                and attribute(child(level, "numFmt"), "val") not in ("bullet", "none", "")
            ]
        elif tag(part) == "num":
            kind = attribute(child(part, "abstractNumId"), "val")
            lists |= {(attribute(part, "numId"), depth) for depth in found.get(kind, ())}
    return frozenset(lists)


#: Elements that are left out: deleted text, settings and fallback drawings.
_UNSEEN = frozenset(
    {"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", "tblPr", "trPr", "tcPr"}
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "p": " "}
#: Parts of the file that contain notes, keyed by the element that refers to them.
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_MOST_SPAN = 63
_BREAKS_LINK = re.compile(r"[\s()<>]")


def extract_docx(package: Package, url: str) -> Extracted:
    """Return a Word file's text and metadata. Raises Unreadable or TooLarge."""
    document = _Document(package)
    document.read(package.needed(package.main))
    markdown = blocks([document.draft.markdown(), *document.notes(), *document.comments()])
    return package.about(markdown, title=document.title, kind="docx")


class _Document:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._links = package.relations(package.main)
        self._styles = Styles(package.tree("word/styles.xml"), package.tree("word/numbering.xml"))
        #: The last item number used at each depth, keyed by list.
        self._numbers: dict[str, list[int]] = {}
        #: The numbers of footnotes and endnotes, in order of first reference. A key is the document
        #: part that holds the note, and the note's id.
        self._called: dict[tuple[str, str], int] = {}
        self.draft = Draft()
        self.title = ""

    def read(self, around: Element) -> None:
        for element in around:
            name = tag(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name not in _UNSEEN:
                self.read(element)

    def notes(self) -> Iterator[str]:
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
        numbers = self._numbers.setdefault(style.list_id, [])
        del numbers[style.depth + 1 :]
        numbers += [0] * (style.depth + 1 - len(numbers))
        numbers[style.depth] += 1
        return numbers[style.depth]

    def _text(self, element: Element) -> str:
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
        if [len(row) for row in rows] == [1]:  # A one-cell table is a frame around text.
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

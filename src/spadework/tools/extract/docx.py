"""Word files as Markdown: headings, paragraphs, lists, tables, listings, links, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from spadework.tools.extract.docx_styles import Style, Styles
from spadework.tools.extract.draft import Draft
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.package import Package
from spadework.tools.extract.writing import heading, plain, table
from spadework.tools.extract.xml_tree import Element, attribute, child, number, tag

#: What is not shown: deleted and moved text, settings, drawings a second time in another form.
_UNSEEN = frozenset(
    {"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", "tblPr", "trPr", "tcPr"}
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "p": " "}
#: A cell spans at most so many columns.
_MOST_SPAN = 63
_BREAKS_LINK = re.compile(r"[\s()<>]")


def extract_docx(package: Package, url: str) -> Extracted:
    """A Word file's text, title, author and date. Raises Unreadable if damaged, TooLarge."""
    document = _Document(package)
    document.read(package.needed(package.main))
    return package.about(document.draft.markdown(), title=document.title, kind="docx")


class _Document:
    def __init__(self, package: Package) -> None:
        self._links = package.relations(package.main)
        self._styles = Styles(package.tree("word/styles.xml"), package.tree("word/numbering.xml"))
        #: The last number of each list, at each of its depths.
        self._numbers: dict[str, list[int]] = {}
        self.draft = Draft()
        self.title = ""

    def read(self, around: Element) -> None:
        """Tell the draft every block in an element, through whatever wraps them."""
        for element in around:
            name = tag(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name not in _UNSEEN:
                self.read(element)

    def _paragraph(self, element: Element) -> None:
        style = self._styles.of(element)
        text = self._text(element)
        if style.code:
            self.draft.code(text.replace("\xa0", " "))
        elif text.strip():
            self._prose(text.strip(), style)

    def _prose(self, text: str, style: Style) -> None:
        if style.level:
            self.title = self.title or " ".join(text.split())
            self.draft.add(heading(text, style.level))
        elif style.listed:
            number = self._next_number(style)
            self.draft.item(plain(text), style.depth, numbered=style.numbered, number=number)
        else:
            self.draft.add(plain(text))

    def _next_number(self, style: Style) -> int:
        """The number of an item: a list goes on behind what interrupts it."""
        numbers = self._numbers.setdefault(style.list_id, [])
        del numbers[style.depth + 1 :]
        numbers += [0] * (style.depth + 1 - len(numbers))
        numbers[style.depth] += 1
        return numbers[style.depth]

    def _text(self, element: Element) -> str:
        """The text in an element as it is shown, with its links."""
        parts = []
        for part in element:
            name = tag(part)
            if name == "t":
                parts.append(part.text or "")
            elif name == "hyperlink":
                parts.append(self._link(part))
            elif name not in _UNSEEN:
                parts.append(_SIGNS.get(name, "") + self._text(part))
        return "".join(parts)

    def _link(self, element: Element) -> str:
        text = self._text(element)
        target = self._links.get(attribute(element, "id"), "")
        leads = target.startswith(("http://", "https://")) and not _BREAKS_LINK.search(target)
        return f"[{text}]({target})" if leads and text.strip() not in ("", target) else text

    def _table(self, element: Element) -> None:
        rows = [list(_cells(row)) for row in element if tag(row) == "tr"]
        if [len(row) for row in rows] == [1]:  # a frame around text
            self.read(rows[0][0])
        else:
            self.draft.add(table([[*chain(*map(self._spanned, row))] for row in rows]))

    def _spanned(self, cell: Element) -> list[str]:
        """The text of a cell, and an empty one for each further column that it spans."""
        span = number(attribute(child(cell, "tcPr", "gridSpan"), "val"), most=_MOST_SPAN)
        return [" ".join(self._text(cell).split()), *[""] * (span - 1)]


def _cells(row: Element) -> Iterator[Element]:
    for element in row:
        if tag(element) == "tc":
            yield element
        elif tag(element) in ("sdt", "sdtContent", "customXml"):
            yield from _cells(element)

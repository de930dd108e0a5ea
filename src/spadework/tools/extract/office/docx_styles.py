"""The role of a Word file's paragraphs (headings, items, code), by their style or own settings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from spadework.tools.extract.notation import Place
from spadework.tools.extract.xml import Element, attribute, below, child, number, tag

_CODE = re.compile(
    r"\b(?:code|source|listing|preformatted|macro text|verbatim)\b|^plain text$", re.IGNORECASE
)
_FIXED = re.compile(r"\bmono|courier|consolas|menlo|lucida console", re.IGNORECASE)
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
#: Maximum ancestors of a style: a damaged file may have cycles.
_ANCESTORS = 10
_PLACES = {"superscript": Place.RAISED, "subscript": Place.LOWERED}
#: The outline level of plain text, and the deepest nested list.
_TEXT_LEVEL = 9
_DEEPEST = 8


@dataclass(frozen=True)
class Style:
    """A paragraph: a heading of `level` (or 0), an item of list `list_id` at `depth`, or code."""

    level: int = 0
    list_id: str = ""
    depth: int = 0
    code: bool = False
    numbered: bool = False

    @property
    def listed(self) -> bool:
        """Whether it is a list item."""
        return self.list_id not in ("", "0")


class Styles:
    """The styles and lists of a file."""

    def __init__(self, styles: Element | None, numbering: Element | None) -> None:
        found = [style for style in styles if tag(style) == "style"] if styles is not None else []
        self._elements = {attribute(style, "styleId"): style for style in found}
        self._known: dict[str, Style] = {}
        self._numbered = _numbered_lists(numbering)
        self._placed: dict[str, Place] = {}

    def place(self, run: Element) -> Place:
        """Return whether a run is raised, lowered or neither, by its own settings or its style."""
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
        """Return a paragraph's role. One entirely in a fixed-width font is code."""
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
    """Return a style, also by name: heading styles are in English in files of any language."""
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
    """Return whether it is a fixed-width font."""
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

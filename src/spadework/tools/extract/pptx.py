"""PowerPoint files as Markdown: each slide a section: lists, tables, the speaker's notes."""

from __future__ import annotations

from spadework.tools.extract.draft import Draft
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.package import Package
from spadework.tools.extract.writing import blocks, heading, not_shown, plain, quote, table
from spadework.tools.extract.xml_tree import Element, attribute, below, child, number, tag

#: Slides behind this one are not read.
MAX_SLIDES = 500
#: Deepest list in a list.
MAX_DEPTH = 8

_TITLES = ("title", "ctrTitle")
#: Places that every slide has: its date, its number, the lines at its edges.
_FURNITURE = ("dt", "sldNum", "ftr", "hdr", "sldImg")


def extract_pptx(package: Package, url: str) -> Extracted:
    """A presentation's text, title, author, date. Raises Unreadable if damaged, TooLarge."""
    relations = package.relations(package.main)
    ids = [_relation(slide) for slide in below(package.needed(package.main), "sldId")]
    names = [relations[slide] for slide in ids if slide in relations]
    slides = [_slide(package, name) for name in names[:MAX_SLIDES]]
    first = slides[0].partition("\n")[0] if slides else ""
    title = first.lstrip("# ") if first.startswith("#") else ""
    markdown = blocks([*slides, not_shown(len(names) - MAX_SLIDES, "slides")])
    return package.about(markdown, title=title, kind="pptx")


def _relation(slide: Element) -> str:
    """The id of a slide's part: of its two ids the one that has a namespace."""
    return next((str(value) for key, value in slide.attrib.items() if key.endswith("}id")), "")


def _slide(package: Package, name: str) -> str:
    root = package.tree(name)
    if root is None:
        return ""
    for other in [*below(root, "Fallback")]:  # the same again for programs of another year
        other.getparent().remove(other)
    titles: list[str] = []
    draft = Draft()
    for shape in below(root, "sp", "graphicFrame"):
        place = _place(shape)
        if place in _TITLES:
            titles.append(_join_text(shape))
        elif place not in _FURNITURE:
            _shape(shape, draft)
    notes = next((part for part in package.relations(name).values() if "notesSlide" in part), "")
    return blocks([heading(" ".join(titles), 2), draft.markdown(), _notes(package, notes)])


def _place(shape: Element) -> str:
    """What a shape is on its slide: title, body, dt, …; "" where the layout does not know it."""
    place = next(below(shape, "ph"), None)
    return attribute(place, "type", "body") if place is not None else ""


def _shape(shape: Element, draft: Draft) -> None:
    rows = [[_join_text(cell) for cell in row if tag(cell) == "tc"] for row in below(shape, "tr")]
    if rows:
        draft.add(table(rows))
        return
    paragraphs = [paragraph for paragraph in below(shape, "p") if _text(paragraph).strip()]
    in_list = _place(shape) == "body" and len(paragraphs) > 1
    for paragraph in paragraphs:
        settings = child(paragraph, "pPr")
        depth = number(attribute(settings, "lvl"), most=MAX_DEPTH)
        numbered = child(settings, "buAutoNum") is not None
        marked = child(settings, "buChar") is not None
        if numbered or marked or (in_list and child(settings, "buNone") is None):
            draft.item(plain(_text(paragraph)), depth, numbered=numbered)
        else:
            draft.add(plain(_text(paragraph)))
    draft.add("")


def _notes(package: Package, name: str) -> str:
    root = package.tree(name)
    shapes = below(root, "sp") if root is not None else ()
    bodies = [shape for shape in shapes if _place(shape) == "body"]
    said = [plain(_text(paragraph)) for shape in bodies for paragraph in below(shape, "p")]
    return quote(blocks(said)) if bodies else ""


def _join_text(element: Element) -> str:
    """The text in an element on one line."""
    return " ".join(" ".join(_text(paragraph) for paragraph in below(element, "p")).split())


def _text(paragraph: Element) -> str:
    signs = {"br": "\n", "tab": "\t"}
    return "".join(
        part.text or "" if tag(part) == "t" else signs[tag(part)]
        for part in below(paragraph, "t", "br", "tab")
    )

"""Convert PowerPoint files to Markdown, with one section per slide."""

from __future__ import annotations

from collections.abc import Iterator

from spadework.tools.extract.extracted import Draft, Extracted
from spadework.tools.extract.markdown_writer import (
    MAX_COLUMNS,
    Grid,
    blocks,
    not_shown,
    plain,
    quote,
    table,
    write_heading,
)
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.office.equations import linear
from spadework.tools.extract.office.package import Package, drawing_text
from spadework.tools.extract.xml import Element, attribute, below, child, number, tag

MAX_SLIDES = 500
#: Maximum nesting depth of a list.
MAX_DEPTH = 8
_SIGNS = {"br": "\n", "tab": "\t"}

_TITLES = ("title", "ctrTitle")
#: Placeholders for what repeats on every slide (date, slide number, header and footer), and for the
#: image of a slide.
_FURNITURE = ("dt", "sldNum", "ftr", "hdr", "sldImg")


def extract_pptx(package: Package, url: str) -> Extracted:
    """Return a presentation's text and metadata. Raises Unreadable or TooLarge."""
    relations = package.relations(package.main)
    ids = [_relation(slide) for slide in below(package.needed(package.main), "sldId")]
    names = [relations[slide] for slide in ids if slide in relations]
    slides = [_slide(package, name) for name in names[:MAX_SLIDES]]
    first = slides[0].partition("\n")[0] if slides else ""
    title = first.lstrip("# ") if first.startswith("#") else ""
    markdown = blocks([*slides, not_shown(len(names) - MAX_SLIDES, "slides")])
    return package.about(markdown, title=title, kind="pptx")


def _relation(slide: Element) -> str:
    return next((str(value) for key, value in slide.attrib.items() if key.endswith("}id")), "")


def _slide(package: Package, name: str) -> str:
    root = package.tree(name)
    if root is None:
        return ""
    for other in [*below(root, "Fallback")]:  # A Fallback repeats the content for older programs.
        other.getparent().remove(other)
    titles: list[str] = []
    draft = Draft()
    relations = package.relations(name)
    for shape in below(root, "sp", "graphicFrame"):
        place = _place(shape)
        if place in _TITLES:
            titles.append(_join_text(shape))
        elif place not in _FURNITURE:
            _shape(shape, draft)
            for drawn in below(shape, "chart", "relIds"):
                draft.add(drawing_text(package, relations, drawn))
    notes = next((part for part in relations.values() if "notesSlide" in part), "")
    comments = (part for part in relations.values() if "/comments/" in part)
    said = [comment for part in comments for comment in _comments(package.tree(part))]
    told = [write_heading(" ".join(titles), 2), draft.markdown(), _notes(package, notes)]
    return blocks([*told, *said])


def _comments(root: Element | None) -> Iterator[str]:
    for comment in below(root, "cm") if root is not None else ():
        own = child(comment, "text")
        words = (own.text or "") if own is not None else _join_text(comment)
        yield plain(f"Comment: {words}") if words else ""


def _place(shape: Element) -> str:
    place = next(below(shape, "ph"), None)
    return attribute(place, "type", "body") if place is not None else ""


def _shape(shape: Element, draft: Draft) -> None:
    grid = Grid()
    if rows := [grid.row(_cells(row)) for row in below(shape, "tr")]:
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


def _cells(row: Element) -> Iterator[tuple[str, int, int]]:
    for cell in row:
        covered = (attribute(cell, "hMerge"), attribute(cell, "vMerge"))
        if tag(cell) == "tc" and not {"1", "true"}.intersection(covered):
            across, down = (
                max(number(attribute(cell, name, "1"), most=MAX_COLUMNS), 1)
                for name in ("gridSpan", "rowSpan")
            )
            yield _join_text(cell), across, down


def _notes(package: Package, name: str) -> str:
    root = package.tree(name)
    shapes = below(root, "sp") if root is not None else ()
    bodies = [shape for shape in shapes if _place(shape) == "body"]
    said = [plain(_text(paragraph)) for shape in bodies for paragraph in below(shape, "p")]
    return quote(blocks(said)) if bodies else ""


def _join_text(element: Element) -> str:
    return " ".join(" ".join(_text(paragraph) for paragraph in below(element, "p")).split())


def _text(paragraph: Element) -> str:
    return joined(_pieces(paragraph))


def _pieces(around: Element, place: Place = Place.LEVEL) -> Iterator[tuple[str, Place]]:
    for part in around:
        name = tag(part)
        if name in _SIGNS:
            yield _SIGNS[name], place
        elif name == "t":
            yield part.text or "", place
        elif name in ("oMath", "oMathPara"):
            yield linear(part), Place.LEVEL
        elif name == "r":
            rise = attribute(child(part, "rPr"), "baseline", "0").rstrip("%")
            raised = Place.LOWERED if rise.startswith("-") else Place.RAISED
            yield from _pieces(part, Place.LEVEL if rise.strip("0.-") == "" else raised)
        else:
            yield from _pieces(part, place)

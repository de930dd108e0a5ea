"""Drawings in Office files: charts as tables of their values, diagrams as lists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from spadework.tools.extract.markdown_writer import blocks, item, plain, sheet_table
from spadework.tools.extract.office.package import Package
from spadework.tools.extract.xml import Element, attribute, below, child, number, tag

_MOST_POINTS = 5_000
_NAMES, _VALUES = ("cat", "xVal"), ("val", "yVal")


def drawing_text(package: Package, relations: dict[str, str], element: Element) -> str:
    """Return the text of a `chart` or a diagram's `relIds`, whose part `relations` names."""
    is_chart = tag(element) == "chart"
    name = relations.get(attribute(element, "id" if is_chart else "dm"), "")
    root = package.tree(name)
    if root is None:
        return ""
    return _chart(root) if is_chart else _diagram(root)


def _chart(root: Element) -> str:
    """Return a chart's titles and a table: a row per category, a column per series. Series with
    other categories get their own table.
    """
    title = ", ".join(filter(None, (_words(part) for part in below(root, "title"))))
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for series in below(root, "ser"):
        names = _points(next((part for part in series if tag(part) in _NAMES), None))
        values = _points(next((part for part in series if tag(part) in _VALUES), None))
        places = range(max([*names, *values], default=-1) + 1)
        head = tuple(names.get(place, str(place + 1)) for place in places)
        column = [_words(child(series, "tx")), *(values.get(place, "") for place in places)]
        tables.setdefault(head, [["", *head]]).append(column)
    shown = (
        sheet_table(map(list, zip_longest(*columns, fillvalue=""))) for columns in tables.values()
    )
    return blocks([plain(f"Chart: {title}") if title else "", *shown])


def _points(source: Element | None) -> dict[int, str]:
    """Return the values or category names of a series by position."""
    points = below(source, "pt") if source is not None else ()
    return {
        number(attribute(point, "idx"), most=_MOST_POINTS): _value(_words(point))
        for point in points
    }


def _value(written: str) -> str:
    try:
        return f"{float(written):.15g}"
    except ValueError:
        return written


def _words(element: Element | None) -> str:
    """Return an element's text; for a reference, what it refers to."""
    if element is None:
        return ""
    parts = (part.text or "" for part in below(element, "t", "v"))
    return " ".join(" ".join(parts).split())


def _diagram(root: Element) -> str:
    return "\n".join(item(plain(text)) for text in _boxes(root) if text)


def _boxes(root: Element) -> Iterator[str]:
    for box in below(root, "pt"):
        yield _words(child(box, "t"))

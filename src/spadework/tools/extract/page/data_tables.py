"""Convert data tables to Markdown tables; layout tables are walked like any element."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from selectolax.lexbor import LexborNode

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.markdown_writer import Grid, code_span
from spadework.tools.extract.page.constants import MOST_CELL_CHARS, MOST_SPAN
from spadework.tools.extract.page.page_blocks import Block, Frame, Item, assemble
from spadework.tools.text.tables import NAMES, NO_NAMES

#: A bold cell. A first row of only bold cells counts as a header.
_BOLD = re.compile(r"\*\*[^*]+\*\*")
_PIPE = re.compile(r"(?<!\\)\|")
_LAYOUT = "table,pre,h1,h2,form,article,textarea,iframe"
_GROUPS = frozenset(("thead", "tbody", "tfoot"))
ReadCell = Callable[[LexborNode], list[Block]]


def is_data(table: LexborNode) -> bool:
    """Return whether a table holds data rather than layout.
    A data table has short cells, and at least two columns or a header cell.
    """
    if (table.attributes.get("role") or "") in ("presentation", "none"):
        return False
    if any(child.css_first(_LAYOUT) is not None for child in table.iter()):
        return False
    widest = longest = 0
    for row in rows(table):
        found = list(_cells(row))
        widest = max(widest, len(found))
        longest = max(longest, max((len(cell.text()) for cell in found), default=0))
    return 0 < longest <= MOST_CELL_CHARS and (widest >= 2 or table.css_first("th") is not None)


def leads_on(table: LexborNode) -> bool:
    """Return whether a table is DocBook navigation, whose links have access keys."""
    return table.css_first("a[accesskey]") is not None


def rows(table: LexborNode) -> Iterator[LexborNode]:
    """Yield a table's rows, including those in thead, tbody and tfoot."""
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in _GROUPS:
            yield from rows(child)


def _cells(row: LexborNode) -> Iterator[LexborNode]:
    return (child for child in row.iter() if child.tag in ("td", "th"))


def read(
    table: LexborNode, frame: Frame, inside: tuple[Item, ...], read_cell: ReadCell
) -> list[Block]:
    """Return a table's caption and rows as blocks, reading each cell with `read_cell`."""
    blocks = []
    caption = table.css_first("caption")
    if caption is not None:
        said = read_cell(caption)
        blocks += [replace(b, kind="caption", frame=frame, inside=inside) for b in said]
    lines: list[list[str]] = []
    chars = link_chars = 0
    links: list[Link] = []
    header = False
    last: list[Block] = []
    grid = Grid()
    for row in rows(table):
        cells = list(_cells(row))
        read_cells = [read_cell(cell) for cell in cells]
        shown = (" ".join(map(_one_line, inner)) for inner in read_cells)
        texts = grid.row(
            (text, _span(cell, "colspan"), _span(cell, "rowspan"))
            for cell, text in zip(cells, shown, strict=True)
        )
        if not any(texts):
            continue
        if not lines:
            header = all(cell.tag == "th" for cell in cells)
            header = header or (row.parent is not None and row.parent.tag == "thead")
        lines.append(texts)
        last = [*chain(*read_cells)]
        for block in last:
            chars, link_chars = chars + block.chars, link_chars + block.link_chars
            links += block.links
    if not lines:
        return blocks
    # Forums put each comment in a table beside empty cells for votes and depth.
    alone = not header and len(lines[0]) > 1 and sum(map(bool, chain(*lines))) == 1
    kind, text = ("p", assemble(last).strip()) if alone else ("table", _markdown(lines, header))
    return [*blocks, Block(kind, text, chars, link_chars, frame, inside, tuple(links))]


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    whole = value.isascii() and value.isdigit() and len(value) < 5
    return max(1, min(MOST_SPAN, int(value))) if whole else 1


def _one_line(block: Block) -> str:
    text = block.text
    if block.kind == "pre":
        text = code_span(text.split("\n", 1)[1].rsplit("\n", 1)[0])
    return _PIPE.sub(r"\\|", text.replace("\n", " "))


def _markdown(lines: list[list[str]], header: bool) -> str:
    width = max(map(len, lines))
    padded = [line + [""] * (width - len(line)) for line in lines]
    named = header or all(map(_BOLD.fullmatch, filter(None, padded[0])))
    ruled = [padded[0], [NAMES if named else NO_NAMES] * width, *padded[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)

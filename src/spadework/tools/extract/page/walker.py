"""Convert a page's element tree to Markdown blocks, in document order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

from selectolax.lexbor import LexborNode

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.markdown_writer import Grid, code_span, fence, plain
from spadework.tools.extract.page import formulas, page_blocks as elements
from spadework.tools.extract.page.constants import (
    LEAST_NOSCRIPT_CHARS,
    MOST_CELL_CHARS,
    MOST_DEPTH,
    MOST_LIST_DEPTH,
    MOST_SPAN,
)
from spadework.tools.extract.page.inline_markup import (
    Addresses,
    Line,
    code_text,
    escaped,
    is_listing,
    language,
    lines_of,
)
from spadework.tools.extract.page.input_limits import is_hidden
from spadework.tools.extract.page.page_blocks import Block, Frame, Item, assemble
from spadework.tools.text.tables import NAMES, NO_NAMES

#: A bold cell. If all cells with text in the first row are bold, that row is a header.
_BOLD = re.compile(r"\*\*[^*]+\*\*")
_PIPE = re.compile(r"(?<!\\)\|")
_LAYOUT = "table,pre,h1,h2,form,article,textarea,iframe"
_GROUPS = frozenset(("thead", "tbody", "tfoot"))
ReadCell = Callable[[LexborNode], list[Block]]


def is_data(table: LexborNode) -> bool:
    """Return whether a table holds data rather than layout."""
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
    """Return whether a table is DocBook navigation (links with access keys)."""
    return table.css_first("a[accesskey]") is not None


def rows(table: LexborNode) -> Iterator[LexborNode]:
    """Yield a table's rows, including those in row groups."""
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in _GROUPS:
            yield from rows(child)


def _cells(row: LexborNode) -> Iterator[LexborNode]:
    return (child for child in row.iter() if child.tag in ("td", "th"))


def read_table(
    table: LexborNode, frame: Frame, inside: tuple[Item, ...], read_cell: ReadCell
) -> list[Block]:
    """Return a table's caption and rows as blocks."""
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
    # A table with a single non-empty cell is a paragraph. For example, some forums put a comment in
    # a row whose other cells, for votes and depth, are empty.
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


Close = Callable[[], None]
_FORMULAS = frozenset(("math", "img", "script", "svg", "object"))
_CALLOUTS = frozenset(("div", "aside", "section", "blockquote", "p", "details"))
_TITLES = "[class*=title i],[class*=heading i]"
_LINE_OF_ITS_OWN = re.compile(r"display\s*:\s*block")


class Walker:
    """Converts an element tree to blocks without recursion."""

    def __init__(self, addresses: Addresses, hiding: frozenset[str] = frozenset()) -> None:
        self.blocks: list[Block] = []
        self._hiding = hiding
        self._addresses = addresses
        self._line = Line()
        self._frame = Frame(None, "root", (), 0)
        self._items: tuple[Item, ...] = ()
        self._numbers: list[int | None] = []
        self._heading = ""
        #: The current callout's element and the label for its first paragraph.
        self._lead = (self._frame, "")

    def walk(self, root: LexborNode) -> list[Block]:
        """Return the blocks of the tree below `root`."""
        line = self._line
        todo: list[LexborNode | Close] = [root]
        while todo:
            entry = todo.pop()
            if not isinstance(entry, LexborNode):
                entry()
                continue
            sibling = entry.next
            if sibling is not None and todo:
                todo.append(sibling)
            tag = entry.tag or ""
            if tag == "-text":
                line.text(entry.text_content or "")
                continue
            close = self._enter(entry, tag)
            if close is None:
                continue
            if close is not _end_inline:
                todo.append(close)
            child = entry.first_child
            if child is not None:
                todo.append(child)
        self._flush()
        self._frame.end = len(self.blocks)
        return self.blocks

    def _enter(self, node: LexborNode, tag: str) -> Close | None:
        """Enter an element. Return a function to call at its end, or None to skip its children."""
        if tag in elements.BLOCKS:
            return self._block(node, tag)
        if tag in elements.SKIPPED:
            self._skipped(node, tag)
            return None
        if tag == "a":
            return self._anchor(node)
        if tag in elements.CODE:
            self._code(node)
            return None
        if tag in elements.EMPHASIS and not self._heading:
            return partial(self._line.close, self._line.open(elements.EMPHASIS[tag]))
        without = tag == "noscript"
        if without and len(node.text().strip()) < LEAST_NOSCRIPT_CHARS:
            return None
        if without or (_is_custom(tag) and not self._heading and _holds_blocks(node)):
            return self._open_frame(tag, node.attributes)
        attributes = node.attributes
        if is_hidden(node, attributes, self._hiding):
            return None
        if not _LINE_OF_ITS_OWN.search(attributes.get("style") or ""):
            return _end_inline
        self._line.space()
        return self._line.space

    def _skipped(self, node: LexborNode, tag: str) -> None:
        if tag == "input" or (tag == "br" and self._heading):
            self._line.space()
        elif tag == "br" and self._line.line_break():
            self._flush()
        elif tag in _FORMULAS:
            formula = formulas.hidden_tex(node, self._line.before())
            self._line.raw(formula, len(formula))

    def _anchor(self, node: LexborNode) -> Close | None:
        href = node.attributes.get("href")
        if href is None:
            return _end_inline
        if "#" in href and node.text().strip().lower() in elements.HEADER_LINKS:
            return None
        return partial(self._line.close, self._line.open("[", self._addresses.absolute(href)))

    def _code(self, node: LexborNode) -> None:
        text = code_text(node)
        is_block = "\n" in text.strip() or _sets_apart(node.attributes)
        if is_block and not "".join(self._line.parts).strip() and _is_alone(node):
            self._line.reset()
            self._emit_code(text, language(node))
        else:
            self._line.code(text)

    def _is_done(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> bool:
        """Emit code or a data table. Return True if the element needs no further processing."""
        if tag in elements.VERBATIM:
            self._emit_code(code_text(node), language(node))
        elif is_listing(node, tag, attributes):
            self._emit_code(lines_of(node), language(node))
        elif tag == "table":
            if not leads_on(node):
                if not is_data(node):
                    return False
                self._table(node)
        else:
            return tag in elements.APART and elements.is_apart(tag, attributes, self._frame)
        return True

    def _block(self, node: LexborNode, tag: str) -> Close | None:
        if self._heading and tag not in elements.HEADINGS:
            self._line.space()
            return self._line.space
        if self._line.parts:
            self._flush()
        attributes = node.attributes
        if attributes and tag != "body" and is_hidden(node, attributes, self._hiding):
            return None
        if self._is_done(node, tag, attributes):
            return None
        close = self._open_frame(tag, attributes)
        self._frame.image = self._image(node, tag)
        if tag in _CALLOUTS and (kind := elements.callout_kind(attributes.get("class") or "")):
            self._lead = (self._frame, _take_title(node, kind))
        if tag in elements.HEADINGS:
            self._heading = tag
        elif tag in elements.LISTS:
            self._numbers.append(_number(attributes.get("start") or "", 1) if tag == "ol" else None)
        elif tag == "li" and self._numbers:
            self._items = (*self._items[: MOST_LIST_DEPTH - 1], self._item(attributes))
        elif tag == "blockquote":
            self._items = (*self._items[: MOST_LIST_DEPTH - 1], Item("> ", "> "))
        return close

    def _image(self, node: LexborNode, tag: str) -> str:
        images = (image.attributes for image in (node.css("img") if tag == "figure" else ()))
        # Count different URLs, not images, because a lazy-loaded image has a placeholder in src
        # and a copy in `<noscript>`.
        sources = {self._addresses.absolute(a.get("data-src") or a.get("src")) for a in images}
        return sources.pop() if len(sources) == 1 else ""

    def _item(self, attributes: dict[str, str | None]) -> Item:
        number = self._numbers[-1]
        if number is None:
            return Item("- ", "  ")
        number = _number(attributes.get("value") or "", number)
        self._numbers[-1] = number + 1
        return Item(f"{number}. ", " " * (len(str(number)) + 2))

    def _open_frame(self, tag: str, attributes: dict[str, str | None]) -> Close:
        if self._line.parts:
            self._flush()
        frame = self._frame
        around = frame if frame.depth < MOST_DEPTH else frame.parent
        start, depth = len(self.blocks), min(frame.depth + 1, MOST_DEPTH)
        self._frame = Frame(around, tag, elements.traits(tag, attributes), start, 0, depth)
        return partial(self._close_frame, frame, self._items, len(self._numbers))

    def _close_frame(self, parent: Frame, items: tuple[Item, ...], numbers: int) -> None:
        if self._line.parts:
            self._flush()
        self._heading = ""
        self._frame.end = len(self.blocks)
        if self._lead[0] is self._frame:
            self._lead = (parent, "")
        self._frame = parent
        self._items = items
        del self._numbers[numbers:]

    def _flush(self) -> None:
        line = self._line
        if not line.parts:
            return
        if text := line.take():
            text, self._lead = self._lead[1] + text, (self._lead[0], "")
            kind = self._heading or elements.KINDS.get(self._frame.tag, "p")
            if self._heading:
                for item in self._items:
                    item.loose = True
            counts, place = (line.chars, line.link_chars), (self._frame, self._items)
            self.blocks.append(Block(kind, text, *counts, *place, tuple(line.links)))
        line.reset()

    def _emit_code(self, text: str, lang: str) -> None:
        if text.strip():
            self._lead_in()
            shown = fence(text, lang)
            self.blocks.append(Block("pre", shown, len(text), 0, self._frame, self._items))

    def _lead_in(self) -> None:
        lead, self._lead = self._lead[1], (self._lead[0], "")
        self._line.raw(lead, len(lead))
        self._flush()

    def _table(self, node: LexborNode) -> None:
        self._lead_in()
        close = self._open_frame("table", node.attributes)
        self.blocks += read_table(node, self._frame, self._items, self._cell)
        close()

    def _cell(self, cell: LexborNode) -> list[Block]:
        return Walker(self._addresses, self._hiding).walk(cell)


def _end_inline() -> None:
    """Do nothing at the end of an inline element."""


def _number(written: str, other: int) -> int:
    return int(written) if written.isascii() and written.isdigit() and len(written) < 9 else other


def _is_custom(tag: str) -> bool:
    return "-" in tag and not tag.startswith("mjx-")


def _holds_blocks(node: LexborNode) -> bool:
    tags = (child.tag or "" for child in node.iter())
    return any(tag in elements.BLOCKS or ("-" in tag and tag[0] != "-") for tag in tags)


def _sets_apart(attributes: dict[str, str | None]) -> bool:
    classes, style = (attributes.get(name) or "" for name in ("class", "style"))
    return "block" in classes.split() or bool(_LINE_OF_ITS_OWN.search(style))


def _take_title(node: LexborNode, kind: str) -> str:
    """Return a callout's label, such as `Danger: `, and remove the title that it replaces."""
    text = plain(node.text())
    titles = [title for title in node.css(_TITLES) if title != node][:1]
    titles += [part for part in node.iter() if plain(part.text()).lower() == kind.lower()][:1]
    for title in titles:
        said = plain(title.text())
        at_start = said not in ("", text) and text.startswith(said)
        if at_start and title.tag in elements.BLOCKS and title.tag not in elements.HEADINGS:
            title.decompose()
            return escaped(said) + (" " if said[-1] in ":.!?" else ": ")
    return "" if titles or text.lower().startswith(kind.lower()) else f"{kind}: "


def _is_alone(node: LexborNode) -> bool:
    return _ends_line(node.prev, back=True) and _ends_line(node.next, back=False)


def _ends_line(beside: LexborNode | None, *, back: bool) -> bool:
    while beside is not None and beside.is_text_node:
        if not (beside.text_content or "").isspace():
            return False
        beside = beside.prev if back else beside.next
    return beside is None or beside.tag in elements.BLOCKS

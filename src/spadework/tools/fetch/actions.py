"""What can be done with a page that was loaded, at whichever level: its text, its tables, how many
of something, where a word is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from spadework.errors import Unreadable

#: Characters on each side of a place that is found.
CONTEXT_CHARS = 120
MOST_PLACES = 50
#: Most tables that are looked at, and most rows and cells of each.
MOST_TABLES, MOST_ROWS, MOST_CELLS = 200, 2_000, 50

_UNSEEN = "script,style,noscript,template,svg"
#: What lists have many of, tried in this order where only words say what is counted.
_ITEMS = "li,tr,article,section,option,dt,p,h2,h3,h4,a"


@dataclass(frozen=True)
class Table:
    """A table: what is written above or beside it, and its rows of cells, the header first."""

    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Place:
    """Where words stand in the text of a page: `start` in code points, and what is around."""

    start: int
    around: str


def page_text(html: str, selector: str = "") -> str:
    """The text of a page, or of all that matches a CSS selector, a block a line. Raises Unreadable
    for a selector that is none.
    """
    nodes = _all(_parsed(html), selector or "body")
    return "\n".join(text for node in nodes if (text := _lines(node)))


def find_table(html: str, words: str) -> Table | None:
    """The table that has most of `words` in its caption, header and cells; None where no table has
    any of them.
    """
    wanted = _stems(words)
    found = [_table(node) for node in _parsed(html).css("table")[:MOST_TABLES]]
    scored = [(_share(wanted, table), -n, table) for n, table in enumerate(found) if table.rows]
    best = max(scored, default=None, key=lambda entry: entry[:2])
    return best[2] if best and best[0] > 0 else None


def count_items(html: str, what: str, *, selector: str = "") -> int:
    """How many elements match a CSS selector and have all the words of `what`; of what encloses
    another such element, the inner counts.

    Without a selector, list items, rows, articles and the like are counted, the first kind that has
    any.
    """
    wanted = _stems(what)
    tree = _parsed(html)
    for kind in [selector] if selector else _ITEMS.split(","):
        matching = [node for node in _all(tree, kind) if wanted <= _stems(_lines(node))]
        inner = [
            node for node in matching if not any(other in matching for other in node.css(kind)[1:])
        ]
        if inner:
            return len(inner)
    return 0


def search_text(text: str, words: str) -> list[Place]:
    """Where `words` stand in a text one after the other, in whatever case and spacing; at most
    MOST_PLACES.
    """
    parts = [re.escape(part) for part in words.split()]
    if not parts:
        return []
    found = re.finditer(r"\s+".join(parts), text, re.IGNORECASE)
    return [_place(text, match) for _, match in zip(range(MOST_PLACES), found, strict=False)]


def _stems(text: str) -> set[str]:
    """The words of a text without an English plural s, so that "price" is found in "prices"."""
    words = re.findall(r"\w+", text.casefold())
    return {
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
    }


def _line(text: str) -> str:
    return " ".join(text.split())


def _parsed(html: str) -> LexborHTMLParser:
    tree = LexborHTMLParser(html)
    tree.strip_tags(_UNSEEN.split(","))
    return tree


def _all(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    try:
        return tree.css(selector)
    except SelectolaxError:
        raise Unreadable(f"{selector[:80]!r} is no CSS selector.") from None


def _lines(node: LexborNode) -> str:
    return "\n".join(
        line for part in node.text(separator="\n").split("\n") if (line := _line(part))
    )


def _table(node: LexborNode) -> Table:
    caption = node.css_first("caption")
    before = node.prev
    while before is not None and not _line(before.text()):
        before = before.prev
    named = caption if caption is not None else before
    rows = [
        tuple(_line(cell.text()) for cell in row.css("th,td")[:MOST_CELLS])
        for row in node.css("tr")[:MOST_ROWS]
    ]
    return Table(
        _line(named.text())[:300] if named is not None else "", tuple(row for row in rows if row)
    )


def _share(wanted: set[str], table: Table) -> float:
    """How much of what is wanted the table has; the caption and the header count twice."""
    head = _stems(" ".join([table.caption, *table.rows[0]]))
    body = _stems(" ".join(cell for row in table.rows for cell in row))
    return len(wanted & head) * 2 + len(wanted & (body - head))


def _place(text: str, match: re.Match[str]) -> Place:
    around = text[max(0, match.start() - CONTEXT_CHARS) : match.end() + CONTEXT_CHARS]
    return Place(match.start(), _line(around))

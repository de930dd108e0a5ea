"""What a page holds but does not show: the usual place for words meant for machines alone."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spadework.tools.extract.page.constants import MOST_HIDDEN_CHARS, MOST_STYLE_CHARS
from spadework.tools.extract.page.formulas import holds_formula_alone

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.I,
)
_CLASS = re.compile(r"\.([\w-]+)")


def hiding_classes(tree: LexborHTMLParser) -> frozenset[str]:
    """The classes that a page's own style sheets hide, outside conditions such as `@media`."""
    css = "".join(node.text() for node in tree.css("style"))[:MOST_STYLE_CHARS]
    if not _HIDING.search(css):
        return frozenset()
    found: set[str] = set()
    depth, selector = 0, ""
    for piece in css.split("}")[:-1]:  # each ends where a rule does
        *opened, text = piece.split("{")
        if opened:
            depth, selector = depth + len(opened), opened[-1]
        if depth == 1 and "." in selector:
            parts = (_CLASS.fullmatch(name.strip()) for name in selector.split(","))
            names = [match[1] for match in parts if match]
            if names and _HIDING.search(text):
                found.update(names)
        depth = max(0, depth - 1)
    return frozenset(found)


def is_hidden(node: LexborNode, attributes: dict[str, str | None], hiding: frozenset[str]) -> bool:
    """Whether a small element is kept from sight. Tab panels and long parts are content."""
    style = attributes.get("style")
    hides = "hidden" in attributes and attributes["hidden"] != "until-found"
    hides = hides or bool(style and _HIDING.search(style))
    if hiding and not hides:
        hides = not hiding.isdisjoint((attributes.get("class") or "").split())
    small = hides and attributes.get("role") != "tabpanel"
    small = small and len(node.text().strip()) <= MOST_HIDDEN_CHARS
    return small and not holds_formula_alone(node)

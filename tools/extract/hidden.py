"""What a page holds but does not show: it is no content, and the usual place for words meant for machines alone."""

from __future__ import annotations

import re
from typing import Any

from spadework.tools.extract.tree import shown_chars

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_CLASS = re.compile(r"\.([\w-]+)")

#: What is longer than this, and than this share of the page, is not hidden for good: a script will show it.
MAX_CHARS = 200
MAX_SHARE = 0.03

#: So much of a page's own style sheets is looked at.
MAX_STYLE = 200_000


def drop_hidden(tree: Any) -> None:
    """Remove the small parts of a page that its attributes or its own simple style rules keep from sight; the panels of tabs stay."""
    styles = "".join(style.text or "" for style in tree.iter("style"))[:MAX_STYLE]
    hiding = _hiding_classes(styles) if _HIDING.search(styles) else frozenset()
    most = max(MAX_CHARS, MAX_SHARE * shown_chars(tree))
    for element in [element for element in tree.iter("*") if _hidden(element, hiding)]:
        if element.getparent() is not None and element.tag not in ("html", "body") and shown_chars(element) <= most:
            element.drop_tree()


def _hidden(element: Any, hiding: frozenset[str]) -> bool:
    if element.get("role") == "tabpanel":
        return False
    shown_later = element.get("hidden", "until-found") == "until-found"
    return not shown_later or bool(_HIDING.search(element.get("style", ""))) or not hiding.isdisjoint(element.get("class", "").split())


def _hiding_classes(css: str) -> frozenset[str]:
    """The classes that a rule of their own hides, outside of @media and the like."""
    found: set[str] = set()
    depth, selector = 0, ""
    for part in re.split(r"([{}])", css):
        if part == "{":
            depth += 1
        elif part == "}":
            depth = max(0, depth - 1)
        elif depth == 0:
            selector = part.strip()
        elif depth == 1 and _HIDING.search(part):
            found.update(match[1] for name in selector.split(",") if (match := _CLASS.fullmatch(name.strip())))
    return frozenset(found)

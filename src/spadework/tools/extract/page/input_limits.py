"""Cut or refuse hostile pages before parsing, and detect hidden elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract.page.constants import (
    HARMLESS_BYTES,
    HARMLESS_TAGS,
    MOST_CHARS,
    MOST_HIDDEN_CHARS,
    MOST_NESTING,
    MOST_REOPENED,
    MOST_STYLE_CHARS,
    MOST_TAGS,
)
from spadework.tools.extract.page.formulas import holds_formula_alone

#: Characters that do not occur in text. Data counts as binary if they make up more than 5% of it.
_BINARY = [chr(code) for code in (*range(1, 9), *range(14, 27), *range(28, 32), 0xFFFD)]
_SAMPLE = 2_000
_TAG = re.compile(r"<(/?[a-zA-Z][^\s/>]*)")
#: A page is refused if a tag has _MOST_QUOTED quoted values, or _MOST_BARE consecutive characters
#: without quotes.
_MOST_QUOTED, _MOST_BARE = 15_000, 100_000
_LONG_TAG = re.compile(
    rf"""<[a-zA-Z](?>(?:[^<>"']*+(?:"[^"]*+"|'[^']*+')){{{_MOST_QUOTED}}}|[^<>"']{{{_MOST_BARE}}})"""
)
_NO_TAGS = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.I | re.S)
_FRAME_TAG = re.compile(r"</?iframe\b[^>]*>", re.I)
#: Elements that are not counted in the nesting depth, because they are empty or implicitly closed.
_FLAT = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr", "p", "li", "dt", "dd", "option", "tr", "td", "th", "thead", "tbody", "tfoot",
    "script", "style", "path", "use", "circle", "rect", "line", "polygon", "g",
))  # fmt: skip
#: Formatting elements that may contain elements of the same name, unlike `a` and `nobr`.
_FORMATTING = frozenset((
    "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u",
))  # fmt: skip


def bounded(html: str) -> tuple[str, int]:
    """Return the part of a page that is safe to parse, and the number of characters cut. Raises
    TooLarge if an element has too many attributes, and Unreadable if the page is binary data.
    """
    start = html[:_SAMPLE]
    if sum(map(start.count, _BINARY)) * 20 > len(start):
        raise Unreadable("this is binary data, not a page", hint="check its type")
    text = html[:MOST_CHARS].replace("\0", "")
    if "<iframe" in text or "<IFRAME" in text:
        # An unclosed iframe would swallow the rest of the page.
        text = _FRAME_TAG.sub("", text)
    if _may_hold_long_tag(text) and _LONG_TAG.search(_NO_TAGS.sub("", text)):
        raise TooLarge("an element of the page has too many attributes")
    end = _end(text)
    return text[:end], len(text) - end + max(0, len(html) - MOST_CHARS)


def _may_hold_long_tag(text: str) -> bool:
    if len(text) <= HARMLESS_BYTES:
        return False
    few_quotes = text.count('"') + text.count("'") < 2 * _MOST_QUOTED
    # If every window of `half` characters contains a `<`, no tag has _MOST_BARE characters.
    half = _MOST_BARE // 2
    if few_quotes and all(
        text.find("<", at, at + half) >= 0 for at in range(0, len(text) - half + 1, half)
    ):
        return False
    return _LONG_TAG.search(text) is not None


def _end(text: str) -> int:
    """Return where to cut a page so that parsing takes linear time."""
    opened = text.count("<")
    if opened < HARMLESS_TAGS or (opened := opened - text.count("</")) < HARMLESS_TAGS:
        return len(text)
    tags = _TAG.findall(text)
    counts: Counter[str] = Counter()
    for tag, count in Counter(tags).items():
        counts[tag.lower()] += count
    nesting = sum(count for tag, count in counts.items() if tag[0] != "/" and tag not in _FLAT)
    formatting = sum(counts[tag] for tag in _FORMATTING)
    if opened > MOST_TAGS or nesting > MOST_NESTING or formatting * opened > MOST_REOPENED:
        at = _first_beyond(tags)
        return len(text) if at is None else next(islice(_TAG.finditer(text), at, None)).start()
    return len(text)


def _first_beyond(tags: Sequence[str]) -> int | None:
    known = {tag: tag.lower() for tag in set(tags)}
    steps = {tag: (name.lstrip("/"), -1 if name[0] == "/" else 1) for tag, name in known.items()}
    open_now = {name: 0 for name, _ in steps.values()}
    opened = depth = formatting = reopened = 0
    for at, tag in enumerate(tags):
        name, step = steps[tag]
        if step > 0:
            opened, reopened = opened + 1, reopened + formatting
            if opened > MOST_TAGS:
                return at
        if name in _FLAT or (step < 0 and not open_now[name]):
            continue
        open_now[name] += step
        depth += step
        if name in _FORMATTING:
            formatting += step
        if depth > MOST_NESTING or reopened > MOST_REOPENED:
            return at
    return None


_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.I,
)
#: CSS values that may hide an element: a fast check before _HIDING.
_MAY_HIDE = re.compile(r":\s*(?:none|hidden|0[\d.]*|-\d{3,})", re.I)
#: Maximum length of the name of a CSS property that can hide an element.
_NAME = 20
_CLASS = re.compile(r"\.([\w-]+)")


def hiding_classes(tree: LexborHTMLParser) -> frozenset[str]:
    """Return the classes hidden by `<style>` elements, ignoring `@media` rules."""
    css = "".join(node.text() for node in tree.css("style"))[:MOST_STYLE_CHARS]
    found: set[str] = set()
    depth = at = 0
    for value in _MAY_HIDE.finditer(css):
        start = css.rfind("{", at, value.start())
        rule_holds = start >= 0 and css.find("}", start, value.start()) < 0
        if not rule_holds or not _HIDING.search(
            css, max(start, value.start() - _NAME), value.end()
        ):
            continue
        depth += css.count("{", at, start) - css.count("}", at, start)
        selector = css[max(at, *(css.rfind(sign, at, start) + 1 for sign in "{};")) : start]
        at = start
        if depth <= 0 and "." in selector:
            parts = [_CLASS.fullmatch(name.strip()) for name in selector.split(",")]
            found.update(match[1] for match in parts if match)
    return frozenset(found)


def is_hidden(node: LexborNode, attributes: dict[str, str | None], hiding: frozenset[str]) -> bool:
    """Return whether an element is hidden. Tab panels and long elements count as visible."""
    style = attributes.get("style")
    hides = "hidden" in attributes and attributes["hidden"] != "until-found"
    hides = hides or bool(style and _HIDING.search(style))
    if hiding and not hides:
        hides = not hiding.isdisjoint((attributes.get("class") or "").split())
    small = hides and attributes.get("role") != "tabpanel"
    small = small and len(node.text().strip()) <= MOST_HIDDEN_CHARS
    return small and not holds_formula_alone(node)

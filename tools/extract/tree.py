"""The text in an element of a parsed page."""

from __future__ import annotations

from lxml.html import HtmlElement

_SHOWN = ".//text()[not(parent::script or parent::style or parent::noscript)]"


def text_of(element: HtmlElement) -> str:
    """All text in an element."""
    return "".join(element.itertext())


def shown_chars(element: HtmlElement) -> int:
    """How many characters of text an element has, without the space around its pieces and without scripts."""
    return sum(len(text.strip()) for text in element.xpath(_SHOWN))

"""Parse XML safely, and access its elements and text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5
from typing import Any

import lxml.etree as etree

from spadework.errors import TooLarge, Unreadable

#: Maximum number of tags and attributes in an XML tree. Each takes up to 200 bytes of memory.
MAX_NODES = 2_000_000

Element = Any  # lxml has no types.


def xml_tree(xml: bytes, what: str) -> Element:
    """Parse XML, repairing it if necessary. `what` names the document in errors. Raises TooLarge
    if there are more than MAX_NODES tags and attributes, and Unreadable if the XML cannot be
    repaired.
    """
    if xml.count(b"<") + xml.count(b"=") > MAX_NODES:
        raise TooLarge(f"The {what} has more than {MAX_NODES:,} tags and attributes.")
    try:
        root = etree.fromstring(xml, safe_parser(recover=True, remove_comments=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(
            f"The {what} is damaged: {str(error)[:100].strip(' .') or 'it is empty'}."
        ) from None
    if root is None:
        raise Unreadable(f"The {what} is damaged: it contains no XML.")
    return root


def safe_parser(**options: bool) -> Any:
    """Return a parser that opens no files or connections."""
    safe = {"resolve_entities": False, "load_dtd": False, "no_network": True, "huge_tree": False}
    return etree.XMLParser(remove_pis=True, **safe, **options)


def tag(element: Element) -> str:
    """Return an element's name without its namespace, or "" for nodes such as entities."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """Return the attribute with this name in any namespace, or `default`."""
    if element is None:
        return default
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return default


def below(element: Element, *names: str) -> Iterator[Element]:
    """Yield all descendants with these names, in document order."""
    return (found for found in element.iterdescendants() if tag(found) in names)


def child(element: Element | None, *path: str) -> Element | None:
    """Return the descendant at a path of child names, or None."""
    for name in path:
        children = element if element is not None else ()
        element = next((found for found in children if tag(found) == name), None)
    return element


def number(written: str, *, most: int) -> int:
    """Parse a whole number, capped at `most`. Return 0 for invalid text."""
    return min(int(written), most) if written.isdecimal() and len(written) < 19 else 0


def text(element: Element | None) -> str:
    """Return an element's text on one line, or "" for None."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


_NAMESPACE = "http://www.w3.org/1999/xhtml"
_HEAD_CHARS = 2_000
_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*\?>")
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*;)")
_OF_XML = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})
#: Self-closed elements that an HTML parser would leave open.
_SWALLOWING = re.compile(
    r"<(title|script|style|textarea|iframe|noscript|noembed|noframes|xmp)\b([^<>]*)/>",
    re.IGNORECASE,
)


def as_html(text: str) -> str:
    """Return XHTML as equivalent HTML, and other text unchanged. In malformed XHTML, change only
    self-closed elements that would swallow the rest, such as `<script/>`.
    """
    head = text[:_HEAD_CHARS]
    if _NAMESPACE not in head or ("/>" not in text and "<![CDATA[" not in text):
        return text
    root = _well_formed(text)
    if root is None:
        return _SWALLOWING.sub(r"<\1\2></\1>", text)
    for element in root.iter(f"{{{_NAMESPACE}}}*"):
        element.tag = etree.QName(element).localname
    etree.cleanup_namespaces(root)
    return str(etree.tostring(root, method="html", encoding="unicode", doctype="<!DOCTYPE html>"))


def _well_formed(text: str) -> Any:
    """Parse XML that may contain HTML entities. Return its root, or None if it is malformed."""
    named = _ENTITY.sub(
        lambda name: name[0] if name[1] in _OF_XML else html5.get(name[1], name[0]),
        _DECLARATION.sub("", text, count=1),
    )
    try:
        return etree.fromstring(named.encode(errors="replace"), safe_parser())
    except (etree.XMLSyntaxError, ValueError):
        return None

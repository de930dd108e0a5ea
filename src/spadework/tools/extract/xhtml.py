"""XHTML as HTML: `<title/>` is empty there, while HTML reads all that follows as its text."""

from __future__ import annotations

import re
from html.entities import html5
from typing import Any

import lxml.etree as etree

from spadework.tools.extract.xml_tree import safe_parser

_NAMESPACE = "http://www.w3.org/1999/xhtml"
_HEAD_CHARS = 2_000
_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*\?>")
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*;)")
_OF_XML = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})
#: Elements that HTML does not end before their closing tag, whatever stands in them.
_SWALLOWING = re.compile(
    r"<(title|script|style|textarea|iframe|noscript|noembed|noframes|xmp)\b([^<>]*)/>",
    re.IGNORECASE,
)


def as_html(text: str) -> str:
    """A document as HTML that says what it says as XML, where it is XHTML; any other as it is.

    What calls itself XHTML and is not well-formed stays HTML, but for elements that are closed in
    themselves and would swallow the rest.
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
    """The root of well-formed XML, None for any other; HTML's names of characters are known."""
    named = _ENTITY.sub(
        lambda name: name[0] if name[1] in _OF_XML else html5.get(name[1], name[0]),
        _DECLARATION.sub("", text, count=1),
    )
    try:
        return etree.fromstring(named.encode(errors="replace"), safe_parser())
    except (etree.XMLSyntaxError, ValueError):
        return None

"""Extract page text from embedded data such as JSON-LD, script state and templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from spadework.errors import TooLarge
from spadework.tools.extract.markdown_writer import not_shown
from spadework.tools.extract.page.constants import LEAST_EMBEDDED_CHARS, MOST_EMBEDDED_CHARS
from spadework.tools.extract.page.formulas import flatten
from spadework.tools.extract.page.inline_markup import Addresses, escaped
from spadework.tools.extract.page.input_limits import bounded
from spadework.tools.extract.page.metadata import Json, Metadata
from spadework.tools.extract.page.page_blocks import assemble
from spadework.tools.extract.page.walker import Walker

_SHELF = re.compile(r"^<(?:template|noscript)\b[^>]*>|</(?:template|noscript)>$")
_MARKUP = re.compile(r"<(?:p|div|br|h[1-6]|ul|ol|li|span|strong|em|a)\b", re.I)
_BODIES = ("articleBody", "text", "reviewBody", "description", "acceptedAnswer")
#: Names of meta tags that may hold the page text.
_META = ("articlebody", "text")
_CODE_LIKE = re.compile(r"[{};<>=]|\\u00|https?://\S+$")
#: Names that frameworks such as Next.js, Nuxt, Redux, Apollo and Remix give to a page's initial
#: state.
_STATE = re.compile(
    r"__[A-Z][A-Z0-9_]+__|__next_f|__remix\w*|\b(?:initial|preloaded|server|app)_?(?:state|data|props)\b",
    re.IGNORECASE,
)
_ATTRIBUTES = (
    "data-page", "data-props", "data-react-props", "data-state", "data-initial-state",
    "data-initial-props", "data-json",
)  # fmt: skip
_ANY = ",".join(f"[{name}]" for name in _ATTRIBUTES)
_LITERAL = re.compile(r'"((?:[^"\\\n]++|\\.)*+)"')
#: The start of a string that holds JSON, perhaps after a number and a colon, as in Next.js.
_DATA = re.compile(r"\s*(?:\w{1,8}:)?[\[{]\s*[\"\[{\]}]")
_HEXADECIMAL = re.compile(r"\\x([0-9a-fA-F]{2})")
#: Maximum nesting depth of JSON inside JSON strings.
_DEEPEST = 3


def described(found: Metadata, addresses: Addresses) -> list[str]:
    """Return long texts from JSON-LD and meta tags as Markdown."""
    meta = (found.meta[name] for name in _META if _is_text(found.meta.get(name, "")))
    return _unique(chain(_texts(found.objects), meta), addresses)


def state(tree: LexborHTMLParser, addresses: Addresses) -> list[str]:
    """Return the prose in JSON from scripts and data attributes, as Markdown."""
    return _unique((text for text in _state_texts(tree) if _is_text(text)), addresses)


def shelved(tree: LexborHTMLParser, addresses: Addresses) -> list[str]:
    """Return the prose in `<template>` and `<noscript>` elements as Markdown."""
    kept = (_SHELF.sub("", node.html or "") for node in tree.css("template,noscript"))
    return _unique((text for text in kept if _is_text(text)), addresses)


def _texts(objects: list[Json]) -> Iterator[str]:
    for thing in objects:
        for name in _BODIES:
            yield from filter(_is_text, _strings(thing.get(name)))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _is_text(text: str) -> bool:
    if len(text) < LEAST_EMBEDDED_CHARS:
        return False
    plain = re.sub(r"<[^>]{0,300}>", " ", text)
    words = plain.split()
    return len(words) >= 15 and len(_CODE_LIKE.findall(plain)) * 20 < len(words)


def _state_texts(tree: LexborHTMLParser) -> Iterator[str]:
    for script in tree.css("script"):
        text = script.text()
        if "json" in (script.attributes.get("type") or "").lower() or _STATE.search(text):
            yield from _literals(text)
    for node in tree.css(_ANY):
        for name in _ATTRIBUTES:
            yield from _literals(node.attributes.get(name) or "")


def _literals(data: str, depth: int = 1) -> Iterator[str]:
    for literal in _LITERAL.finditer(data):
        if len(literal[1]) >= LEAST_EMBEDDED_CHARS:
            text = _unescaped(literal[1])
            if depth < _DEEPEST and _DATA.match(text):
                yield from _literals(text, depth + 1)
            else:
                yield text


def _unescaped(literal: str) -> str:
    if "\\x" in literal or "\\'" in literal:
        literal = _HEXADECIMAL.sub(r"\\u00\1", literal).replace("\\'", "'")
    try:
        text: str = json.loads(f'"{literal}"', strict=False)
    except ValueError:
        return ""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unique(texts: Iterator[str], addresses: Addresses) -> list[str]:
    kept: dict[str, None] = {}
    size = left_out = 0
    for text in texts:
        if size >= MOST_EMBEDDED_CHARS:
            left_out += 1
            continue
        markdown = _markdown(text, addresses).strip()
        if markdown and markdown not in kept:
            kept[markdown] = None
            size += len(markdown)
    return [*kept, *([not_shown(left_out, "texts")] if left_out else [])]


def _markdown(text: str, addresses: Addresses) -> str:
    if not _MARKUP.search(text):
        return "\n\n".join(
            escaped(" ".join(part.split())) for part in re.split(r"\n\s*\n|\r\n\r\n", text)
        )
    try:
        tree = LexborHTMLParser(bounded(text)[0])
    except TooLarge:
        return ""
    flatten(tree, text)
    return assemble(Walker(addresses).walk(tree.body)) if tree.body is not None else ""

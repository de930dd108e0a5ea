"""Text that lives in the data of a page, not in its elements: JSON-LD, and the JSON state of pages that scripts draw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from spadework.errors import TooLarge
from spadework.tools.extract.page.addresses import Addresses
from spadework.tools.extract.page.assembly import assemble
from spadework.tools.extract.page.constants import LEAST_EMBEDDED_CHARS, MOST_EMBEDDED_CHARS
from spadework.tools.extract.page.inline import escaped
from spadework.tools.extract.page.limits import bounded
from spadework.tools.extract.page.metadata import Json, Metadata, json_objects
from spadework.tools.extract.page.walker import Walker

_STATE = 'script[type="application/json"]'
_MARKUP = re.compile(r"<(?:p|div|br|h[1-6]|ul|ol|li|span|strong|em|a)\b", re.I)
_BODIES = ("articleBody", "text", "reviewBody", "description", "acceptedAnswer")
_CODE_LIKE = re.compile(r"[{};<>=]|\\u00|https?://\S+$")


def described(found: Metadata, addresses: Addresses) -> list[str]:
    """The texts of the JSON-LD objects as Markdown: article bodies, posts, answers and descriptions."""
    return _unique(_texts(found.objects, _BODIES), addresses)


def state(tree: LexborHTMLParser, addresses: Addresses) -> list[str]:
    """The prose in the JSON state of a page that scripts draw, as Markdown."""
    objects = [thing for script in tree.css(_STATE) for thing in json_objects(script.text())]
    return _unique(_texts(objects, None), addresses)


def _texts(objects: list[Json], names: tuple[str, ...] | None) -> Iterator[str]:
    for thing in objects:
        for name, value in thing.items():
            if names is None or name in names:
                yield from (text for text in _strings(value) if len(text) >= LEAST_EMBEDDED_CHARS and _is_prose(text))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _is_prose(text: str) -> bool:
    plain = re.sub(r"<[^>]{0,300}>", " ", text)
    words = plain.split()
    return len(words) >= 15 and len(_CODE_LIKE.findall(plain)) * 20 < len(words)


def _unique(texts: Iterator[str], addresses: Addresses) -> list[str]:
    kept: dict[str, None] = {}
    size = 0
    for text in texts:
        markdown = _markdown(text, addresses).strip()
        if markdown and markdown not in kept and size < MOST_EMBEDDED_CHARS:
            kept[markdown] = None
            size += len(markdown)
    return list(kept)


def _markdown(text: str, addresses: Addresses) -> str:
    if not _MARKUP.search(text):
        return "\n\n".join(escaped(" ".join(part.split())) for part in re.split(r"\n\s*\n|\r\n\r\n", text))
    try:
        body = LexborHTMLParser(bounded(text)).body
    except TooLarge:
        return ""
    return assemble(Walker(addresses).walk(body)) if body is not None else ""

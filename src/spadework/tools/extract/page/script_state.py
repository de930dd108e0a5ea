"""The texts in the JSON state of pages that scripts draw: in scripts of data, in assignments of
other scripts, and in attributes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from spadework.tools.extract.page.constants import LEAST_EMBEDDED_CHARS

#: What frameworks name the state they begin with: Next.js, Nuxt, Redux, Apollo, Remix and their
#: like.
_STATE = re.compile(
    r"__[A-Z][A-Z0-9_]+__|__next_f|__remix\w*|\b(?:initial|preloaded|server|app)_?(?:state|data|props)\b",
    re.IGNORECASE,
)
_ATTRIBUTES = (
    "data-page",
    "data-props",
    "data-react-props",
    "data-state",
    "data-initial-state",
    "data-initial-props",
    "data-json",
)
_ANY = ",".join(f"[{name}]" for name in _ATTRIBUTES)
_LITERAL = re.compile(r'"((?:[^"\\\n]++|\\.)*+)"')
#: A text that is data itself; those of Next.js begin with their number.
_DATA = re.compile(r"\s*(?:\w{1,8}:)?[\[{]\s*[\"\[{\]}]")
_HEXADECIMAL = re.compile(r"\\x([0-9a-fA-F]{2})")
#: How often data may stand as a text in data.
_DEEPEST = 3


def state_texts(tree: LexborHTMLParser) -> Iterator[str]:
    """Every long string of the state of a page, in its order; whether it is meant for a reader,
    only its words tell.
    """
    for script in tree.css("script"):
        text = script.text()
        if "json" in (script.attributes.get("type") or "").lower() or _STATE.search(text):
            yield from _strings(text)
    for node in tree.css(_ANY):
        for name in _ATTRIBUTES:
            yield from _strings(node.attributes.get(name) or "")


def _strings(data: str, depth: int = 1) -> Iterator[str]:
    """The strings of JSON, or of a script that holds some, and those of JSON that stands in them as
    a text.
    """
    for literal in _LITERAL.finditer(data):
        if len(literal[1]) >= LEAST_EMBEDDED_CHARS:
            text = _unescaped(literal[1])
            if depth < _DEEPEST and _DATA.match(text):
                yield from _strings(text, depth + 1)
            else:
                yield text


def _unescaped(literal: str) -> str:
    """A string of JSON or of a script; "" where it is neither."""
    if "\\x" in literal or "\\'" in literal:
        literal = _HEXADECIMAL.sub(r"\\u00\1", literal).replace("\\'", "'")
    try:
        text: str = json.loads(f'"{literal}"', strict=False)
    except ValueError:
        return ""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

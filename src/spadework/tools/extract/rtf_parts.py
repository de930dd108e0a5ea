"""RTF cut into its parts: groups that open and close, control words, and bytes of text in the code
page of their font.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from striprtf.striprtf import charset_map

#: Signs of their own; every other control symbol is left out.
SIGNS = {
    "~": "\xa0",
    "_": "\u2011",
    "tab": "\t",
    "line": "\n",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
}
SIGNS |= {
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "nestcell": " ",
}

_PART = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?"
    rb" ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)",
)
#: What closes, what opens, and a control word: the first of each part's three.
Part = tuple[str, bytes, int | None]


def parts(body: bytes) -> Iterator[Part]:
    """The parts of a file as (what, bytes, number): "{", "}", "" with bytes of text, or a control
    word with its number or None.
    """
    place = 0
    while found := _PART.search(body, place):
        place = found.end()
        word, number, code, sign, brace, text = found.groups()
        if word:
            argument = int(number) if number else None
            if word == b"bin":
                place += max(argument or 0, 0)
            else:
                yield word.decode("ascii"), b"", argument
        elif code:
            yield "", bytes((int(code, 16),)), None
        elif brace:
            yield brace.decode("ascii"), b"", None
        elif text:
            yield "", text, None
        elif sign in (b"\\", b"{", b"}"):
            yield "", sign, None
        elif sign:
            yield "par" if sign in b"\r\n" else sign.decode("latin-1"), b"", None


def codec(charset: int | None, default: str) -> str:
    """The codec of a font by the number of its character set; `default` where that says nothing, or
    only "the usual".
    """
    return _known(charset_map.get(charset, default), default) if charset else default


def code_page(number: int | None) -> str:
    """The codec of a code page."""
    return _known(f"cp{number}", "cp1252")


def _known(name: str, default: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        return default
    return name


def whole_signs(text: str) -> str:
    """Text whose signs beyond the first 65,536 came in two halves."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

"""Bytes as text: by byte order mark, by what the server says, by what the page says, and else by
looking.
"""

from __future__ import annotations

import codecs
import re

#: What browsers really mean by some names (WHATWG Encoding): supersets, so that nothing is lost.
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_META = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE
)
_META_BYTES = 4_096

#: Only these families of codecs: Python knows others that are not for pages, and slow for long
#: ones.
_PAGE_CODECS = re.compile(r"utf-(8|16|32)|iso|cp|koi8|gb|big5|shift|euc|mac|tis|hz|johab|kz|ptcp")


def decode(body: bytes, charset: str = "") -> str:
    """The text of a document; `charset` is what the server named. UTF-8 where that fits, else
    Windows-1252, never an error.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace")
    declared = _META.search(body[:_META_BYTES])
    named = (charset, declared[1].decode("ascii", "ignore") if declared else "")
    # Any bytes fit a charset of one byte a character, so that its name proves nothing; text that
    # fits UTF-8 by chance is rare.
    for name in ("utf-8", *named) if any(map(_says_little, named)) else (*named, "utf-8"):
        try:
            return body.decode(_codec(name))
        except (LookupError, ValueError):
            continue
    return body.decode("cp1252", "replace")


def _says_little(name: str) -> bool:
    """Is it the name that servers give to everything, whatever it is?"""
    try:
        return _codec(name) == "cp1252"
    except (LookupError, ValueError):
        return False


def _codec(name: str) -> str:
    """Python's name of a codec. Raises LookupError when it is unknown or not one for pages."""
    codec = codecs.lookup(name.strip() or "?").name
    codec = _SUPERSETS.get(codec, codec)
    if not _PAGE_CODECS.match(codec):
        raise LookupError(name)
    return codec

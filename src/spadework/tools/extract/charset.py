"""Decoding bytes: by mark, as UTF-8 if valid, as declared if the letters agree, else by
detection.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

#: Supersets that browsers use for some names (WHATWG Encoding), so that nothing is lost.
_SUPERSETS = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs",
    "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: This many bytes of markup, or of an e-mail's head, are ASCII.
_FIRST = 8
_DECLARED = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})",
    re.IGNORECASE,
)
_DECLARED_BYTES = 4_096
_MARKUP = re.compile(rb"<[^<>]{0,2000}>")
#: Codec families used for pages; others are slow on long text.
_PAGE_CODECS = re.compile(r"utf-(8|16|32)|iso|cp|koi8|gb|big5|shift|euc|mac|tis|hz|johab|kz|ptcp")
#: Charsets of pages without a declaration.
_LOOKED_FOR = (
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp866",
    "cp874", "cp932", "cp949", "big5hkscs", "euc-jp", "gb18030", "iso2022_jp_2", "iso8859-2",
    "iso8859-5", "iso8859-7", "koi8-r",
)  # fmt: skip
#: Bytes examined, and the fewest non-ASCII letters that allow a guess.
_LOOKED_AT, _LEAST_LETTERS = 60_000, 6
#: A declared charset is used if at most this much less likely than the likeliest; below `SURE`
#: it is doubtful (benchmarks/charsets.py).
CLOSE, SURE = 0.02, 0.1
#: Start of other letters in an all-ASCII Japanese charset.
_SHIFT = b"\x1b$"
#: Text is UTF-8 if less than one letter in this many is broken.
_BROKEN = 10


@dataclass(frozen=True)
class Decoded:
    """The text of a document, its charset, and whether that is `doubtful`."""

    text: str
    charset: str = "utf-8"
    doubtful: bool = False


def decode(body: bytes, charset: str = "") -> str:
    """Return a document's text given the server's `charset`, with U+FFFD for unreadable bytes."""
    return decode_body(body, charset).text


def decode_body(body: bytes, charset: str = "") -> Decoded:
    """Return a document's text and its charset; `charset` is the server's."""
    marked = "utf-8-sig" if body.startswith(codecs.BOM_UTF8) else utf_16(body)
    if marked:
        return Decoded(body.decode(marked, "replace"), marked)
    declared = _declared_codecs(body, charset)
    return _stateful(body, declared) or _utf8(body) or _by_its_letters(body, declared)


def utf_16(body: bytes) -> str:
    """Return which UTF-16 the bytes are, by mark or ASCII letters at the start, or ""."""
    if body.startswith(_WIDE_MARKS):
        return "utf-16"
    for codec in ("utf-16-le", "utf-16-be"):
        start = body[:_FIRST].decode(codec, "replace")
        if len(start) > 1 and all(" " <= letter < "\x7f" or letter.isspace() for letter in start):
            return codec
    return ""


def _declared_codecs(body: bytes, charset: str) -> list[str]:
    said = _DECLARED.search(body[:_DECLARED_BYTES])
    names = (charset, said[1].decode("ascii", "ignore") if said else "")
    return [codec for name in names if (codec := _codec(name))]


def _stateful(body: bytes, declared: list[str]) -> Decoded | None:
    """Return text in an all-ASCII charset, or one recognised by its zero bytes alone."""
    for codec in declared:
        if codec.startswith(("iso2022", "hz", "utf-16", "utf-32")):
            try:
                return Decoded(body.decode(codec), codec)
            except ValueError:
                continue
    return None


def _utf8(body: bytes) -> Decoded | None:
    """Return text that is almost certainly UTF-8, else None."""
    if _SHIFT in body[:_LOOKED_AT]:
        return None
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken and _BROKEN * broken > sum(letter > "\x7f" for letter in text) - broken:
        return None
    return Decoded(text)


def _by_its_letters(body: bytes, declared: list[str]) -> Decoded:
    """Return text in the charset its letters suggest, or a declared one nearly as likely."""
    likely = _likely(body)
    best = max(likely, key=lambda codec: likely[codec], default="cp1252")
    least = likely.get(best, 0.0) - CLOSE
    for codec in declared:
        if likely.get(codec, 0.0) >= least and _fits(body, codec):
            return Decoded(body.decode(codec), codec)
    return Decoded(body.decode(best, "replace"), best, likely.get(best, 0.0) < SURE)


def _likely(body: bytes) -> Mapping[str, float]:
    """Return the likelihood (0–1) of each detectable charset, empty with too few letters."""
    seen = body[:_LOOKED_AT]
    if not _letters(seen):
        seen = b" ".join(_lines(body))
    if not _letters(seen):
        return {}
    import chardet  # takes 0.1 s, and most pages are UTF-8

    if _SHIFT not in seen:  # markup would bias it towards the declared charset
        seen = _MARKUP.sub(b" ", seen)
    found = chardet.detect_all(seen, ignore_threshold=True, include_encodings=_LOOKED_FOR)
    told = [(_codec(one["encoding"] or ""), one["confidence"]) for one in found]
    return {codec: likely for codec, likely in reversed(told) if codec}


def _lines(body: bytes) -> list[bytes]:
    """Return the lines with non-ASCII letters, up to the bytes examined."""
    lines: list[bytes] = []
    room = _LOOKED_AT
    for line in body.splitlines():
        if room > 0 and not line.isascii():
            lines.append(line[:room])
            room -= len(line)
    return lines


def _letters(seen: bytes) -> bool:
    return _SHIFT in seen or sum(byte > 0x7F for byte in seen) >= _LEAST_LETTERS


def _fits(body: bytes, codec: str) -> bool:
    try:
        body.decode(codec)
    except ValueError:
        return False
    return True


def _codec(name: str) -> str:
    """Return Python's name of a codec, or "" if unknown or not used for pages."""
    try:
        codec = codecs.lookup(name.strip() or "?").name
    except (LookupError, ValueError):
        return ""
    codec = _SUPERSETS.get(codec, codec)
    return codec if _PAGE_CODECS.match(codec) else ""

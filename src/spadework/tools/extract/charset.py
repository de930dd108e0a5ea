"""Bytes as text: by mark, as UTF-8 if they fit, as declared if the letters agree, else by these."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

#: What browsers really mean by some names (WHATWG Encoding): supersets, so that nothing is lost.
_SUPERSETS = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs",
    "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: So many bytes of markup, or of the head of an e-mail, are ASCII.
_FIRST = 8
_DECLARED = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})",
    re.IGNORECASE,
)
_DECLARED_BYTES = 4_096
_MARKUP = re.compile(rb"<[^<>]{0,2000}>")
#: Only these families of codecs: others are not for pages, and slow for long ones.
_PAGE_CODECS = re.compile(r"utf-(8|16|32)|iso|cp|koi8|gb|big5|shift|euc|mac|tis|hz|johab|kz|ptcp")
#: What pages without a declaration are written in.
_LOOKED_FOR = (
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp866",
    "cp874", "cp932", "cp949", "big5hkscs", "euc-jp", "gb18030", "iso2022_jp_2", "iso8859-2",
    "iso8859-5", "iso8859-7", "koi8-r",
)  # fmt: skip
#: Bytes that are looked at, and at least so many letters beyond ASCII are needed to tell anything.
_LOOKED_AT, _LEAST_LETTERS = 60_000, 6
#: A declaration holds where its charset is hardly less likely than the likeliest; what is less
#: likely than `SURE` is doubtful (benchmarks/charsets.py).
CLOSE, SURE = 0.02, 0.1
#: What begins other letters in a charset of Japan whose bytes are all ASCII.
_SHIFT = b"\x1b$"
#: UTF-8 in which less than one letter in so many is broken is UTF-8 all the same.
_BROKEN = 10


@dataclass(frozen=True)
class Decoded:
    """The text of a document, the charset it was read in, and whether that is `doubtful`."""

    text: str
    charset: str = "utf-8"
    doubtful: bool = False


def decode(body: bytes, charset: str = "") -> str:
    """A document's text; `charset` is the server's. Never an error: U+FFFD for the unreadable."""
    return decode_body(body, charset).text


def decode_body(body: bytes, charset: str = "") -> Decoded:
    """The text of a document with its charset; `charset` is what the server named."""
    marked = "utf-8-sig" if body.startswith(codecs.BOM_UTF8) else utf_16(body)
    if marked:
        return Decoded(body.decode(marked, "replace"), marked)
    declared = _declared_codecs(body, charset)
    return _stateful(body, declared) or _utf8(body) or _by_its_letters(body, declared)


def utf_16(body: bytes) -> str:
    """Return which UTF-16 some bytes are, "" for none: by their mark, or by their first letters, as
    far as these are ASCII.
    """
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
    """Text in a charset whose bytes are all ASCII, or that is known by its zeros alone."""
    for codec in declared:
        if codec.startswith(("iso2022", "hz", "utf-16", "utf-32")):
            try:
                return Decoded(body.decode(codec), codec)
            except ValueError:
                continue
    return None


def _utf8(body: bytes) -> Decoded | None:
    """Text that is UTF-8, by chance hardly ever; None for other bytes."""
    if _SHIFT in body[:_LOOKED_AT]:
        return None
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken and _BROKEN * broken > sum(letter > "\x7f" for letter in text) - broken:
        return None
    return Decoded(text)


def _by_its_letters(body: bytes, declared: list[str]) -> Decoded:
    """Text in the charset its letters speak for, or a declared one that is hardly less likely."""
    likely = _likely(body)
    best = max(likely, key=lambda codec: likely[codec], default="cp1252")
    least = likely.get(best, 0.0) - CLOSE
    for codec in declared:
        if likely.get(codec, 0.0) >= least and _fits(body, codec):
            return Decoded(body.decode(codec), codec)
    return Decoded(body.decode(best, "replace"), best, likely.get(best, 0.0) < SURE)


def _likely(body: bytes) -> Mapping[str, float]:
    """How likely each charset is, 0..1, for those that can be told; none for a few letters."""
    seen = body[:_LOOKED_AT]
    if not _letters(seen):
        seen = b" ".join(_lines(body))
    if not _letters(seen):
        return {}
    import chardet  # it takes a tenth of a second, and most pages are UTF-8

    if _SHIFT not in seen:  # markup has a say of its own there, and says again what is declared
        seen = _MARKUP.sub(b" ", seen)
    found = chardet.detect_all(seen, ignore_threshold=True, include_encodings=_LOOKED_FOR)
    told = [(_codec(one["encoding"] or ""), one["confidence"]) for one in found]
    return {codec: likely for codec, likely in reversed(told) if codec}


def _lines(body: bytes) -> list[bytes]:
    """The lines of a long document that hold letters beyond ASCII, up to what is looked at."""
    lines: list[bytes] = []
    room = _LOOKED_AT
    for line in body.splitlines():
        if room > 0 and not line.isascii():
            lines.append(line[:room])
            room -= len(line)
    return lines


def _letters(seen: bytes) -> bool:
    """Whether enough letters beyond ASCII are there to tell anything."""
    return _SHIFT in seen or sum(byte > 0x7F for byte in seen) >= _LEAST_LETTERS


def _fits(body: bytes, codec: str) -> bool:
    try:
        body.decode(codec)
    except ValueError:
        return False
    return True


def _codec(name: str) -> str:
    """Python's name of a codec, "" where it is unknown or not one for pages."""
    try:
        codec = codecs.lookup(name.strip() or "?").name
    except (LookupError, ValueError):
        return ""
    codec = _SUPERSETS.get(codec, codec)
    return codec if _PAGE_CODECS.match(codec) else ""

"""Detect a document's kind and decode its text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from spadework.errors import Unreadable
from spadework.tools.extract.formats import added_formats

#: First bytes of Office files from before 2007.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
STORAGE = "application/x-ole-storage"
#: Size in bytes of an OLE file's header and of each directory entry.
_HEADER, _ENTRY = 512, 128
#: Program and file extension of unsupported OLE formats, keyed by the name of a stream in the
#: file.
_STREAMS = {"WordDocument": ("Word", "doc"), "PowerPoint Document": ("PowerPoint", "ppt")}
#: Readers of the supported OLE formats, keyed by the name of a stream in the file.
_OFFICE = {"Workbook": "xls", "Book": "xls", "__properties_version1.0": "msg"}
_LOCKED = ("EncryptedPackage", "EncryptionInfo")


def old_refusal(body: bytes, media_type: str) -> Unreadable:
    """Return the error for an unsupported OLE file, such as an old .doc."""
    if any(_holds(body, name) for name in _LOCKED):
        return Unreadable("The document is protected by a password.")
    for stream, (name, ending) in _STREAMS.items():
        if _holds(body, stream):
            return Unreadable(
                f"Old {name} files (.{ending}) are not supported. Save as .{ending}x."
            )
    return Unreadable(f"{media_type} is not supported.")


def storage_reader(body: bytes) -> str:
    """Return the name of an OLE file's reader: `xls`, `msg` or `old` (locked or unsupported)."""
    if any(_holds(body, name) for name in (*_LOCKED, *_STREAMS)):
        return "old"
    return next((reader for name, reader in _OFFICE.items() if _holds(body, name)), "old")


def _holds(body: bytes, stream: str) -> bool:
    name = f"{stream}\0".encode("utf-16-le")
    at = body.find(name, _HEADER)
    while at >= 0 and (at - _HEADER) % _ENTRY:
        at = body.find(name, at + 1)
    return at >= 0


#: For each charset, the superset with which browsers decode it (WHATWG Encoding Standard).
_SUPERSETS = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs",
    "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Number of leading bytes checked for UTF-16. Markup and e-mail begin with ASCII characters, so a
#: few bytes are enough.
_FIRST = 8
_DECLARED = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})",
    re.IGNORECASE,
)
_DECLARED_BYTES = 4_096
_MARKUP = re.compile(rb"<[^<>]{0,2000}>")
#: Codecs that web pages use. Other codecs are slow on long text.
_PAGE_CODECS = re.compile(r"utf-(8|16|32)|iso|cp|koi8|gb|big5|shift|euc|mac|tis|hz|johab|kz|ptcp")
#: Charsets considered when guessing.
_LOOKED_FOR = (
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp866",
    "cp874", "cp932", "cp949", "big5hkscs", "euc-jp", "gb18030", "iso2022_jp_2", "iso8859-2",
    "iso8859-5", "iso8859-7", "koi8-r",
)  # fmt: skip
#: Maximum bytes examined to guess a charset, and minimum non-ASCII bytes needed for a guess.
_LOOKED_AT, _LEAST_LETTERS = 60_000, 6
#: A declared charset is used if its likelihood is at most CLOSE below that of the best guess. A
#: guess with a likelihood below SURE is doubtful.
CLOSE, SURE = 0.02, 0.1
#: Escape sequence before Japanese letters in ISO-2022-JP.
_SHIFT = b"\x1b$"
#: Text counts as UTF-8 if it has at least this many non-ASCII letters per invalid character.
_BROKEN = 10


@dataclass(frozen=True)
class Decoded:
    """A document's text and charset. `doubtful` marks an uncertain guess."""

    text: str
    charset: str = "utf-8"
    doubtful: bool = False


def decode(body: bytes, charset: str = "") -> str:
    """Return a document's text, with U+FFFD for invalid bytes. `charset` comes from the server."""
    return decode_body(body, charset).text


def decode_body(body: bytes, charset: str = "") -> Decoded:
    """Return a document's text and charset. The server's `charset` can be wrong or ""."""
    marked = "utf-8-sig" if body.startswith(codecs.BOM_UTF8) else utf_16(body)
    if marked:
        return Decoded(body.decode(marked, "replace"), marked)
    declared = _declared_codecs(body, charset)
    return _stateful(body, declared) or _utf8(body) or _by_its_letters(body, declared)


def utf_16(body: bytes) -> str:
    """Return the UTF-16 codec implied by the first bytes, or ""."""
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
    """Decode text with a declared 7-bit, UTF-16 or UTF-32 codec. Return None if none fits."""
    for codec in declared:
        if codec.startswith(("iso2022", "hz", "utf-16", "utf-32")):
            try:
                return Decoded(body.decode(codec), codec)
            except ValueError:
                continue
    return None


def _utf8(body: bytes) -> Decoded | None:
    if _SHIFT in body[:_LOOKED_AT]:
        return None
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken and _BROKEN * broken > sum(letter > "\x7f" for letter in text) - broken:
        return None
    return Decoded(text)


def _by_its_letters(body: bytes, declared: list[str]) -> Decoded:
    likely = _likely(body)
    best = max(likely, key=lambda codec: likely[codec], default="cp1252")
    least = likely.get(best, 0.0) - CLOSE
    for codec in declared:
        if likely.get(codec, 0.0) >= least and _fits(body, codec):
            return Decoded(body.decode(codec), codec)
    return Decoded(body.decode(best, "replace"), best, likely.get(best, 0.0) < SURE)


def _likely(body: bytes) -> Mapping[str, float]:
    """Return the likelihood (0–1) of each charset, or {} if there are too few letters to guess."""
    seen = body[:_LOOKED_AT]
    if not _letters(seen):
        seen = b" ".join(_lines(body))
    if not _letters(seen):
        return {}
    import chardet  # Imported here because it takes 0.1 s, and most pages do not need it.

    if _SHIFT not in seen:  # Drop markup, which would bias the guess towards the declared charset.
        seen = _MARKUP.sub(b" ", seen)
    found = chardet.detect_all(seen, ignore_threshold=True, include_encodings=_LOOKED_FOR)
    told = [(_codec(one["encoding"] or ""), one["confidence"]) for one in found]
    return {codec: likely for codec, likely in reversed(told) if codec}


def _lines(body: bytes) -> list[bytes]:
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
    try:
        codec = codecs.lookup(name.strip() or "?").name
    except (LookupError, ValueError):
        return ""
    codec = _SUPERSETS.get(codec, codec)
    return codec if _PAGE_CODECS.match(codec) else ""


_MAGIC = (
    (b"%PDF-", "application/pdf"), (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"), (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"), (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"), (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (OLE, STORAGE), (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x7fELF", "application/x-executable"), (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x00asm", "application/wasm"), (b"OggS\x00", "audio/ogg"),
    *((b"ID3" + bytes([version]), "audio/mpeg") for version in (2, 3, 4)),
    (b"{\\rtf", "application/rtf"), (b"%!PS", "application/postscript"),
)  # fmt: skip
#: Each row: a file's first bytes, the offset of a second signature, that signature, and the media
#: type.
_FURTHER_ON = (
    (b"RIFF", 8, b"WEBP", "image/webp"), (b"RIFF", 8, b"WAVE", "application/x-riff"),
    (b"RIFF", 8, b"AVI ", "application/x-riff"), (b"", 4, b"ftypavif", "image/avif"),
    (b"", 4, b"ftypavis", "image/avif"), (b"BM", 6, bytes(4), "image/bmp"),
)  # fmt: skip
#: Markup in which at most this fraction of the bytes are null still counts as text.
_MOST_NULLS = 0.05
_SNIFFED = 1_024

#: Text that may precede a document's first element.
_BEFORE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,20000}?-->\s*)?", re.S
)
_HTML = re.compile(rb"(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype html|html|head|body|title)\b", re.I)
_XML = re.compile(rb"<(?:rss|feed|rdf:RDF)\b")

_READERS = {
    media_type: reader
    for reader, media_types in {
        "html": "text/html application/xhtml+xml",
        "pdf": "application/pdf",
        "markdown": "text/markdown text/x-markdown",
        "rst": "text/x-rst text/prs.fallenstein.rst",
        "xml": "text/xml application/xml image/svg+xml",
        "delimited": "text/csv application/csv text/tab-separated-values",
        "mail": "message/rfc822",
        "rtf": "application/rtf",
        "image": "image/png image/jpeg image/gif image/tiff image/webp image/avif image/bmp",
        "zip": "application/zip",
        "tar": "application/x-tar",
        "packed": "application/gzip application/x-bzip2 application/x-xz",
        "old": STORAGE,
        "xls": "application/vnd.ms-excel",
        "msg": "application/vnd.ms-outlook",
    }.items()
    for media_type in media_types.split()
}
_READER_ENDINGS = {
    **dict.fromkeys(("md", "markdown", "mdx"), "markdown"),
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("xml", "rss", "atom", "svg"), "xml"),
    **dict.fromkeys(("csv", "tsv"), "delimited"),
    "rst": "rst",
    "eml": "mail",
}
#: Readers chosen only by a document's first bytes, never by its media type alone.
_BY_MAGIC = frozenset({"pdf", "rtf", "image", "zip", "tar", "packed", "old", "xls", "msg"})
#: Media types that Office programs register for every file they can open.
_OF_OFFICE = re.compile(r"application/(?:msword|rtf|vnd\.(?:ms-|openxml|oasis))")
#: Bytes that may precede a file's signature.
_BLANK = b"\xef\xbb\xbf\0 \t\r\n"
#: Three header lines at the start of a file, as in an e-mail.
_HEADERS = re.compile(rb"(?:[A-Z][\w-]{1,60}:[^\n]{1,900}\n(?:[ \t]+\S[^\n]{0,900}\n){0,40}){3}")
#: Any of four header lines. Every e-mail has at least one.
_OF_MAIL = re.compile(rb"^(?:received|return-path|message-id|mime-version):", re.I | re.M)
_TAR = slice(257, 262)

#: Media types that say nothing about the document.
_VAGUE = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/x-unknown", "text/plain"}
)

#: Programming languages, each followed by its alternative file extensions and media subtypes.
_ALIASES = """
bash sh zsh shellscript;  c h csrc;  clojure clj;  cmake;  cpp cc cxx hpp c++ c++src;  css;  dart
diff patch;  dockerfile;  elixir ex exs;  erlang erl;  go;  graphql;  groovy;  haskell hs
ini cfg conf properties;  java java-source;  javascript js mjs jsx ecmascript;  json jsonl
julia jl;  kotlin kt kts;  latex tex;  lua;  makefile mk;  nim;  nix;  ocaml ml;  perl pl pm;  php
powershell ps1;  proto;  python py pyi;  r;  ruby rb;  rust rs;  scala;  scss;  sql;  swift
terraform tf;  toml;  typescript ts tsx;  vim;  xml xsd;  yaml yml;  zig
"""
_LANGUAGES = {
    alias: names.split()[0]
    for names in re.split(r"[;\n]", _ALIASES.strip())
    for alias in names.split()
}


@dataclass(frozen=True)
class Kind:
    """How to read a document. `media_type` is named in errors. `reader` is html, pdf, markdown,
    rst, text, xml, delimited, mail, msg, rtf, xls, image, tar, zip (Office, e-book, archive),
    packed (gzip, bzip2, xz), old (other OLE files), code (in `language`), a format in the
    `formats` folder, or "" for none.
    """

    reader: str
    media_type: str
    language: str = ""


def kind_of(body: bytes, media_type: str, url: str) -> Kind:
    """Return a document's kind. `media_type` is lower-case without parameters, or ""."""
    for name, form in added_formats().items():
        by_name = media_type in (*_VAGUE, "application/json") and _suffix(url) in form.endings
        known = by_name or media_type in form.media_types
        if known or (form.magic and body.startswith(form.magic)):
            return Kind(name, media_type)
    told = media_type not in _VAGUE and media_type not in _READERS
    if found := _by_magic(body):
        reader = storage_reader(body) if found == STORAGE else _READERS.get(found, "")
        return Kind(reader, media_type if told else found)
    if body[_TAR] == b"ustar":
        return Kind("tar", "application/x-tar")
    head = body[:_SNIFFED]
    if head[4:8] == b"ftyp" or _is_binary(head):
        sent = f" sent as {media_type}" if media_type else ""
        return Kind("", media_type if told else f"a binary format{sent}")
    if media_type != "text/plain" and (kind := _by_markup(body)):
        return kind
    if media_type in _READERS and _READERS[media_type] not in _BY_MAGIC:
        return Kind(_READERS[media_type], media_type)
    if media_type in _VAGUE and _is_mail(body):
        return Kind("mail", "message/rfc822")
    if media_type in _VAGUE:
        return _vague(media_type, url)
    kind = _kind_of_other(media_type, url)
    is_other = not kind.reader and _OF_OFFICE.match(media_type) and _is_text(head)
    return _by_lines(head, media_type) if is_other else kind


def _is_mail(body: bytes) -> bool:
    head = body[: 4 * _SNIFFED]
    if wide := utf_16(head):
        head = head.decode(wide, "replace").encode()
    return _HEADERS.match(head) is not None and _OF_MAIL.search(head) is not None


def _is_text(head: bytes) -> bool:
    return bool(head.strip()) and not any(byte < 32 and byte not in b"\t\n\r\f" for byte in head)


def _by_lines(head: bytes, media_type: str) -> Kind:
    if head.lstrip(_BLANK).startswith(b"<"):
        return Kind("html", media_type)
    first = head.partition(b"\n")[0]
    return Kind("delimited" if b"\t" in first or first.count(b",") > 1 else "text", media_type)


def _is_binary(head: bytes) -> bool:
    most = len(head) * _MOST_NULLS if head.lstrip(b"\0 \t\r\n").startswith(b"<") else 0
    return head.count(0) > most and not utf_16(head)


def _by_magic(body: bytes) -> str:
    for magic, place, sign, found in _FURTHER_ON:
        if body.startswith(magic) and body.startswith(sign, place):
            return found
    start = body[:_SNIFFED].lstrip(_BLANK)
    return next((found for magic, found in _MAGIC if start.startswith(magic)), "")


def _by_markup(body: bytes) -> Kind | None:
    before = _BEFORE.match(body)
    start = before.end() if before else 0
    if _HTML.match(body, start):
        return Kind("html", "text/html")
    is_xml = b"<?xml" in body[:start] or _XML.match(body, start)
    return Kind("xml", "application/xml") if is_xml else None


def _vague(media_type: str, url: str) -> Kind:
    ending = _suffix(url)
    if ending in _READER_ENDINGS:
        return Kind(_READER_ENDINGS[ending], media_type)
    language = _LANGUAGES.get(ending, "")
    return Kind("code" if language else "text", media_type, language)


def _kind_of_other(media_type: str, url: str) -> Kind:
    main, _, subtype = media_type.partition("/")
    if subtype == "json" or subtype.endswith("+json"):
        return Kind("code", media_type, "json")
    if subtype.endswith("+xml") and main != "image":
        return Kind("xml", media_type)
    language = _LANGUAGES.get(subtype.removeprefix("x-"), "")
    language = language if main in ("text", "application") else ""
    if main == "text" and not language:
        return _vague(media_type, url)
    return Kind("code" if language else "", media_type, language)


def is_language(name: str) -> bool:
    """Return whether a lower-case name stands for a known programming language."""
    return name in _LANGUAGES


def file_name(url: str) -> str:
    """Return the last part of a URL's path, or ""."""
    try:
        return PurePosixPath(unquote(urlsplit(url).path)).name
    except ValueError:
        return ""


def _suffix(url: str) -> str:
    return file_name(url).lower().rpartition(".")[2]

"""Detecting a document's kind by first bytes, then media type, then the URL's extension."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from spadework.tools.extract.charset import utf_16
from spadework.tools.extract.formats import added_formats
from spadework.tools.extract.office.office import OLE, STORAGE, storage_reader

#: Unambiguous first bytes.
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
#: First bytes that are letters or shared, with a second sign at an offset.
_FURTHER_ON = (
    (b"RIFF", 8, b"WEBP", "image/webp"), (b"RIFF", 8, b"WAVE", "application/x-riff"),
    (b"RIFF", 8, b"AVI ", "application/x-riff"), (b"", 4, b"ftypavif", "image/avif"),
    (b"", 4, b"ftypavis", "image/avif"), (b"BM", 6, bytes(4), "image/bmp"),
)  # fmt: skip
#: Markup with at most this share of null bytes is a faulty page, else binary data.
_MOST_NULLS = 0.05
_SNIFFED = 1_024

#: What may precede the first element of a page or an XML document.
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
#: Kinds that only first bytes prove: without them the server's type is wrong.
_BY_MAGIC = frozenset({"pdf", "rtf", "image", "zip", "tar", "packed", "old", "xls", "msg"})
#: Media types that Office programs give to anything they save.
_OF_OFFICE = re.compile(r"application/(?:msword|rtf|vnd\.(?:ms-|openxml|oasis))")
#: What some programs write before a file's first bytes.
_BLANK = b"\xef\xbb\xbf\0 \t\r\n"
#: Headers at the start of an e-mail, one of which every e-mail has.
_HEADERS = re.compile(rb"(?:[A-Z][\w-]{1,60}:[^\n]{1,900}\n(?:[ \t]+\S[^\n]{0,900}\n){0,40}){3}")
_OF_MAIL = re.compile(rb"^(?:received|return-path|message-id|mime-version):", re.I | re.M)
_TAR = slice(257, 262)

#: Types that mean nothing or any text: content or extension decides.
_VAGUE = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/x-unknown", "text/plain"}
)

#: Languages, with extensions and media subtypes that differ from their names.
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
    """The reader of a document: html, pdf, markdown, rst, text, xml, delimited, mail, rtf, image,
    zip, tar, packed, old (Office before 2007 and other OLE storages), code (in `language`), "" for
    none, or the name of a format from the folder `formats`.

    `media_type` names it in a refusal. A `zip` may be an Office document, an e-book or an archive,
    depending on its parts.
    """

    reader: str
    media_type: str
    language: str = ""


def kind_of(body: bytes, media_type: str, url: str) -> Kind:
    """Return a document's kind; `media_type` is lower-case without parameters, or ""."""
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
    """Return whether the first bytes contain no control characters."""
    return bool(head.strip()) and not any(byte < 32 and byte not in b"\t\n\r\f" for byte in head)


def _by_lines(head: bytes, media_type: str) -> Kind:
    """Return the kind of text sent with the media type of an Office file."""
    if head.lstrip(_BLANK).startswith(b"<"):
        return Kind("html", media_type)
    first = head.partition(b"\n")[0]
    return Kind("delimited" if b"\t" in first or first.count(b",") > 1 else "text", media_type)


def _is_binary(head: bytes) -> bool:
    most = len(head) * _MOST_NULLS if head.lstrip(b"\0 \t\r\n").startswith(b"<") else 0
    return head.count(0) > most and not utf_16(head)


def _by_magic(body: bytes) -> str:
    """Return the media type that the first bytes prove, or ""."""
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
    """Return whether a lower-case name is a language or its file extension."""
    return name in _LANGUAGES


def file_name(url: str) -> str:
    """Return the last part of a URL's path, or ""."""
    try:
        return PurePosixPath(unquote(urlsplit(url).path)).name
    except ValueError:
        return ""


def _suffix(url: str) -> str:
    return file_name(url).lower().rpartition(".")[2]

"""Predict a hit's document type from its URL and title."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from spadework.tools.extract.pdf.ocr import has_ocr

Shape = Literal[
    "web page", "PDF", "document", "presentation", "spreadsheet", "image", "archive", "text",
    "feed", "data", "e-mail", "sound", "video", "program",
]  # fmt: skip

_ENDINGS: dict[Shape, str] = {
    "web page": "html htm xhtml php asp aspx jsp",
    "PDF": "pdf",
    "document": "doc docx odt rtf epub ps",
    "presentation": "ppt pptx odp",
    "spreadsheet": "xls xlsx ods csv tsv",
    "image": "png jpg jpeg gif tif tiff webp avif bmp svg heic",
    "archive": "zip tar gz tgz bz2 xz 7z rar zst",
    "text": "txt md rst",
    "feed": "rss atom",
    "data": "json jsonl xml yaml yml ipynb",
    "e-mail": "eml msg",
    "sound": "mp3 ogg wav flac m4a",
    "video": "mp4 webm avi mov mkv m4v",
    "program": "exe msi dmg apk deb rpm iso bin dll so jar whl",
}
_SHAPES: dict[str, Shape] = {
    ending: shape for shape, endings in _ENDINGS.items() for ending in endings.split()
}
#: Names of unsupported formats by file extension.
_UNREAD = {"ps": "PostScript", "heic": "HEIC", "7z": "7z", "rar": "rar", "zst": "zstd"}
_OLD = frozenset({"doc", "ppt"})
#: File type marks that search engines put before a title.
_MARK = re.compile(r"^\s*[\[(](pdf|docx?|xlsx?|pptx?|odt|rtf)[\])]", re.IGNORECASE)
#: Paths of web pages that display a file instead of serving it.
_SHOWN = re.compile(r"/(?:blob|wiki|blame|src/branch)/|/[^/]*:[^/]*$", re.IGNORECASE)
#: Score factor for hits that need OCR, which is slow.
SLOW = 0.5
#: Names of unsupported media types, by prefix.
_TYPES = (
    ("audio/", "sound"),
    ("video/", "a video"),
    ("font/", "a font"),
    ("application/vnd.microsoft.portable-executable", "a program"),
    ("application/x-msdownload", "a program"),
    ("application/vnd.android.package-archive", "a program"),
)
#: Media type of MPEG video, which servers also send for TypeScript files.
_TYPESCRIPT = "video/mp2t"
#: Words in media types that reveal a document's type.
_WORDS: dict[Shape, tuple[str, ...]] = {
    "web page": ("html",),
    "PDF": ("pdf",),
    "spreadsheet": ("spreadsheet", "excel", "csv", "tab-separated"),
    "presentation": ("presentation", "powerpoint"),
    "document": ("word", "opendocument", "rtf", "epub"),
    "feed": ("rss", "atom"),
    "e-mail": ("rfc822", "outlook"),
    "data": ("json", "xml"),
    "archive": ("zip", "tar", "x-bzip", "x-xz"),
}


class Foreseen(NamedTuple):
    """A hit's probable document type, the reason why the hit cannot be read (or ""), and a factor
    for its score (0 to 1).
    """

    shape: Shape
    refused: str = ""
    worth: float = 1.0


def foreseen(url: str, title: str = "") -> Foreseen:
    """Predict a hit's type, and whether the hit can be read."""
    ending = _suffix(url)
    mark = _MARK.match(title)
    ending = mark[1].lower() if mark and ending not in _SHAPES else ending
    shape = _SHAPES.get(ending, "web page")
    if shape in ("sound", "video", "program"):
        return Foreseen(shape, f"{shape} files are not supported", 0.0)
    if ending in _UNREAD:
        return Foreseen(shape, f"{_UNREAD[ending]} files are not supported", 0.0)
    if ending in _OLD:
        return Foreseen(shape, f"old .{ending} files are not supported", 0.0)
    if ending == "svg":
        return Foreseen(shape, "SVG drawings are not supported", 0.0)
    if shape == "image":
        if has_ocr():
            return Foreseen(shape, worth=SLOW)
        return Foreseen(shape, "reading an image needs Tesseract, which is not installed", 0.0)
    return Foreseen(shape)


def refused_type(media_type: str) -> str:
    """Return a name for an unsupported media type, such as "a video", or "" if it is supported."""
    if media_type == _TYPESCRIPT:
        return ""
    return next((words for start, words in _TYPES if media_type.startswith(start)), "")


def shape_of_type(media_type: str) -> Shape:
    """Return the document type that a media type implies, by default "text"."""
    named = media_type.partition(";")[0].strip().lower()
    main, _, kind = named.partition("/")
    by_main: dict[str, Shape] = {"image": "image", "audio": "sound", "video": "video"}
    if main in by_main:
        return by_main[main]
    for shape, words in _WORDS.items():
        if any(word in kind for word in words):
            return shape
    return "text"


def _suffix(url: str) -> str:
    """Return a URL's file extension, or "" for a web page. A path with `/pdf/` implies "pdf"."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return ""
    if url.startswith(("http://", "https://")) and _SHOWN.search(path):
        return ""
    name = path.rpartition("/")[2].lower()
    if "." not in name:
        return "pdf" if "/pdf/" in path.lower() else ""
    ending = name.rpartition(".")[2]
    # An unknown ending is not an extension: arXiv addresses end like `/pdf/2401.01234`.
    return "pdf" if "/pdf/" in path.lower() and ending not in _SHAPES else ending

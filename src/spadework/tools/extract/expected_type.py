"""The likely type of a hit before fetching, by address and title, and its type once fetched, by
media type (S6).

Extensions mislead: a picture's address may be a page about it. So an address only lowers the rank.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from spadework.tools.extract.office.office import program
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
#: Unsupported extensions other than sound, video and programs.
_UNREAD = {"ps": "PostScript", "heic": "HEIC", "7z": "7z", "rar": "rar", "zst": "zstd"}
_OLD = frozenset({"doc", "ppt"})
#: Marks that search engines put before a file's title.
_MARK = re.compile(r"^\s*[\[(](pdf|docx?|xlsx?|pptx?|odt|rtf)[\])]", re.IGNORECASE)
#: Addresses that show a file on a page.
_SHOWN = re.compile(r"/(?:blob|wiki|blame|src/branch)/|/[^/]*:[^/]*$", re.IGNORECASE)
#: Score factor for slow reading: pictures by OCR, old files by LibreOffice.
SLOW = 0.5
#: Types by prefix, and one of them that also means TypeScript.
_TYPES = (
    ("audio/", "sound"),
    ("video/", "a video"),
    ("font/", "a font"),
    ("application/vnd.microsoft.portable-executable", "a program"),
    ("application/x-msdownload", "a program"),
    ("application/vnd.android.package-archive", "a program"),
)
_TYPESCRIPT = "video/mp2t"
#: Words in the names of other types.
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
    """What a hit probably is, why it cannot be read ("" if it can), and its score factor, 0–1."""

    shape: Shape
    refused: str = ""
    worth: float = 1.0


def foreseen(url: str, title: str = "") -> Foreseen:
    """Return what is known of a hit before it is fetched."""
    ending = _suffix(url)
    mark = _MARK.match(title)
    ending = mark[1].lower() if mark and ending not in _SHAPES else ending
    shape = _SHAPES.get(ending, "web page")
    if shape in ("sound", "video", "program"):
        return Foreseen(shape, f"{'' if shape == 'sound' else 'a '}{shape} is not read", 0.0)
    if ending in _UNREAD:
        return Foreseen(shape, f"{_UNREAD[ending]} is not read", 0.0)
    if ending in _OLD:
        if program():
            return Foreseen(shape, worth=SLOW)
        return Foreseen(shape, f"an old .{ending} file is read where LibreOffice is installed", 0.0)
    if ending == "svg":
        return Foreseen(shape, "a drawing is not read", 0.0)
    if shape == "image":
        if has_ocr():
            return Foreseen(shape, worth=SLOW)
        return Foreseen(shape, "an image is read by Tesseract, which is not installed", 0.0)
    return Foreseen(shape)


def refused_type(media_type: str) -> str:
    """Return the name of an unsupported type that a server sends, or ""."""
    if media_type == _TYPESCRIPT:
        return ""
    return next((words for start, words in _TYPES if media_type.startswith(start)), "")


def shape_of_type(media_type: str) -> Shape:
    """Return the shape of content with this media type."""
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
    """Return the extension of a file's address, "" for a page."""
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
    # Numbers such as those of arXiv papers are not extensions.
    return "pdf" if "/pdf/" in path.lower() and ending not in _SHAPES else ending

"""What an image says about itself: EXIF, IPTC, XMP, and the texts of PNG, JPEG and GIF."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from PIL import ExifTags, IptcImagePlugin
from PIL.ImageFile import ImageFile

from spadework.errors import FetchError
from spadework.tools.extract.charset import decode
from spadework.tools.extract.xml_tree import attribute, below, tag, text, xml_tree

#: Longest text of one fact.
MAX_TEXT = 20_000

_EXIF = {
    "ImageDescription": "text",
    "Artist": "author",
    "Copyright": "rights",
    "DateTimeOriginal": "date",
    "DateTime": "changed",
}
_EXIF |= {
    "UserComment": "text",
    "XPTitle": "title",
    "XPSubject": "text",
    "XPComment": "text",
    "XPAuthor": "author",
    "XPKeywords": "text",
}
_PNG = {
    "Title": "title",
    "Author": "author",
    "Description": "text",
    "Comment": "text",
    "Creation Time": "date",
    "Copyright": "rights",
}
_PNG |= {"comment": "text", "Subject": "text", "Keywords": "text"}
_XMP = {
    "title": "title",
    "Headline": "title",
    "description": "text",
    "creator": "author",
    "rights": "rights",
    "subject": "text",
}
_XMP |= {"DateCreated": "date", "CreateDate": "date", "AltTextAccessibility": "text"}
_IPTC = {
    (2, 5): "title",
    (2, 105): "title",
    (2, 80): "author",
    (2, 120): "text",
    (2, 116): "rights",
    (2, 55): "date",
    (2, 25): "text",
}
#: A comment of EXIF begins with the name of its code in so many bytes.
_CODE_NAME = 8
#: What cameras and programs write where nobody wrote anything.
_EMPTY = frozenset(
    (
        "",
        "default",
        "picture",
        "untitled",
        "ascii",
        "unicode",
        "olympus digital camera",
        "minolta digital camera",
        "created with gimp",
    )
)

Fact = tuple[str, str]


@dataclass(frozen=True)
class Facts:
    """The facts in words; `texts` are descriptions, comments and keywords."""

    title: str = ""
    author: str = ""
    date: str = ""
    rights: str = ""
    texts: tuple[str, ...] = ()

    @property
    def says_something(self) -> bool:
        """Is there a text for a reader in it?"""
        return bool(self.title or self.texts)


def facts_of(image: ImageFile) -> Facts:
    """The facts of an image that is open; a PNG is read to its end, where texts may stand."""
    found: dict[str, dict[str, None]] = {}
    for name, said in (*_xmp(image), *_iptc(image), *_exif(image), *_chunks(image)):
        said = " ".join(
            (said if len(said) <= MAX_TEXT else said[:MAX_TEXT] + "…").replace("\0", " ").split()
        )
        if said.lower() not in _EMPTY:
            found.setdefault(name, {}).setdefault(said)
    first = {name: next(iter(texts)) for name, texts in found.items()}
    texts = tuple(said for said in found.get("text", {}) if said != first.get("title"))
    return Facts(
        first.get("title", ""), first.get("author", ""), _day(first), first.get("rights", ""), texts
    )


def _day(first: dict[str, str]) -> str:
    """A date as ISO writes it; EXIF parts its days with colons, IPTC with nothing."""
    written = first.get("date") or first.get("changed", "")
    if written[:8].isdecimal():
        return f"{written[:4]}-{written[4:6]}-{written[6:8]}"
    return written[:10].replace(":", "-") + written[10:]


def _exif(image: ImageFile) -> Iterator[Fact]:
    exif = image.getexif()
    for number, value in (*exif.items(), *exif.get_ifd(ExifTags.IFD.Exif).items()):
        name = ExifTags.TAGS.get(number, "")
        if name in _EXIF:
            yield _EXIF[name], _text(value, name)


def _text(value: object, name: str = "") -> str:
    if isinstance(value, tuple) and name.startswith("XP"):
        value = bytes(byte for byte in value if isinstance(byte, int) and 0 <= byte < 256)
    if not isinstance(value, bytes):
        return str(value) if isinstance(value, str) else ""
    if name.startswith("XP"):
        return value.decode("utf-16-le", "replace")
    if name == "UserComment":
        coded, value = value[:_CODE_NAME], value[_CODE_NAME:]
        if coded.startswith(b"UNICODE"):
            return value.decode("utf-16-be" if value[:1] == b"\0" else "utf-16-le", "replace")
    return decode(value)


def _chunks(image: ImageFile) -> Iterator[Fact]:
    said: dict[str | tuple[int, int], object] = {}
    with suppress(OSError, ValueError):  # the texts that stand before the damage are there
        said = getattr(image, "text", {})
    for name, value in (*image.info.items(), *(said or {}).items()):
        if name in _PNG:
            yield _PNG[name], _text(value) if isinstance(value, bytes) else str(value)


def _iptc(image: ImageFile) -> Iterator[Fact]:
    for place, value in (IptcImagePlugin.getiptcinfo(image) or {}).items():
        if place in _IPTC:
            yield from (
                (_IPTC[place], _text(one))
                for one in (value if isinstance(value, list) else [value])
            )


def _xmp(image: ImageFile) -> Iterator[Fact]:
    xmp = image.info.get("xmp") or image.info.get("XML:com.adobe.xmp") or b""
    try:
        root = xml_tree(
            xmp.encode() if isinstance(xmp, str) else bytes(xmp), "description of the image"
        )
    except FetchError:
        return
    for element in below(root, "Description"):
        yield from (
            (_XMP[name], attribute(element, name)) for name in _XMP if attribute(element, name)
        )
        yield from ((_XMP[tag(part)], text(part)) for part in element if tag(part) in _XMP)

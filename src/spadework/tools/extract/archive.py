"""Convert archives and EPUB books to Markdown. Each archive member becomes a section."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import IO
from urllib.parse import unquote

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.extract import bytes_reader
from spadework.tools.extract.document_kinds import decode, file_name
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.markdown_writer import blocks, not_shown, plain, write_heading
from spadework.tools.extract.office.docx import extract_docx
from spadework.tools.extract.office.odt import extract_odt
from spadework.tools.extract.office.package import Package, described, open_zip, whole
from spadework.tools.extract.office.pptx import extract_pptx
from spadework.tools.extract.office.xlsx import extract_xlsx
from spadework.tools.extract.xml import Element, attribute, below, tag, text

MAX_CHAPTERS = 500
#: Maximum total bytes of all unpacked chapters.
MAX_BOOK_BYTES = 100_000_000

_PAGES = ("application/xhtml+xml", "text/html")


def extract_epub(package: Package, url: str) -> Extracted:
    """Return a book's text and metadata. Raises Unreadable or TooLarge."""
    container = package.needed("META-INF/container.xml")
    path = unquote(attribute(next(below(container, "rootfile"), None), "full-path"))
    book = package.needed(path)
    told = [*below(book, "title", "creator", "date", "language")]
    # If there are two titles, the second is a subtitle, so the first is kept.
    said = {tag(part): text(part) for part in reversed(told)}
    said["creator"] = ", ".join(text(part) for part in told if tag(part) == "creator")
    order, contents = _reading_order(book, posixpath.dirname(path))
    chapters = _chapters(package, order, url)
    markdown = blocks([*chapters, package.unread([*order, *contents])])
    return described(said, markdown, kind="epub")


def _chapters(package: Package, order: list[str], url: str) -> list[str]:
    chapters = []
    left = MAX_BOOK_BYTES
    for name in order[:MAX_CHAPTERS]:
        body = package.read(name)
        left -= len(body)
        if left < 0:
            what = f"The chapters of the {package.what}"
            raise TooLarge(f"{what} have more than {MAX_BOOK_BYTES:,} bytes.")
        try:
            chapters.append(extract(decode(body), url).markdown.strip("\n"))
        except TooLarge as error:
            named = posixpath.basename(name)
            chapters.append(plain(f"… The chapter {named} is not shown: {error}."))
        except Unreadable:  # The chapter may contain only a picture.
            continue
    return [*chapters, not_shown(len(order) - MAX_CHAPTERS, "chapters")]


def _reading_order(book: Element, folder: str) -> tuple[list[str], list[str]]:
    files: dict[str, str] = {}
    contents = []
    for entry in below(book, "item"):
        name = posixpath.normpath(posixpath.join(folder, unquote(attribute(entry, "href"))))
        if "nav" in attribute(entry, "properties").split():
            contents.append(name)
        elif attribute(entry, "media-type") in _PAGES:
            files[attribute(entry, "id")] = name
    order = [attribute(entry, "idref") for entry in below(book, "itemref")]
    return [files[entry] for entry in dict.fromkeys(order) if entry in files], contents


MAX_MEMBERS = 200
MAX_COUNTED = 10_000
#: Maximum unpacked bytes of a member.
MAX_MEMBER = 20_000_000
#: Maximum unpacked bytes of an archive.
MAX_BYTES = 100_000_000
#: Maximum compression ratio. Text seldom exceeds 20, whereas a zip bomb reaches 1000.
MAX_RATIO = 200
#: Bytes unpacked at a time. A member is unpacked in pieces, so that it can be abandoned when it
#: exceeds a limit.
_PIECE = 100_000

#: Files added by operating systems.
_OF_SYSTEMS = re.compile(r"\A__MACOSX/|(?:\.DS_Store|Thumbs\.db)\Z")
_TOO_DEEP = "Archives inside archives are not opened."

ReadMember = Callable[[bytes, str], Extracted]
#: A member's name and its unpacked bytes in pieces.
_Member = tuple[str, Iterator[bytes]]
_OPENERS: dict[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}


def extract_zip_archive(body: bytes, url: str, read: ReadMember | None) -> Extracted:
    """Return the text of a zip file's members. Raises Unreadable or TooLarge."""
    with whole("zip file"), open_zip(body, "zip file") as archive:
        files = (found for found in archive.infolist() if not found.is_dir())
        members = ((found.filename, _unzip(archive, found)) for found in files)
        return _read_all(members, len(body), url, read)


def extract_tar(body: bytes, url: str, read: ReadMember | None) -> Extracted:
    """Return the text of a tar file's members. Raises Unreadable or TooLarge."""
    with whole("tar file"):
        try:
            with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as archive:
                return _read_all(_tar_members(archive), len(body), url, read)
        except (tarfile.TarError, RecursionError) as error:
            raise ValueError(str(error)) from None


def extract_packed(body: bytes, url: str, read: ReadMember | None) -> Extracted:
    """Return the contents of a gzip, bzip2 or xz file. Raises Unreadable or TooLarge."""
    if read is None:
        raise Unreadable(_TOO_DEEP)
    opener = next(opener for magic, opener in _OPENERS.items() if body.startswith(magic))
    limit = min(MAX_BYTES, max(len(body), 1_000) * MAX_RATIO)
    with whole("compressed file"), opener(io.BytesIO(body)) as packed:
        inner = packed.read(limit + 1)
    if len(inner) > limit:
        raise TooLarge(f"The compressed file contains more than {limit:,} bytes.")
    name = PurePosixPath(file_name(url))
    return read(inner, name.stem if name.suffix in (".gz", ".bz2", ".xz") else name.name)


def _unzip(archive: zipfile.ZipFile, found: zipfile.ZipInfo) -> Iterator[bytes]:
    with whole("file"), archive.open(found) as member:
        yield from _pieces(member)


def _tar_members(archive: tarfile.TarFile) -> Iterator[_Member]:
    for found in archive:
        member = archive.extractfile(found) if found.isreg() else None
        if member is not None:
            yield found.name, _pieces(member)


def _pieces(member: IO[bytes]) -> Iterator[bytes]:
    return iter(partial(member.read, _PIECE), b"")


def _read_all(
    members: Iterator[_Member], size: int, url: str, read: ReadMember | None
) -> Extracted:
    if read is None:
        raise Unreadable(_TOO_DEEP)
    left = min(MAX_BYTES, max(size, 1_000) * MAX_RATIO)
    parts: list[str] = []
    first, faults = "", 0
    kept = (member for member in members if not _OF_SYSTEMS.search(member[0]))
    for name, pieces in islice(kept, MAX_MEMBERS):
        body, fault = _unpacked(pieces, min(MAX_MEMBER, left))
        if len(body) > left:
            raise TooLarge("The archive is too large when unpacked.")
        left -= len(body)
        if fault:  # Other members may be intact.
            first, faults = first or fault, faults + 1
        shown = plain(f"… Not shown: {fault}") if fault else _text(body, name, read)
        parts.append(blocks([write_heading(name, 1), shown]))
    if faults and faults == len(parts):
        raise Unreadable(first)
    rest = sum(1 for _ in islice(kept, MAX_COUNTED))
    return Extracted(
        title=file_name(url),
        markdown=blocks([*parts, not_shown(rest, "members", more=rest == MAX_COUNTED)]),
        kind="archive",
    )


def _unpacked(pieces: Iterator[bytes], limit: int) -> tuple[bytes, str]:
    """Return a member's bytes, read until they exceed `limit`, and an error text ("" if none)."""
    body = bytearray()
    try:
        for piece in pieces:
            body += piece
            if len(body) > limit:
                break
    except Unreadable as error:
        return bytes(body), str(error)
    return bytes(body), ""


def _text(body: bytes, name: str, read: ReadMember) -> str:
    if len(body) > MAX_MEMBER:
        return f"… Not shown: it has more than {MAX_MEMBER:,} bytes."
    try:
        return read(body, name).markdown.strip("\n")
    except FetchError as error:
        return plain(f"… Not shown: {error}")


_OFFICE: dict[str, Callable[[Package, str], Extracted]] = {
    "word": extract_docx,
    "xl": extract_xlsx,
    "ppt": extract_pptx,
}


def extract_zip(body: bytes, url: str, read: ReadMember | None) -> Extracted:
    """Return the contents of an Office file, e-book or archive. `read` reads the members of an
    archive. If it is None, archives are refused. Raises Unreadable or TooLarge.
    """
    package = Package(body, "file")
    reader = _OFFICE.get(package.main.partition("/")[0])
    if package.main == "xl/workbook.bin" and (read_binary := bytes_reader("xls")):
        return read_binary(body, url)
    if reader:
        return reader(package, url)
    if "META-INF/container.xml" in package.names:
        return extract_epub(package, url)
    if "content.xml" in package.names and "mimetype" in package.names:
        return extract_odt(package, url)
    return extract_zip_archive(body, url, read)

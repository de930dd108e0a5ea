"""Files made to break their readers: small in bytes and large when unpacked, nested without end, or
of many parts.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

from tests.tools.extract.files import CORE, drawn_pdf

GIGABYTE = 1_000_000_000
_CHUNK = 10_000_000
#: A deflated part of a zip file, its size unpacked, and its check sum.
Part = tuple[bytes, int, int]


def deflated(head: bytes, size: int, *, filler: bytes = b" ", wbits: int = -15) -> bytes:
    """A stream of `head` and then `size` bytes of filler; its parts refer to nothing before them,
    so one serves many times.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    part = packer.compress(filler * (_CHUNK // len(filler))) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + part * (size // _CHUNK) + packer.flush()


def gzip_bomb(size: int = GIGABYTE) -> bytes:
    """A gzip file of `size` blanks; its check sum is wrong, which only those who read all of it
    find out.
    """
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + deflated(b"", size) + bytes(8)


def zip_of(parts: Mapping[str, Part]) -> bytes:
    """A zip file of parts that are deflated already, each with its size unpacked and its check sum
    (which a bomb need not have).
    """
    body, entries = bytearray(), bytearray()
    for name, (stream, size, check) in parts.items():
        common = struct.pack(
            "<HHHHHLLLHH", 20, 0, 8, 0, 0x21, check, len(stream), size, len(name), 0
        )
        entries += (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + common
            + struct.pack("<HHHLL", 0, 0, 0, 0, len(body))
            + name.encode()
        )
        body += b"PK\x03\x04" + common + name.encode() + stream
    count = min(len(parts), 0xFFFF)
    end = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, count, count, len(entries), len(body), 0)
    return bytes(body + entries + end)


def small(content: str | bytes) -> Part:
    """A part of a zip file."""
    body = content.encode() if isinstance(content, str) else content
    return deflated(body, 0), len(body), zlib.crc32(body)


def zip_bomb(size: int = GIGABYTE) -> bytes:
    """An archive of one member."""
    return zip_of({"a.txt": (deflated(b"", size), size, 0)})


def office_bomb(main: str, head: str, size: int = GIGABYTE, **others: str) -> bytes:
    """An Office file whose main part is `head` and then blanks; `others` are further parts by
    name.
    """
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": (
            f'<Relationships><Relationship Id="r1" Type="{kind}" Target="{main}"/></Relationships>'
        ),
        "docProps/core.xml": CORE,
    }
    return zip_of(
        {name: small(content) for name, content in (parts | others).items()}
        | {main: (deflated(head.encode(), size), size, 0) if size else small(head)}
    )


def odt_bomb(size: int = GIGABYTE) -> bytes:
    """An OpenDocument text."""
    content = deflated(b"<document-content><body>", size)
    return zip_of(
        {
            "mimetype": small("application/vnd.oasis.opendocument.text"),
            "content.xml": (content, size, 0),
        }
    )


def epub_bomb(size: int = GIGABYTE) -> bytes:
    """A book of one chapter."""
    container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
    book = (
        '<package><manifest><item id="a" href="a.xhtml"'
        ' media-type="text/html"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    parts = {
        "META-INF/container.xml": small(container),
        "b.opf": small(book),
        "a.xhtml": (deflated(b"<p>", size), size, 0),
    }
    return zip_of(parts)


def pdf_bomb(size: int = GIGABYTE) -> bytes:
    """A PDF whose page is so long when it is unpacked."""
    stream = deflated(b"BT /F1 11 Tf (A boat pays.) Tj ET\n", size, wbits=15)
    plain = drawn_pdf(b"X")
    return plain.replace(
        b"<< /Length 1 >>\nstream\nX\n",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\n" % (len(stream), stream),
        1,
    )


def many_members(count: int) -> bytes:
    """An archive of so many empty members."""
    empty = small(b"")
    return zip_of({f"{n}.txt": empty for n in range(count)})


def in_itself(depth: int) -> bytes:
    """An archive that holds an archive that holds an archive …"""
    body = b"a text"
    for _ in range(depth):
        body = zip_of({"a.zip": small(body)})
    return body

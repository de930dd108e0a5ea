"""A small PDF made of text: real bytes with a real cross-reference table, so that PDF readers can
be tested.
"""

from __future__ import annotations

import textwrap

LINES_A_PAGE = 48
COLUMNS = 86


def pdf(text: str) -> bytes:
    """A PDF of `text` in Helvetica, its first line as the title; a form feed begins a new page.

    Objects: 1 catalogue, 2 page tree, 3 font, 4 information, then two (page, content) for each
    page.
    """
    sheets = [_content(lines) for part in text.split("\f") for lines in _sheets(part)]
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(sheets)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(sheets)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title ("
        + _escaped(text.strip().split("\n", 1)[0])
        + b") /CreationDate (D:20260214090000Z) >>",
    ]
    for n, sheet in enumerate(sheets):
        page = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R"
            f" >> >> /Contents {6 + 2 * n} 0 R >>"
        )
        objects += [page.encode(), b"<< /Length %d >>\nstream\n%s\nendstream" % (len(sheet), sheet)]
    return _file(objects)


def _sheets(text: str) -> list[list[str]]:
    """The lines of `text`, wrapped, a list for each sheet of paper."""
    lines = [
        line for row in text.strip("\n").split("\n") for line in textwrap.wrap(row, COLUMNS) or [""]
    ]
    return [lines[at : at + LINES_A_PAGE] for at in range(0, len(lines), LINES_A_PAGE)]


def _content(lines: list[str]) -> bytes:
    """The drawing commands of one sheet, 11 point on 15."""
    shown = b"".join(b"(" + _escaped(line) + b") Tj T*\n" for line in lines)
    return b"BT /F1 11 Tf 15 TL 60 780 Td\n" + shown + b"ET"


def _escaped(text: str) -> bytes:
    return (
        text.encode("cp1252", "replace")
        .replace(b"\\", rb"\\")
        .replace(b"(", rb"\(")
        .replace(b")", rb"\)")
    )


def _file(objects: list[bytes]) -> bytes:
    out, places = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(out),
    )
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer

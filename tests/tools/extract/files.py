"""Small files of many formats, made of the parts that their readers look at."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence

from PIL import Image

_OOXML = "http://schemas.openxmlformats.org"
R = f'xmlns:r="{_OOXML}/officeDocument/2006/relationships"'
W = f'xmlns:w="{_OOXML}/wordprocessingml/2006/main" {R}'
S = f'xmlns="{_OOXML}/spreadsheetml/2006/main" {R}'
P = f'xmlns:a="{_OOXML}/drawingml/2006/main" xmlns:p="{_OOXML}/presentationml/2006/main" {R}'
ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>Dues</dc:title><dc:creator>R."
    " Penn</dc:creator><dcterms:modified>2026-02-14T09:00:00Z</dcterms:modified>"
    "<dc:language>en-GB</dc:language></cp:coreProperties>"
)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(parts: Mapping[str, bytes], mode: str = "w") -> bytes:
    """A tar file of these parts; the mode may name a packing, as in "w:gz"."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in parts.items():
            found = tarfile.TarInfo(name)
            found.size = len(content)
            archive.addfile(found, io.BytesIO(content))
    return buffer.getvalue()


def relations(targets: Mapping[str, str], *, outside: bool = False) -> str:
    """A part that says what another one refers to: ids with targets."""
    mode = ' TargetMode="External"' if outside else ""
    entries = "".join(
        f'<Relationship Id="{n}" Target="{target}"{mode}/>' for n, target in targets.items()
    )
    return f"<Relationships>{entries}</Relationships>"


def office(main: str, parts: Mapping[str, str | bytes]) -> bytes:
    """An Office file whose main part is `main`."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    root = f'<Relationships><Relationship Id="r1" Type="{kind}" Target="{main}"/></Relationships>'
    return zipped(
        {"[Content_Types].xml": "<Types/>", "_rels/.rels": root, "docProps/core.xml": CORE}
        | dict(parts)
    )


def docx(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    links: Mapping[str, str] | None = None,
    parts: Mapping[str, str] | None = None,
) -> bytes:
    """A Word file with this body; `links` are addresses or names of the further `parts`."""
    return office(
        "word/document.xml",
        {
            "word/document.xml": (
                f'<?xml version="1.0"?><w:document {W}><w:body>{body}</w:body></w:document>'
            ),
            "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
            "word/numbering.xml": f"<w:numbering {W}>{numbering}</w:numbering>",
            "word/_rels/document.xml.rels": relations(links or {}, outside=not parts),
        }
        | {f"word/{name}": part for name, part in (parts or {}).items()},
    )


def xlsx(
    sheets: Mapping[str, str],
    *,
    strings: Sequence[str] = (),
    styles: str = "",
    attributes: str = "",
    merged: str = "",
    further: Mapping[str, str] | None = None,
) -> bytes:
    """A workbook: names of sheets with the XML of their rows, ranges that are `merged`, and
    `further` parts of the first sheet, related to it by their names.
    """
    entries = "".join(
        f'<sheet name="{name}" r:id="s{n}" {attributes}/>' for n, name in enumerate(sheets)
    )
    cells = f'<mergeCells><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
    return office(
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f"<workbook {S}><sheets>{entries}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(
                {f"s{n}": f"worksheets/{n}.xml" for n in range(len(sheets))}
            ),
            "xl/sharedStrings.xml": (
                f"<sst {S}>{''.join(f'<si><t>{string}</t></si>' for string in strings)}</sst>"
            ),
            "xl/styles.xml": f"<styleSheet {S}>{styles}</styleSheet>",
        }
        | {
            f"xl/worksheets/{n}.xml": (
                f"<worksheet {S}><sheetData>{rows}</sheetData>{cells}</worksheet>"
            )
            for n, rows in enumerate(sheets.values())
        }
        | {"xl/worksheets/_rels/0.xml.rels": relations({n: f"../{n}" for n in further or {}})}
        | {f"xl/{name}": part for name, part in (further or {}).items()},
    )


def pptx(
    slides: Sequence[str],
    notes: Mapping[int, str] | None = None,
    further: Mapping[str, str] | None = None,
) -> bytes:
    """A presentation: the XML of the shapes of each slide, that of the notes of some, and
    `further` parts of the first slide, related to it by their names.
    """
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in range(len(slides)))
    parts = {
        "ppt/presentation.xml": (
            f"<p:presentation {P}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
        ),
        "ppt/_rels/presentation.xml.rels": relations(
            {f"s{n}": f"slides/slide{n}.xml" for n in range(len(slides))}
        ),
    }
    parts |= {
        f"ppt/slides/slide{n}.xml": (
            f"<p:sld {P}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
        for n, shapes in enumerate(slides)
    }
    for n, shapes in (notes or {}).items():
        parts[f"ppt/slides/_rels/slide{n}.xml.rels"] = relations(
            {"n": f"../notesSlides/notesSlide{n}.xml"}
        )
        parts[f"ppt/notesSlides/notesSlide{n}.xml"] = f"<p:notes {P}>{shapes}</p:notes>"
    if further:
        named = {name: f"../{name}" for name in further}
        parts["ppt/slides/_rels/slide0.xml.rels"] = relations(named)
        parts |= {f"ppt/{name}": part for name, part in further.items()}
    return office("ppt/presentation.xml", parts)


def odf(
    body: str, *, styles: str = "", kind: str = "text", parts: Mapping[str, str] | None = None
) -> bytes:
    """An OpenDocument file of a kind: text, spreadsheet, presentation; with further `parts`."""
    body = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    content = (
        "<office:document-content"
        f" {ODF}><office:automatic-styles>{styles}</office:automatic-styles>{body}</office:document-content>"  # noqa: E501
    )
    about = (
        "<dc:title>Dues</dc:title><dc:creator>R."
        " Penn</dc:creator><dc:date>2026-02-14T09:00:00</dc:date>"
    )
    meta = f"<office:document-meta {ODF}><office:meta>{about}</office:meta></office:document-meta>"
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content,
            "meta.xml": meta,
        }
        | dict(parts or {})
    )


def epub(
    chapters: Sequence[str], *, more: str = "", parts: Mapping[str, str] | None = None
) -> bytes:
    """A book of chapters, whose files are not in the order of reading, with further `parts`; it
    says `more` of itself.
    """
    items = "".join(
        f'<item id="c{n}" href="text/{90 - n}%20c.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Light</dc:title><dc:creator>R.'
        " Penn</dc:creator><dc:language>en-GB</dc:language><dc:date>2020-05-01</dc:date>"
        f"{more}</metadata><manifest><item"
        ' id="nav" href="nav.xhtml" properties="nav"'
        f' media-type="application/xhtml+xml"/>{items}</manifest><spine><itemref'
        f' idref="nav"/>{order}</spine></package>'
    )
    container = (
        '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    given = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OEBPS/book.opf": book,
        "OEBPS/nav.xhtml": "<p>Contents</p>",
    }
    return zipped(
        given
        | dict(parts or {})
        | {
            f"OEBPS/text/{90 - n} c.xhtml": f"<html><body>{chapter}</body></html>"
            for n, chapter in enumerate(chapters)
        }
    )


def drawn_pdf(*pages: bytes) -> bytes:
    """A PDF of pages that are drawn: F1 is Helvetica, F2 its bold, F3 Courier. Readers make its
    missing table of places themselves.
    """
    kids = " ".join(f"{10 + 2 * n} 0 R" for n in range(len(pages))).encode()
    faces = (b"Helvetica", b"Helvetica-Bold", b"Courier")
    fonts = b" ".join(
        b"/F%d << /Type /Font /Subtype /Type1 /BaseFont /%s >>" % (n, face)
        for n, face in enumerate(faces, 1)
    )
    objects = [
        (1, b"<< /Type /Catalog /Pages 2 0 R >>"),
        (2, b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages))),
    ]
    for n, page in enumerate(pages):
        sheet = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << %s >> >>"
            b" /Contents %d 0 R >>"
        )
        objects.append((10 + 2 * n, sheet % (fonts, 11 + 2 * n)))
        objects.append((11 + 2 * n, b"<< /Length %d >>\nstream\n%s\nendstream" % (len(page), page)))
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % entry for entry in objects)
    return (
        b"%PDF-1.4\n"
        + body
        + b"trailer\n<< /Size %d /Root 1 0 R >>\n%%%%EOF\n" % (10 + 2 * len(pages))
    )


RTF_HEAD = (
    rb"\ansi\ansicpg1252\deff0\deflang1033{\fonttbl{\f0\froman\fcharset0"
    rb" Times;}{\f1\fmodern\fcharset0 Courier New;}"
    rb"{\f2\fswiss\fcharset204 Arial Cyr;}{\f3\fnil\fcharset128 MS"
    rb" Mincho;}}{\colortbl;\red0\green0\blue255;}"
    rb"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 Heading 2;}{\s3 Source Code;}}"
    rb"{\info{\title Harbour dues}{\author R."
    rb" Penn}{\creatim\yr2025\mo1\dy2}{\revtim\yr2026\mo2\dy14\hr9}{\operator nobody}}"
)


def rtf(body: bytes, head: bytes = RTF_HEAD) -> bytes:
    """An RTF file with this body."""
    return b"{\\rtf1" + head + b"\n" + body + b"}"


def png(image: Image.Image | None = None) -> bytes:
    """An image as PNG, a small one where none is given."""
    return saved(image or Image.new("L", (3, 2)), "PNG")


def jpeg() -> bytes:
    """A small photograph."""
    return saved(Image.new("RGB", (30, 20)), "JPEG")


def saved(image: Image.Image, form: str, **options: object) -> bytes:
    """An image as a file."""
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def storage(streams: Mapping[str, bytes]) -> bytes:
    """A compound file (MS-CFB) with these streams, a folder before `/`; filled up with zeros."""
    folders = dict.fromkeys(name.partition("/")[0] for name in streams if "/" in name)
    names = [*folders, *streams]
    padded = {
        name: body.ljust(-(-max(len(body), 4_096) // 512) * 512, b"\0")
        for name, body in streams.items()
    }
    entries = -(-(len(names) + 1) // 4)
    fat = [0xFFFF_FFFD, *range(2, entries + 1), 0xFFFF_FFFE]
    starts = {}
    for name, body in padded.items():
        starts[name] = len(fat)
        fat += [*range(len(fat) + 1, len(fat) + len(body) // 512), 0xFFFF_FFFE]
    assert len(fat) <= 128

    def entry(name: str, kind: int, right: int, child: int, start: int = 0, size: int = 0) -> bytes:
        wide = name.encode("utf-16-le") + b"\0\0"
        head = struct.pack("<64sHBB3I", wide, len(wide), kind, 1, 0xFFFF_FFFF, right, child)
        return head + struct.pack("<16xI16xIQ", 0, start, size)

    def following(around: str, behind: int) -> int:
        """The number of the next entry in the same folder."""
        inside = (
            n
            for n, name in enumerate(names[behind:], behind + 1)
            if name.rpartition("/")[0] == around
        )
        return next(inside, 0xFFFF_FFFF)

    folder = entry("Root Entry", 5, 0xFFFF_FFFF, following("", 0), 0xFFFF_FFFE)
    for n, name in enumerate(names, 1):
        around, _, own = name.rpartition("/")
        place = (
            (following(name, 0), 0, 0)
            if name in folders
            else (0xFFFF_FFFF, starts[name], len(padded[name]))
        )
        folder += entry(own, 1 if name in folders else 2, following(around, n), *place)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + struct.pack(
        "<16x5H6x9I", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4_096, 0xFFFF_FFFE, 0, 0xFFFF_FFFE, 0
    )
    table = struct.pack("<128I", *fat, *[0xFFFF_FFFF] * (128 - len(fat)))
    return b"".join(
        [
            (head + struct.pack("<I", 0)).ljust(512, b"\xff"),
            table,
            folder.ljust(entries * 512, b"\0"),
            *padded.values(),
        ]
    )


def xls(
    cells: Mapping[tuple[int, int], str | float], *, dates: Iterable[tuple[int, int]] = ()
) -> bytes:
    """A workbook of Excel 97 with a sheet `Dues`, and a hidden one; `dates` are shown as such."""

    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def begin(kind: int) -> bytes:
        return record(0x809, struct.pack("<4H2I", 0x600, kind, 0, 0, 0, 0))

    end = record(0x0A, b"")
    written = b""
    for (row, column), value in sorted(cells.items()):
        place = struct.pack("<3H", row, column, int((row, column) in dates))
        if isinstance(value, str):
            text = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
            written += record(0x204, place + text)
        else:
            written += record(0x203, place + struct.pack("<d", value))
    formats = b"".join(record(0xE0, struct.pack("<HH16x", 0, number)) for number in (0, 14))
    sheets = [begin(0x10) + written + end, begin(0x10) + end]
    start = len(begin(5) + formats + end) + 2 * 16
    body = begin(5) + formats
    for name, sheet in (("Dues", sheets[0]), ("Kept", sheets[1])):
        body += record(0x85, struct.pack("<IBBBB", start, name == "Kept", 0, 4, 0) + name.encode())
        start += len(sheet)
    return storage({"Workbook": body + end + b"".join(sheets)})

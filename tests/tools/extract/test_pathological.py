"""Files made to break their readers: each is read right or refused in a sentence, in time, in
memory, and nobody waits for it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from spadework.errors import FetchError
from spadework.tools.extract.process import read_apart
from spadework.tools.extract.reader_program import MEMORY
from tests.thinned import thinned
from tests.tools.extract import bombs
from tests.tools.extract.bombs import office_bomb
from tests.tools.extract.files import P, R, S, W, rtf, tarred, zipped

#: Deadline of a document in seconds, and what may be added to it: the killing, and the start of
#: another process.
SECONDS, LATE = 20.0, 1.0
#: Longest time that the event loop may be held up, in seconds.
HELD_UP = 0.05
#: What this process may grow by for a document: copies of it on its way, and of its text on the way
#: back.
GROWTH, COPIES = 60_000_000, 4
#: The programs and libraries of a reader, which count as its memory and not as what it asked for.
LIBRARIES = 150_000_000
_TICK = 0.002

DEEP = 100_000
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
BOMB_XML = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "boat">{LAUGHS}]>'
OUTSIDE_XML = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>'
DOCUMENT = (
    "<w:document {}><w:body><w:p><w:r><w:t>A boat &l11;"
    " pays.</w:t></w:r></w:p></w:body></w:document>"
)


@dataclass
class Watch:
    """The longest time the loop was held up by this process, and the most memory it and its readers
    had.
    """

    held_up: float = 0.0
    most: int = 0
    readers: dict[int, int] = field(default_factory=dict)

    def look(self) -> None:
        """Note the memory of now."""
        me = psutil.Process()
        self.most = max(self.most, me.memory_info().rss)
        for child in me.children(recursive=True):
            with suppress(psutil.Error, OSError, StopIteration):
                lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
                self.readers[child.pid] = (
                    int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1_024
                )


@asynccontextmanager
async def watched() -> AsyncIterator[Watch]:
    """Watch the loop and the memory. Time in which this process did not run, on a busy machine, is
    no fault of its own.
    """
    watch = Watch()

    async def tick() -> None:
        wall, cpu, looked = time.perf_counter(), time.process_time(), 0.0
        while True:
            await asyncio.sleep(_TICK)
            now, used = time.perf_counter(), time.process_time()
            watch.held_up = max(watch.held_up, min(now - wall, used - cpu) - _TICK)
            if now - looked > 0.1:
                watch.look()
                looked = time.perf_counter()
            wall, cpu = time.perf_counter(), time.process_time()

    task = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    try:
        yield watch
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def outcome(body: bytes, media_type: str, url: str, seconds: float) -> str:
    """The text of a document, or the name of the error and its sentence."""
    try:
        return (await read_apart(body, media_type=media_type, url=url, seconds=seconds)).markdown
    except FetchError as refusal:
        assert str(refusal)
        assert len(str(refusal)) < 400
        return f"{type(refusal).__name__}: {refusal}"


async def stands(
    body: bytes,
    media_type: str,
    expected: str,
    *,
    url: str = "https://example.com/file",
    seconds: float = SECONDS,
) -> None:
    """A document ends within its limits, with `expected` in what comes back."""
    before = psutil.Process().memory_info().rss
    async with watched() as watch:
        began = time.monotonic()
        got = await outcome(body, media_type, url, seconds)
        took = time.monotonic() - began
    watch.look()
    assert took <= seconds + LATE
    assert any(words in got for words in expected.split(" || ")), got[:300]
    assert watch.held_up <= HELD_UP
    assert watch.most - before <= GROWTH + COPIES * len(body)
    if sys.platform == "linux":
        assert max(watch.readers.values(), default=0) <= MEMORY + LIBRARIES


def page(inside: str) -> bytes:
    return f"<!doctype html><title>x</title><body>{inside}".encode()


def text_utf16() -> bytes:
    return page(f"<p>{'Die Führung kostet fünf Kronen. ' * 20}</p>").decode().encode("utf-16-le")


CASES: dict[str, tuple[Callable[[], bytes], str, str]] = {
    # pages
    "nested tags": (lambda: page("<div>" * DEEP + "x"), "text/html", "TooLarge"),
    "nested tables": (lambda: page("<table><tr><td>" * DEEP), "text/html", "TooLarge"),
    "nested lists": (lambda: page("<ul><li>" * DEEP), "text/html", "TooLarge"),
    "nested quotations": (lambda: page("<blockquote>" * DEEP), "text/html", "TooLarge"),
    "nested below the limit": (
        lambda: page("<div>" * 5_900 + "<p>" + "A boat pays. " * 99),
        "text/html",
        "A boat pays.",
    ),
    "open formatting": (lambda: page("<b><i>" * DEEP), "text/html", "TooLarge"),
    "9 MB of attributes": (
        lambda: page("<p " + "a=b " * 2_300_000 + ">x"),
        "text/html",
        "TooLarge",
    ),
    "one attribute of 9 MB": (
        lambda: page(f'<p title="{"x" * 9_000_000}">' + "A boat pays. " * 99),
        "text/html",
        "A boat pays. || TooLarge",
    ),
    "null bytes": (
        lambda: page("<p>" + "A boat pays\0 14 crowns a night, and more in summer. " * 99),
        "text/html",
        "A boat pays 14 crowns",
    ),
    "nothing but nulls": (lambda: bytes(5_000_000), "text/html", "Unreadable"),
    "UTF-16 without a mark": (text_utf16, "text/html", "fünf Kronen"),
    "mixed encodings": (
        lambda: page("<p>") + ("früh " * 99).encode() + ("früh " * 99).encode("latin-1"),
        "text/html",
        "fr",
    ),
    "broken UTF-8": (
        lambda: page("<p>" + "A boat pays. " * 99) + b"\xc3\x28\xf0\x9f" * 9_000,
        "text/html",
        "A boat pays.",
    ),
    "a wrong charset": (
        lambda: page("<meta charset=utf-7><p>" + "A boat pays. " * 99),
        "text/html",
        "A boat pays.",
    ),
    "a comment without end": (
        lambda: page("<p>" + "A boat pays. " * 99 + "<!--" + "x" * 5_000_000),
        "text/html",
        "A boat pays.",
    ),
    "a script without end": (
        lambda: page("<p>" + "A boat pays. " * 99 + "<script>" + "<" * 900_000),
        "text/html",
        "A boat || TooLarge",
    ),
    "data nested without end": (
        lambda: page(f'<script type="application/json">{"[" * 900_000}</script>'),
        "text/html",
        "",
    ),
    # bombs
    "gzip": (bombs.gzip_bomb, "", "TooLarge"),
    "zip": (bombs.zip_bomb, "", "it has more than 20,000,000 bytes"),
    "docx": (lambda: office_bomb("word/document.xml", f"<w:document {W}><w:body>"), "", "TooLarge"),
    "pptx": (lambda: office_bomb("ppt/presentation.xml", f"<p:presentation {P}>"), "", "TooLarge"),
    "xlsx": (lambda: office_bomb("xl/workbook.xml", f"<workbook {S}>"), "", "TooLarge"),
    "odt": (bombs.odt_bomb, "", "TooLarge"),
    "epub": (bombs.epub_bomb, "", "TooLarge"),
    "zip of a million members": (lambda: bombs.many_members(1_000_000), "", "TooLarge"),
    "zip of 90,000 members": (
        lambda: bombs.many_members(90_000),
        "",
        "further members are not shown",
    ),
    "zip in zip in zip": (
        lambda: bombs.in_itself(50),
        "",
        "Archives inside archives are not opened.",
    ),
    "names that lead out": (
        lambda: zipped({"../../etc/x": "A boat.", "/etc/y": "Tides.", "C:\\z": "Dues."}),
        "",
        "# ../../etc/x\n\nA boat.",
    ),
    "tar names that lead out": (lambda: tarred({"/etc/y": b"Tides."}), "", "# /etc/y\n\nTides."),
    "image": (
        lambda: (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
            + (60_000).to_bytes(4) * 2
            + b"\x08\x06\0\0\0"
            + bytes(4)
        ),
        "",
        "TooLarge || Unreadable",
    ),
    # XML
    "entities in a docx": (
        lambda: office_bomb("word/document.xml", BOMB_XML + DOCUMENT.format(W), 0),
        "",
        "A boat",
    ),
    "outer entity in a docx": (
        lambda: office_bomb("word/document.xml", OUTSIDE_XML + DOCUMENT.format(W), 0),
        "",
        "A boat",
    ),
    "entities in a drawing": (
        lambda: f"{BOMB_XML}<svg><text>A boat &l11; pays.</text></svg>".encode(),
        "image/svg+xml",
        "Unreadable",
    ),
    "outer entity in a drawing": (
        lambda: f"{OUTSIDE_XML}<svg><text>A &l11; boat.</text></svg>".encode(),
        "image/svg+xml",
        "Unreadable",
    ),
    "entities in a feed": (
        lambda: (
            f"{BOMB_XML}<rss><channel><item><title>A &l11; boat</title></item></channel></rss>".encode()  # noqa: E501
        ),
        *("application/rss+xml", "## A"),
    ),
    "outer entity in a feed": (
        lambda: (
            f"{OUTSIDE_XML}<rss><channel><item><title>A &l11; boat</title></item></channel></rss>".encode()  # noqa: E501
        ),
        *("application/rss+xml", "&l11; boat"),
    ),
    "nested elements": (lambda: b"<a>" * DEEP, "text/xml", ""),
    "nested paragraphs of a docx": (
        lambda: office_bomb("word/document.xml", f"<w:document {W}><w:body>" + "<w:p>" * DEEP, 0),
        *("", ""),
    ),
    # data and text
    "a million columns": (
        lambda: b"a," * 1_000_000 + b"\n1,2\n",
        "text/csv",
        "further columns are not shown",
    ),
    "one cell of 9 MB": (
        lambda: b'a,"' + b"x" * 9_000_000,
        "text/csv",
        "is not shown: field larger",
    ),
    "JSON nested a million deep": (lambda: b"[" * 1_000_000, "application/json", "```json\n[[["),
    "one line of 9 MB": (lambda: b"x" * 9_000_000, "text/plain", "xxx"),
    "9 MB of blank lines": (lambda: b"\n \n" * 3_000_000, "text/plain", ""),
    "emphasis": (lambda: b"*a **b " * 20_000, "text/markdown", ""),
    "links": (lambda: b"[a](" * 20_000, "text/markdown", ""),
    "brackets": (lambda: b"[" * 100_000, "text/markdown", ""),
    "nested quotations in Markdown": (lambda: b">" * 500_000 + b"a", "text/markdown", ""),
    "nested lists in Markdown": (
        lambda: b"".join(b" " * n + b"- a\n" for n in range(1_000)),
        "text/markdown",
        "- a",
    ),
    "backticks": (lambda: b"".join(b"`" * n + b"a" for n in range(2_000)), "text/markdown", ""),
    "nested groups of RTF": (lambda: rtf(b"{" * 1_000_000), "", "Unreadable"),
    "fields of RTF": (lambda: rtf(rb'{\field{\*\fldinst{HYPERLINK "' * 100_000), "", "Unreadable"),
    "RTF that says it is binary": (
        lambda: rtf(rb"A boat pays.\par" + rb"\bin999999999 x" * 9),
        "",
        "A boat pays.",
    ),
    "rows of RTF": (
        lambda: rtf(rb"\trowd\intbl a\cell\row " * 100_000),
        "",
        "further rows are not shown",
    ),
    "headers of a mail": (
        lambda: b"Subject: =?utf-8?q?" * 300_000 + b"\n\nA boat pays.",
        "message/rfc822",
        "",
    ),
    "parts of a mail": (
        lambda: b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\na\n" * 30_000,
        "message/rfc822",
        "",
    ),
}

CELLS = "<row>" + '<c t="s"><v>0</v></c>' * 100 + "</row>"
SLOW: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "50 MB of attributes": (
        lambda: page("<p " + "a=b " * 12_500_000 + ">x"),
        "text/html",
        "TooLarge",
    ),
    "a text of 20 MB": (
        lambda: page("<p>" + "A boat pays. " * 1_540_000),
        "text/html",
        "A boat pays. || TooSlow",
    ),
    "a plain text of 20 MB": (
        lambda: b"A boat pays. " * 1_600_000,
        "text/plain",
        "further characters are not shown",
    ),
    "pdf": (bombs.pdf_bomb, "", ""),
    "a cell shown 300,000 times": (
        lambda: office_bomb(
            "xl/workbook.xml",
            f'<workbook {S}><sheets><sheet name="A" r:id="s"/></sheets></workbook>',
            0,
            **{
                "xl/_rels/workbook.xml.rels": (
                    '<Relationships><Relationship Id="s" Target="a.xml"/></Relationships>'
                ),
                "xl/sharedStrings.xml": f"<sst {S}><si><t>{'x' * 2_000}</t></si></sst>",
                "xl/a.xml": (
                    f"<worksheet {S} {R}><sheetData>{CELLS * 3_000}</sheetData></worksheet>"
                ),
            },
        ),
        *("", "further characters are not shown || of memory || crashed || TooSlow"),
    ),
}


@pytest.mark.parametrize("name", thinned(CASES, 2))
async def test_a_file_made_to_break_its_reader_is_read_or_refused_within_its_limits(name):
    make, media_type, expected = CASES[name]
    await stands(make(), media_type, expected)


@pytest.mark.full
@pytest.mark.parametrize("name", SLOW)
async def test_a_large_one_is_too(name):
    make, media_type, expected = SLOW[name]
    await stands(make(), media_type, expected)


async def test_a_deadline_holds_for_what_never_ends():
    await stands(
        b"A *word* and `code` and more of it.\n\n" * 200_000,
        "text/markdown",
        "TooSlow",
        seconds=1.0,
    )

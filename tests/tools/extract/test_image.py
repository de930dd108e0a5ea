"""Images: the text in them, scanned pages of PDFs, what is said where nothing can read them, and
bombs that do not go off.
"""

from __future__ import annotations

import asyncio
import io
import textwrap

import pytest
from hypothesis import given, strategies as st
from PIL import Image, ImageDraw, ImageFont

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.pdf.ocr import MAX_IMAGE_PIXELS, has_ocr
from spadework.tools.extract.pdf.reader import extract_pdf
from spadework.tools.extract.process import limit_reading, read_apart
from tests.tools.extract.files import png, saved, zipped
from tests.world.processes import children
from tests.world.timing import eventually

URL = "https://example.com/images/quay.png"
DUES = (
    "A boat under ten metres pays 14 crowns a night, and a boat of ten metres or more pays 22"
    " crowns, as it has since the spring of the year. The harbour office is open from six."
)
needs_ocr = pytest.mark.skipif(not has_ocr(), reason="Tesseract is not installed (tesseract-ocr)")


def read(body: bytes, media_type: str = "") -> Extracted:
    return read_document(body, media_type=media_type, url=URL)


def paper(*lines: str) -> Image.Image:
    """A page at 200 dots an inch with these lines."""
    page = Image.new("L", (1654, 1000), "white")
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(34)
    for n, line in enumerate(lines):
        draw.text((150, 120 + 50 * n), line, fill="black", font=font)
    return page


def scan(*pages: Image.Image) -> bytes:
    """A PDF whose pages are pictures."""
    body = io.BytesIO()
    pages[0].save(body, "PDF", save_all=True, append_images=pages[1:], resolution=200)
    return body.getvalue()


def test_an_image_is_refused_with_the_mend_where_nothing_reads_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unreadable, match="Install Tesseract"):
        read(png())
    archive = read(zipped({"a.png": png(), "b.txt": "A text."})).markdown
    assert archive.startswith("# a.png\n\n… Not shown: Tesseract")
    assert archive.endswith("\n\n# b.txt\n\nA text.")
    with pytest.raises(Unreadable, match="only pictures; reading them needs Tesseract"):
        extract_pdf(scan(paper(DUES)), URL)


def test_a_drawing_is_no_text():
    with pytest.raises(Unreadable, match="drawing"):
        read(b"<svg xmlns='http://www.w3.org/2000/svg'><text>North</text></svg>", "image/svg+xml")


@needs_ocr
async def test_the_text_in_an_image_is_read():
    image = Image.new("RGBA", (900, 300), (0, 0, 0, 0))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(28)
    for place, line in ((30, "A boat under ten metres pays"), (70, "14 crowns a night.")):
        draw.text((40, place), line, fill="black", font=font)
    found = await read_apart(png(image), media_type="", url=URL, seconds=60)
    assert "A boat under ten metres pays\n14 crowns a night." in found.markdown
    with pytest.raises(Unreadable, match="No text was found"):
        await read_apart(
            png(Image.new("RGB", (6_000, 6_000), "white")), media_type="", url=URL, seconds=60
        )


@needs_ocr
def test_scanned_pages_are_read_in_paragraphs():
    page = paper(*textwrap.wrap(DUES, 60), "", "", "Nobody pays in winter.")
    found = extract_pdf(scan(page, Image.new("L", (1654, 1000), "white"), page), URL)
    assert found.markdown.split("\n\n") == [DUES, "Nobody pays in winter."] * 2


@needs_ocr
def test_a_scan_is_read_as_far_as_the_time_goes():
    with limit_reading(0.0), pytest.raises(Unreadable, match="no text was found in them in time"):
        extract_pdf(scan(*[paper(DUES)] * 3), URL)


@needs_ocr
async def test_a_reader_that_is_given_up_leaves_no_program_behind():
    hard = png(Image.effect_noise((2_800, 2_800), 80))
    reading = asyncio.create_task(read_apart(hard, media_type="", url=URL, seconds=60))
    await eventually(lambda: children("tesseract"), 20)
    reading.cancel()
    await eventually(lambda: not children("tesseract"), 20)


def test_a_bomb_is_refused_before_it_is_unpacked():
    for side in (7_000, 10_000, 20_000):
        with pytest.raises(
            TooLarge, match=f"limit is {MAX_IMAGE_PIXELS:,}|more than {MAX_IMAGE_PIXELS:,}"
        ):
            read(saved(Image.new("1", (side, side)), "PNG"))


def test_damage_is_named():
    with pytest.raises(Unreadable):
        read(b"\x89PNG\r\n\x1a\n" + bytes(50))


@given(
    st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP", "AVIF"]),
    st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255))),
)
@pytest.mark.full
def test_a_damaged_image_is_read_or_refused(form, changes):
    body = bytearray(saved(Image.new("RGB", (8, 8)), form))
    for place, value in changes:
        body[place % len(body)] = value
    try:
        assert isinstance(read(bytes(body)), Extracted)
    except FetchError as refusal:
        assert str(refusal)

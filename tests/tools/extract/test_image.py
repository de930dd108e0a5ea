"""Images: what they say about themselves, the text in them where that can be read, and bombs that
do not go off.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image, ImageDraw, ImageFont

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.child import read_apart
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.image import MAX_PIXELS
from spadework.tools.extract.ocr import has_ocr
from tests.tools.extract.files import jpeg, png, saved, zipped

URL = "https://example.com/images/quay.jpg"
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF'
    ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:photoshop="p"'
    ' photoshop:DateCreated="2026-02-14T09:00:00"><dc:title><rdf:Alt><rdf:li>The'
    " quay</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq><rdf:li>R."
    " Penn</rdf:li></rdf:Seq></dc:creator><dc:description><rdf:Alt><rdf:li>Boats at low"
    " tide.</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xml:lang="en-GB"><title>Harbour'
    " plan</title><desc>Where boats lie.</desc><style>a{}</style><g><title>a"
    " layer</title><text><tspan>North</tspan> <tspan>quay</tspan></text><text"
    ' display="none">draft</text><switch><foreignObject><p xmlns="x">The'
    " <b>light</b></p></foreignObject><text>The li…</text></switch></g></svg>"
)
needs_ocr = pytest.mark.skipif(
    not has_ocr(), reason="the extra ocr is not installed (pip install 'spadework[ocr]')"
)
needs_none = pytest.mark.skipif(has_ocr(), reason="the extra ocr is installed")


def read(body: bytes, media_type: str = "") -> Extracted:
    return read_document(body, media_type=media_type, url=URL)


def test_a_photograph_says_what_its_exif_data_say():
    found = read(jpeg("Boats at low tide.", artist="R. Penn", date="2026:02:14 09:00:00"))
    assert (
        found.markdown == "Boats at low tide.\n\nJPEG image, 30 × 20 pixels · R. Penn · 2026-02-14"
    )
    assert (found.title, found.author, found.kind) == ("quay.jpg", "R. Penn", "image")
    assert found.published_at == datetime(2026, 2, 14, 9, tzinfo=UTC)


def test_comments_and_titles_of_windows_are_read():
    exif = Image.Exif()
    exif[ExifTags.Base.XPTitle] = "Der Kai — früh".encode("utf-16-le") + b"\0\0"
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.UserComment] = b"ASCII\0\0\0Boats at low tide."
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = "2025:01:02 03:04:05"
    found = read(saved(Image.new("RGB", (3, 2)), "JPEG", exif=exif))
    assert (found.title, found.published_at) == (
        "Der Kai — früh",
        datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    assert "# Der Kai — früh\n\nBoats at low tide." in found.markdown


def test_texts_of_a_png_and_comments_of_a_gif_are_read():
    found = read(
        png(
            Title="Harbour map",
            Description="Where boats lie.\nAll of them.",
            Author="R. Penn",
            Software="Paint",
        )
    )
    assert (
        found.markdown
        == "# Harbour map\n\nWhere boats lie. All of them.\n\nPNG image, 3 × 2 pixels · R. Penn"
    )
    assert (
        "Boats at low tide."
        in read(saved(Image.new("L", (3, 2)), "GIF", comment=b"Boats at low tide.")).markdown
    )


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "PNG", "AVIF", "TIFF"])
def test_descriptions_in_xmp_are_read(form):
    image = Image.new("RGB", (30, 20))
    if form == "PNG":
        body = png(image, **{"XML:com.adobe.xmp": XMP})
    elif form == "TIFF":
        body = saved(image, "TIFF", tiffinfo={700: XMP.encode()})
    else:
        body = saved(image, form, xmp=XMP.encode())
    found = read(body)
    assert (found.title, found.author) == ("The quay", "R. Penn")
    assert found.markdown.startswith(
        f"# The quay\n\nBoats at low tide.\n\n{form} image, 30 × 20 pixels · R. Penn · 2026-02-14"
    )


def test_a_description_without_end_does_not_fill_the_page():
    assert len(read(jpeg("tide " * 10_000)).markdown) < 25_000


def test_the_words_of_a_drawing_are_read():
    found = read(SVG.encode(), "image/svg+xml")
    assert found == Extracted(
        title="Harbour plan",
        markdown="# Harbour plan\n\nWhere boats lie.\n\nNorth quay\n\nThe light",
        language="en",
        kind="image",
    )
    with pytest.raises(Unreadable, match="no words"):
        read(b"<svg><path d='M0 0'/></svg>", "image/svg+xml")


@needs_none
def test_an_image_that_says_nothing_is_refused_with_the_mend():
    for body in (png(), jpeg(), jpeg("OLYMPUS DIGITAL CAMERA"), png(Comment="Created with GIMP")):
        with pytest.raises(Unreadable, match=r"pip install 'spadework\[ocr\]'"):
            read(body)
    archive = read(zipped({"a.png": png(), "b.txt": "A text."})).markdown
    assert archive.startswith("# a.png\n\n… It is not shown: The image says nothing about itself")
    assert archive.endswith("\n\n# b.txt\n\nA text.")


@needs_ocr
async def test_the_text_in_an_image_is_read():
    image = Image.new("RGBA", (900, 300), (0, 0, 0, 0))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(28)
    for place, line in (
        (30, "A boat under ten metres pays"),
        (70, "14 crowns a night."),
        (200, "Harbour of Aldermere"),
    ):
        draw.text((40, place), line, fill="black", font=font)
    found = await read_apart(png(image), media_type="", url=URL, seconds=60)
    assert (
        "A boat under ten metres pays\n14 crowns a night.\n\nHarbour of Aldermere" in found.markdown
    )
    with pytest.raises(Unreadable, match="no text was found in it"):
        await read_apart(
            png(Image.new("RGB", (6_000, 6_000), "white")), media_type="", url=URL, seconds=60
        )


def test_a_bomb_is_refused_before_it_is_unpacked():
    for side in (7_000, 10_000, 20_000):
        with pytest.raises(TooLarge, match=f"limit is {MAX_PIXELS:,}|more than {MAX_PIXELS:,}"):
            read(saved(Image.new("1", (side, side)), "PNG"))


def test_damage_is_named_and_what_stands_before_it_is_read():
    with pytest.raises(Unreadable, match="damaged"):
        read(b"\x89PNG\r\n\x1a\n" + bytes(50))
    cut = png(Image.effect_noise((200, 200), 50), Title="Harbour map")[:-5_000]
    with contextlib.suppress(Unreadable):  # with the extra the picture itself is looked at
        assert read(cut).title == "Harbour map"


@given(
    st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP", "AVIF"]),
    st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255))),
)
@pytest.mark.full
def test_a_damaged_image_is_read_or_refused(form, changes):
    exif = Image.Exif()
    exif[ExifTags.Base.ImageDescription] = "A boat."
    options = (
        {}
        if form in ("GIF", "BMP")
        else (
            {"exif": exif, "xmp": XMP.encode()}
            if form != "TIFF"
            else {"tiffinfo": {700: XMP.encode()}}
        )
    )
    body = bytearray(saved(Image.new("RGB", (8, 8)), form, **options))
    for place, value in changes:
        body[place % len(body)] = value
    try:
        assert isinstance(read(bytes(body)), Extracted)
    except FetchError as refusal:
        assert str(refusal)

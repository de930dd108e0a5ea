"""Convert images to Markdown with Tesseract, within a time limit."""

from __future__ import annotations

import csv
import io
import math
import os
import shutil
import struct
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from spadework.errors import FetchError, TooLarge, Unreadable, how_to_install
from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import plain
from spadework.tools.extract.process import reading_until

if TYPE_CHECKING:
    from PIL import Image


#: An image with more pixels than this is scaled down. A page at 200 dpi has about half as many
#: pixels.
MAX_PIXELS = 8_000_000
#: Images whose longer side is below SMALL_SIDE pixels are enlarged by the factor ENLARGED.
SMALL_SIDE, ENLARGED = 1_200, 2
#: Minimum OCR confidence (0–100). A line is kept if the median confidence of its words reaches
#: SURE. In such a line, a word is kept if its own confidence reaches LEAST_SURE.
SURE, LEAST_SURE = 60, 20
#: Maximum seconds spent on one picture.
SECONDS = 20.0
#: Maximum number of languages that OCR recognizes at once. Each additional language slows it down.
MAX_LANGUAGES = 3
MEND = (
    "Install Tesseract (on Debian: tesseract-ocr, and tesseract-ocr-deu for German) and its Python"
    f" packages: {how_to_install('ocr')}."
)


@dataclass(frozen=True)
class Seen:
    """A line of text in a picture, with its position in pixels from the upper left corner. Lines of
    one paragraph have the same `paragraph`.
    """

    text: str
    left: int
    top: int
    right: int
    bottom: int
    paragraph: tuple[str, ...]


def has_ocr() -> bool:
    """Return whether Tesseract and Pillow are installed."""
    return bool(shutil.which("tesseract")) and has_pillow()


def has_pillow() -> bool:
    """Return whether Pillow, which opens images, is installed."""
    return find_spec("PIL") is not None


def lines_in(image: Image.Image) -> list[Seen]:
    """Return a picture's text lines, or [] if Tesseract is missing, fails or has no time left."""
    seconds = min(SECONDS, reading_until() - time.monotonic())
    if not has_ocr() or seconds <= 0:
        return []
    fits = math.sqrt(MAX_PIXELS / (image.width * image.height))
    share = min(fits, ENLARGED if max(image.size) < SMALL_SIDE else 1.0)
    shown = _on_white(image.resize([max(1, int(side * share)) for side in image.size]))
    page = io.BytesIO()
    shown.save(page, "PPM")
    command = ["tesseract", "stdin", "stdout", "--dpi", "200", "-l", _languages(), "tsv"]
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    try:
        told = subprocess.run(
            command, input=page.getvalue(), capture_output=True, timeout=seconds, env=environment
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return list(_lines(told.decode("utf-8", "replace"), share))


def text_in(image: Image.Image) -> str:
    """Return a picture's text as paragraphs, or ""."""
    groups = groupby(lines_in(image), key=lambda line: line.paragraph)
    return "\n\n".join(plain("\n".join(line.text for line in lines)) for _, lines in groups)


def _on_white(image: Image.Image) -> Image.Image:
    """Convert an image to grayscale on a white background: transparent parts would turn black."""
    if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
        return image.convert("L")
    from PIL import Image  # Pillow is optional.

    image = image.convert("RGBA")
    page = Image.new("RGBA", image.size, "white")
    page.alpha_composite(image)
    return page.convert("L")


@cache
def _languages() -> str:
    told = subprocess.run(["tesseract", "--list-langs"], capture_output=True, timeout=SECONDS)
    names = told.stdout.decode("utf-8", "replace").split("\n")[1:]
    known = [name for name in names if name.isalpha() and len(name) == 3 and name != "osd"]
    return "+".join(sorted(known, key=lambda name: name != "eng")[:MAX_LANGUAGES]) or "eng"


def _lines(told: str, share: float) -> Iterator[Seen]:
    rows = csv.DictReader(io.StringIO(told), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [row for row in rows if row.get("level") == "5" and (row.get("text") or "").strip()]
    for _, group in groupby(words, key=_place):
        found = list(group)
        if median(float(word["conf"]) for word in found) < SURE:
            continue
        kept = [word for word in found if float(word["conf"]) >= LEAST_SURE]
        boxes = [[int(word[name]) for name in ("left", "top", "width", "height")] for word in kept]
        yield Seen(
            " ".join(word["text"].strip() for word in kept),
            int(min(left for left, _, _, _ in boxes) / share),
            int(min(top for _, top, _, _ in boxes) / share),
            int(max(left + width for left, _, width, _ in boxes) / share),
            int(max(top + height for _, top, _, height in boxes) / share),
            _place(kept[0])[:2],
        )


def _place(word: dict[str, str]) -> tuple[str, str, str]:
    return word["block_num"], word["par_num"], word["line_num"]


#: Maximum number of pixels in an image. Reading an image takes up to 8 bytes of memory per pixel.
MAX_IMAGE_PIXELS = 40_000_000

_FORMATS = ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "AVIF", "BMP")
_FAULTS = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, ArithmeticError,
    RuntimeError, AttributeError, AssertionError, struct.error,
)  # fmt: skip


def extract_image(body: bytes, url: str) -> Extracted:
    """Return the text in an image. Raises Unreadable or TooLarge."""
    if not has_pillow():
        raise _not_installed()
    from PIL import Image

    with _named_faults():
        image = Image.open(io.BytesIO(body), formats=_FORMATS)
        pixels = image.width * image.height
        if pixels > MAX_IMAGE_PIXELS:
            raise TooLarge(f"The image has {pixels:,} pixels; the limit is {MAX_IMAGE_PIXELS:,}.")
        if not has_ocr():
            raise _not_installed()
        image.load()
        words = text_in(image)
    if not words:
        raise Unreadable("No text was found in the image.")
    return Extracted(title=file_name(url), markdown=words, kind="image")


def _not_installed() -> Unreadable:
    return Unreadable(
        f"Tesseract, which reads the text in images, is not installed. {MEND}", hint=MEND
    )


@contextmanager
def _named_faults() -> Iterator[None]:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FetchError:
        raise
    except Image.DecompressionBombError:
        raise TooLarge(f"The image has more than {MAX_IMAGE_PIXELS:,} pixels.") from None
    except UnidentifiedImageError:
        raise Unreadable("The image is damaged, or its type is not supported.") from None
    except _FAULTS as error:
        raise Unreadable(
            f"The image is damaged: {str(error)[:100].strip(' .') or type(error).__name__}."
        ) from None

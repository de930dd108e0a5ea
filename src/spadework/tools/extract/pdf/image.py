"""Convert the text in images to Markdown with Tesseract."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.pdf.ocr import MEND, has_ocr, has_pillow, text_in

#: Maximum pixels in an image. Each takes up to 8 bytes while the image is read.
MAX_PIXELS = 40_000_000

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
        if pixels > MAX_PIXELS:
            raise TooLarge(f"The image has {pixels:,} pixels; the limit is {MAX_PIXELS:,}.")
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
        raise TooLarge(f"The image has more than {MAX_PIXELS:,} pixels.") from None
    except UnidentifiedImageError:
        raise Unreadable("The image is damaged, or of an unsupported type.") from None
    except _FAULTS as error:
        raise Unreadable(
            f"The image is damaged: {str(error)[:100].strip(' .') or type(error).__name__}."
        ) from None

"""Images as Markdown: what they say about themselves, and the text in them where the extra `ocr` is
installed.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, UnidentifiedImageError

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.dates import moment
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.image_facts import Facts, facts_of
from spadework.tools.extract.kinds import file_name
from spadework.tools.extract.ocr import has_ocr, text_in
from spadework.tools.extract.writing import blocks, heading, plain

#: Most pixels of an image; each takes up to 8 bytes while it is read.
MAX_PIXELS = 40_000_000

_FORMATS = ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "AVIF", "BMP")
#: What Pillow raises for damaged files.
_FAULTS = (
    *(
        OSError,
        SyntaxError,
        ValueError,
        TypeError,
        LookupError,
        EOFError,
        ArithmeticError,
        RuntimeError,
        AttributeError,
        AssertionError,
    ),
    struct.error,
)


def extract_image(body: bytes, url: str) -> Extracted:
    """What an image says about itself and, with the extra `ocr`, the text in it.

    Raises Unreadable when it is damaged or there is neither, TooLarge for more than MAX_PIXELS.
    """
    with _named_faults():
        image = Image.open(io.BytesIO(body), formats=_FORMATS)
        pixels = image.width * image.height
        if pixels > MAX_PIXELS:
            raise TooLarge(f"The image has {pixels:,} pixels, the limit is {MAX_PIXELS:,}.")
        facts = facts_of(image)
        words = text_in(image)
    if not words and not facts.says_something:
        raise Unreadable(
            "The image says nothing about itself, and no text was found in it."
            if has_ocr()
            else (
                "The image says nothing about itself; to read the text in it, install the extra"
                " ocr: pip install 'spadework[ocr]'."
            )
        )
    size = f"{image.format} image, {image.width:,} × {image.height:,} pixels"
    return Extracted(
        title=facts.title or file_name(url),
        markdown=_markdown(facts, size, words),
        author=facts.author,
        published_at=moment(facts.date),
        kind="image",
    )


def _markdown(facts: Facts, size: str, words: str) -> str:
    date = moment(facts.date)
    about = (size, facts.author, date.date().isoformat() if date else "", facts.rights)
    return blocks(
        [
            heading(facts.title, 1),
            *map(plain, facts.texts),
            plain(" · ".join(filter(None, about))),
            words,
        ]
    )


@contextmanager
def _named_faults() -> Iterator[None]:
    """The faults of Pillow by our names. Its warnings, of damage and of size, are not for whoever
    asks.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FetchError:
        raise
    except Image.DecompressionBombError:
        raise TooLarge(f"The image has more than {MAX_PIXELS:,} pixels.") from None
    except UnidentifiedImageError:
        raise Unreadable("The image is damaged, or of a kind that is not read.") from None
    except _FAULTS as error:
        raise Unreadable(
            f"The image is damaged: {str(error)[:100].strip(' .') or type(error).__name__}."
        ) from None

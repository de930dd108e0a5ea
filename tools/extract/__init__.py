"""From the bytes of a document, whatever its format, to clean Markdown: one reader for each format."""

from __future__ import annotations

from spadework.errors import Unreadable
from spadework.tools.extract.charset import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.kinds import file_name, kind_of
from spadework.tools.extract.markdown import clean_markdown
from spadework.tools.extract.pdf import extract_pdf
from spadework.tools.extract.rst import extract_rst
from spadework.tools.extract.text import extract_text
from spadework.tools.extract.writing import fence

__all__ = ["read_document"]

_TEXT_READERS = {"html": extract, "markdown": clean_markdown, "rst": extract_rst, "text": extract_text}


def read_document(body: bytes, *, media_type: str, url: str, charset: str = "") -> Extracted:
    """The content of a document; `media_type` and `charset` are what the server said, "" where it said nothing.

    Raises Unreadable for a damaged document and for a format that is not read.
    """
    kind = kind_of(body, media_type, url)
    if kind.reader == "pdf":
        return extract_pdf(body, url)
    if not kind.reader:
        raise Unreadable(f"{kind.media_type} is not read yet.")
    text = decode(body, charset)
    if kind.reader == "code":
        return _source(text, kind.language, url)
    return _TEXT_READERS[kind.reader](text, url)


def _source(text: str, language: str, url: str) -> Extracted:
    """A file that is code from its first line to its last."""
    code = text.replace("\r\n", "\n")
    return Extracted(title=file_name(url), markdown=fence(code, language) if code.strip() else "", kind=language)

"""Find the reader for a kind of document, importing it on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from spadework.tools.extract.extracted import Extracted

ReadText = Callable[[str, str], Extracted]
ReadBytes = Callable[[bytes, str], Extracted]
#: A container reader. Its last argument reads members; None leaves them unread.
ReadHolder = Callable[[bytes, str, ReadBytes | None], Extracted]

#: Import paths instead of functions, because loading all libraries takes longer than reading a
#: page.
_OF_TEXT = {
    "html": "html.extract", "markdown": "text.markdown.clean_markdown",
    "rst": "text.plain_text.extract_rst",
    "text": "text.plain_text.extract_text", "xml": "text.feed.extract_xml",
    "delimited": "text.plain_text.extract_delimited",
}  # fmt: skip
_OF_BYTES = {
    "pdf": "pdf.reader.extract_pdf", "mail": "text.mail.extract_mail",
    "rtf": "office.rtf.extract_rtf", "xls": "office.xlsx.extract_xls",
    "msg": "text.mail.extract_msg",
    "image": "pdf.image.extract_image",
}  # fmt: skip
_OF_HOLDERS = {
    "zip": "archive.extract_zip", "tar": "archive.extract_tar", "packed": "archive.extract_packed",
}  # fmt: skip


def text_reader(kind: str) -> ReadText | None:
    """Return the reader for a kind of text, or None."""
    reader: ReadText | None = _load(_OF_TEXT.get(kind, ""))
    return reader


def bytes_reader(kind: str) -> ReadBytes | None:
    """Return the reader for a binary kind, or None."""
    reader: ReadBytes | None = _load(_OF_BYTES.get(kind, ""))
    return reader


def holder_reader(kind: str) -> ReadHolder | None:
    """Return the reader for a container kind, or None."""
    reader: ReadHolder | None = _load(_OF_HOLDERS.get(kind, ""))
    return reader


def _load(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"spadework.tools.extract.{module}"), function) if name else None

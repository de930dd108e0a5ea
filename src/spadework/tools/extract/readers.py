"""Which reader reads which kind of document; each is loaded with the first document of its kind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from spadework.tools.extract.extracted import Extracted

ReadText = Callable[[str, str], Extracted]
ReadBytes = Callable[[bytes, str], Extracted]
#: Reads what holds other documents: it is given how to read these, or None where none is opened.
ReadHolder = Callable[[bytes, str, ReadBytes | None], Extracted]

#: Modules and functions by the kinds they read. They are names because most runs meet two kinds,
#: and the libraries of all take longer to load than a page to read.
_OF_TEXT = {
    "html": "html.extract", "markdown": "text.markdown.clean_markdown",
    "rst": "text.rst.extract_rst",
    "text": "text.plain_text.extract_text", "xml": "xml_text.extract_xml",
    "delimited": "text.delimited.extract_delimited",
}  # fmt: skip
_OF_BYTES = {
    "pdf": "pdf.reader.extract_pdf", "mail": "text.mail.extract_mail",
    "rtf": "office.rtf.extract_rtf", "xls": "office.xls.extract_xls",
    "msg": "text.outlook.extract_msg",
    "image": "pdf.image.extract_image",
}  # fmt: skip
_OF_HOLDERS = {
    "zip": "archive.extract_zip", "tar": "archive.extract_tar", "packed": "archive.extract_packed",
}  # fmt: skip


def text_reader(kind: str) -> ReadText | None:
    """What reads a kind of text, given the text and its URL."""
    reader: ReadText | None = _load(_OF_TEXT.get(kind, ""))
    return reader


def bytes_reader(kind: str) -> ReadBytes | None:
    """What reads a kind of document that is no text, given its bytes and its URL."""
    reader: ReadBytes | None = _load(_OF_BYTES.get(kind, ""))
    return reader


def holder_reader(kind: str) -> ReadHolder | None:
    """What reads a kind of document that holds others."""
    reader: ReadHolder | None = _load(_OF_HOLDERS.get(kind, ""))
    return reader


def _load(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"spadework.tools.extract.{module}"), function) if name else None

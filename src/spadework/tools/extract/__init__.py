"""Convert documents to Markdown. Readers are imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from spadework.errors import Unreadable
from spadework.tools.extract.document_kinds import (
    Decoded,
    Kind,
    decode_body,
    file_name,
    kind_of,
    old_refusal,
)
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import added_formats
from spadework.tools.extract.markdown_writer import fence, not_shown

__all__ = ["read_document"]

ReadText = Callable[[str, str], Extracted]
ReadBytes = Callable[[bytes, str], Extracted]
#: A function that reads container files. Its last argument is a function that reads the files
#: inside, or None to refuse archives.
ReadHolder = Callable[[bytes, str, ReadBytes | None], Extracted]

#: Import paths of the readers. A reader is imported on first use, because importing all libraries
#: takes longer than reading a page.
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
    "image": "pdf.ocr.extract_image",
}  # fmt: skip
_OF_HOLDERS = {
    "zip": "archive.extract_zip", "tar": "archive.extract_tar", "packed": "archive.extract_packed",
}  # fmt: skip


def text_reader(kind: str) -> ReadText | None:
    """Return the reader for a kind of text, or None."""
    reader: ReadText | None = _load(_OF_TEXT.get(kind, ""))
    return reader


def bytes_reader(kind: str) -> ReadBytes | None:
    """Return the reader for a kind of binary file, or None."""
    reader: ReadBytes | None = _load(_OF_BYTES.get(kind, ""))
    return reader


def holder_reader(kind: str) -> ReadHolder | None:
    """Return the reader for a container kind, or None."""
    reader: ReadHolder | None = _load(_OF_HOLDERS.get(kind, ""))
    return reader


def _load(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"spadework.tools.extract.{module}"), function) if name else None


#: Nesting depth that each kind of container adds.
_DEPTHS = {"packed": 1, "zip": 2, "tar": 2}
#: Maximum depth at which containers are opened. This allows .tar.gz, but not nested archives.
_OPENED = 1
#: Maximum characters of Markdown. Repeated cells can make a small file very long.
MAX_CHARS = 20_000_000


def read_document(body: bytes, *, media_type: str, url: str, charset: str = "") -> Extracted:
    """Return a document as Markdown, cut after MAX_CHARS characters. `media_type` and `charset`
    come from the server. Raises TooLarge if the document exceeds a limit, or Unreadable if it
    is damaged, unsupported, or empty (unless it is HTML).
    """
    kind = kind_of(body, media_type, url)
    found = _read(body, kind, url, charset=charset)
    # Accept an empty HTML page, because scripts may fill it.
    if not found.markdown.strip() and kind.reader != "html":
        form = found.kind if kind.reader == "zip" else kind.reader
        read_as = f"The document was read as {form} and contains no text."
        raise Unreadable(read_as if body.strip() else "The document is empty.")
    rest = len(found.markdown) - MAX_CHARS
    if rest <= 0:
        return found
    shown = f"{found.markdown[:MAX_CHARS]}\n\n{not_shown(rest, 'characters')}\n"
    return replace(found, markdown=shown)


def _read(body: bytes, kind: Kind, url: str, *, charset: str = "", depth: int = 0) -> Extracted:
    if hold := holder_reader(kind.reader):
        deeper = depth + _DEPTHS[kind.reader]

        def member(body: bytes, name: str) -> Extracted:
            return _read(body, kind_of(body, "", name), name, depth=deeper)

        return hold(body, url, member if depth <= _OPENED else None)
    if kind.reader in added_formats():
        return added_formats()[kind.reader].read(body, url)
    if kind.reader == "old":
        raise old_refusal(body, kind.media_type)
    if read := bytes_reader(kind.reader):
        return read(body, url)
    if not kind.reader:
        raise Unreadable(f"{kind.media_type} is not supported.")
    return _read_text(decode_body(body, charset), kind, url)


def _read_text(decoded: Decoded, kind: Kind, url: str) -> Extracted:
    read = text_reader(kind.reader)
    if read is None:  # No reader means source code.
        code = decoded.text.replace("\r\n", "\n")
        markdown = fence(code, kind.language) if code.strip() else ""
        return Extracted(title=file_name(url), markdown=markdown, kind=kind.language)
    found = read(decoded.text, url)
    if not (decoded.doubtful and found.markdown):
        return found
    read_as = f"was read as {decoded.charset}, so some characters may be wrong."
    said = f"… This text does not state its character encoding and {read_as}"
    return replace(found, markdown=f"{found.markdown.rstrip()}\n\n{said}\n")

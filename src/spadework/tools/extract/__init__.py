"""From the bytes of a document, whatever its format, to clean Markdown: one reader for each
format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from spadework.errors import Unreadable
from spadework.tools.extract.archive import ReadMember, extract_packed, extract_tar
from spadework.tools.extract.charset import decode_body
from spadework.tools.extract.delimited import extract_delimited
from spadework.tools.extract.document_kinds import Kind, file_name, kind_of
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import added_formats
from spadework.tools.extract.html import extract
from spadework.tools.extract.image import extract_image
from spadework.tools.extract.mail import extract_mail
from spadework.tools.extract.markdown import clean_markdown
from spadework.tools.extract.office import not_installed, old_office, program
from spadework.tools.extract.pdf import extract_pdf
from spadework.tools.extract.rst import extract_rst
from spadework.tools.extract.rtf import extract_rtf
from spadework.tools.extract.text import extract_text
from spadework.tools.extract.writing import fence, not_shown
from spadework.tools.extract.xml_text import extract_xml
from spadework.tools.extract.zipped import extract_zip

__all__ = ["read_document"]

_TEXT_READERS: dict[str, Callable[[str, str], Extracted]] = {
    "html": extract,
    "markdown": clean_markdown,
    "rst": extract_rst,
    "text": extract_text,
    "xml": extract_xml,
    "delimited": extract_delimited,
}
_BYTE_READERS: dict[str, Callable[[bytes, str], Extracted]] = {
    "pdf": extract_pdf,
    "mail": extract_mail,
    "rtf": extract_rtf,
    "image": extract_image,
}
#: Readers of what holds other documents: they are told how to read these.
_HOLDERS: dict[str, Callable[[bytes, str, ReadMember | None], Extracted]] = {
    "zip": extract_zip,
    "tar": extract_tar,
    "packed": extract_packed,
}
#: How deep the members lie: an archive that was packed is opened, one that lies in an archive is
#: not.
_DEPTHS = {"packed": 1, "zip": 2, "tar": 2}
_OPENED = 1
#: Longest Markdown of a document, in characters: repeated cells of a small file may become any
#: length.
MAX_CHARS = 20_000_000


def read_document(body: bytes, *, media_type: str, url: str, charset: str = "") -> Extracted:
    """The content of a document; `media_type` and `charset` are what the server said, "" where it
    said nothing.

    Text behind its first MAX_CHARS is left out, which its last line says. Raises Unreadable for a
    damaged document and for a format that is not read, TooLarge for one over a limit of its reader.
    """
    return _cut(_read(body, kind_of(body, media_type, url), url, charset=charset))


def _cut(found: Extracted) -> Extracted:
    rest = len(found.markdown) - MAX_CHARS
    return (
        replace(
            found, markdown=f"{found.markdown[:MAX_CHARS]}\n\n{not_shown(rest, 'characters')}\n"
        )
        if rest > 0
        else found
    )


def _read(body: bytes, kind: Kind, url: str, *, charset: str = "", depth: int = 0) -> Extracted:
    if kind.reader in _HOLDERS:
        member = (
            partial(_read_member, depth=depth + _DEPTHS[kind.reader]) if depth <= _OPENED else None
        )
        return _HOLDERS[kind.reader](body, url, member)
    if kind.reader in added_formats():
        return added_formats()[kind.reader].read(body, url)
    if kind.reader == "old":
        raise _unread(body, kind)
    if kind.reader in _BYTE_READERS:
        return _BYTE_READERS[kind.reader](body, url)
    if not kind.reader:
        raise Unreadable(f"{kind.media_type} is not read yet.")
    found = decode_body(body, charset)
    if kind.reader == "code":
        return _source(found.text, kind.language, url)
    read = _TEXT_READERS[kind.reader](found.text, url)
    return _add_doubt(read, found.charset) if found.doubtful and read.markdown else read


def _add_doubt(found: Extracted, charset: str) -> Extracted:
    """What was read, with a line that says that its letters may be wrong."""
    said = f"… It does not say how its letters are coded; they were read as {charset}, and some"
    return replace(found, markdown=f"{found.markdown.rstrip()}\n\n{said} may be wrong.\n")


def _unread(body: bytes, kind: Kind) -> Unreadable:
    """The error of an old file of Office, which LibreOffice alone reads, and not here, and of what
    else is kept like one.
    """
    old = old_office(body)
    if old is None:
        return Unreadable(f"{kind.media_type} is not read yet.")
    if not program():
        return not_installed(old)
    return Unreadable(f"Old {old.name} files (.{old.ending}) are read only by themselves.")


def _read_member(body: bytes, name: str, *, depth: int) -> Extracted:
    """A document that lies in another one."""
    return _read(body, kind_of(body, "", name), name, depth=depth)


def _source(text: str, language: str, url: str) -> Extracted:
    """A file that is code from its first line to its last."""
    code = text.replace("\r\n", "\n")
    return Extracted(
        title=file_name(url), markdown=fence(code, language) if code.strip() else "", kind=language
    )

"""From the bytes of a document of any format to clean Markdown: one reader for each format."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from spadework.errors import Unreadable
from spadework.tools.extract.charset import Decoded, decode_body
from spadework.tools.extract.document_kinds import Kind, file_name, kind_of
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import added_formats
from spadework.tools.extract.office import not_installed, old_office, program
from spadework.tools.extract.readers import bytes_reader, holder_reader, text_reader
from spadework.tools.extract.writing import fence, not_shown

__all__ = ["read_document"]

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
    if hold := holder_reader(kind.reader):
        member = partial(_read_member, depth=depth + _DEPTHS[kind.reader])
        return hold(body, url, member if depth <= _OPENED else None)
    if kind.reader in added_formats():
        return added_formats()[kind.reader].read(body, url)
    if kind.reader == "old":
        raise _unread(body, kind)
    if read := bytes_reader(kind.reader):
        return read(body, url)
    if not kind.reader:
        raise Unreadable(f"{kind.media_type} is not read yet.")
    return _read_text(decode_body(body, charset), kind, url)


def _read_text(decoded: Decoded, kind: Kind, url: str) -> Extracted:
    read = text_reader(kind.reader)
    if read is None:
        return _source(decoded.text, kind.language, url)
    found = read(decoded.text, url)
    return _add_doubt(found, decoded.charset) if decoded.doubtful and found.markdown else found


def _add_doubt(found: Extracted, charset: str) -> Extracted:
    """What was read, with a line that says that its letters may be wrong."""
    said = f"… It does not say how its letters are coded; they were read as {charset}, and some"
    return replace(found, markdown=f"{found.markdown.rstrip()}\n\n{said} may be wrong.\n")


def _unread(body: bytes, kind: Kind) -> Unreadable:
    """The error of an old Office file, which LibreOffice reads but not here, or of one like it."""
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

"""Convert documents of any supported format to Markdown."""

from __future__ import annotations

from dataclasses import replace

from spadework.errors import Unreadable
from spadework.tools.extract.document_kinds import Decoded, Kind, decode_body, file_name, kind_of
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import added_formats
from spadework.tools.extract.markdown_writer import fence, not_shown
from spadework.tools.extract.office.office import old_refusal
from spadework.tools.extract.readers import bytes_reader, holder_reader, text_reader

__all__ = ["read_document"]

#: Nesting depth added by each container.
_DEPTHS = {"packed": 1, "zip": 2, "tar": 2}
#: Maximum depth of an opened container: the tar in a .tar.gz, but no nested archive.
_OPENED = 1
#: Maximum characters of a document's Markdown. Repeated cells can inflate a small file.
MAX_CHARS = 20_000_000


def read_document(body: bytes, *, media_type: str, url: str, charset: str = "") -> Extracted:
    """Return a document as Markdown with its metadata. `media_type` and `charset` are the server's.
    Text beyond MAX_CHARS is cut, and the last line says so. Raises Unreadable if the document is
    damaged, unsupported or (except HTML) empty, and TooLarge beyond a reader's limit.
    """
    kind = kind_of(body, media_type, url)
    found = _read(body, kind, url, charset=charset)
    # An empty HTML page may be filled by its scripts.
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

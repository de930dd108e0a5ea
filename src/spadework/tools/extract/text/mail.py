"""Convert e-mails (RFC 822 and Outlook) to Markdown, preferring plain text to HTML."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from typing import Any

import olefile

from spadework.errors import FetchError, Unreadable
from spadework.tools.extract.document_kinds import decode, utf_16
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.markdown_writer import blocks, plain, write_heading
from spadework.tools.extract.text.plain_text import extract_text
from spadework.tools.text.facts import moment

#: Maximum characters read from a mail header, because decoding a header takes quadratic time.
MAX_HEADER = 2_000
MAX_NAMES = 20


def extract_mail(body: bytes, url: str) -> Extracted:
    """Return an e-mail's text and attachment names. Raises Unreadable."""
    if wide := utf_16(body):
        body = body.decode(wide, "replace").encode()
    try:
        message = BytesParser().parsebytes(body)
        whole = [part for part in message.walk() if not part.is_multipart()]
    except (RecursionError, MessageError, ValueError, LookupError):
        raise Unreadable("The e-mail is damaged.") from None
    attached = [part for part in whole if part.get_content_disposition() == "attachment"]
    shown = [part for part in whole if part.get_content_disposition() != "attachment"]
    names = [_file_name(part) for part in attached[:MAX_NAMES]]
    date = moment(_header(message, "Date"))
    text = _text(shown, url)
    return letter(_header(message, "Subject"), _header(message, "From"), date, text, names)


def letter(
    subject: str, sender: str, date: datetime | None, text: str, attached: Sequence[str]
) -> Extracted:
    """Build a document from an e-mail's headers, Markdown text and attachment names."""
    line = " · ".join(part for part in (sender, date.date().isoformat() if date else "") if part)
    closed = plain(f"… Not opened: {', '.join(attached[:MAX_NAMES])}.") if attached else ""
    return Extracted(
        title=subject,
        markdown=blocks([write_heading(subject, 1), plain(line), text, closed]),
        author=sender,
        published_at=date,
        kind="mail",
    )


def _text(parts: list[Message], url: str) -> str:
    for kind, reader in (("text/plain", extract_text), ("text/html", extract)):
        found = []
        for part in parts:
            if part.get_content_type() == kind:
                with suppress(FetchError):  # For example, the part may be empty.
                    found.append(reader(_decode_part(part), url).markdown.strip())
        if any(found):
            return blocks(found)
    return ""


def _file_name(part: Message) -> str:
    with suppress(LookupError, ValueError, MessageError, TypeError):
        return " ".join(str(part.get_filename() or "").split())[:100] or part.get_content_type()
    return "an attachment"


def _decode_part(part: Message) -> str:
    try:
        payload = part.get_payload(decode=True)
        charset = str(part.get_content_charset() or "")
    except (ValueError, LookupError, AssertionError):
        return ""
    return decode(payload, charset) if isinstance(payload, bytes) else ""


def _header(message: Message, name: str) -> str:
    value = str(message.get(name, ""))[:MAX_HEADER]
    with suppress(LookupError, ValueError, MessageError):  # If decoding fails, keep the raw header.
        value = str(make_header(decode_header(value)))
    return " ".join(value.split())


# The numbers of Outlook properties (MS-OXPROPS).
_SUBJECT, _SENDER, _SMTP, _ADDRESS = "0037", "0C1A", "5D01", "0C1F"
_BODY, _HTML, _RTF = "1000", "1013", "1009"
_FILE_NAMES = ("3707", "3704", "3001")
_SENT, _DELIVERED, _CODE_PAGE = 0x0039_0040, 0x0E06_0040, 0x3FFD_0003
#: The header size in bytes of a property stream, and the layout of each fixed-size property: tag,
#: flags (skipped) and value.
_HEADER, _ENTRY = 32, struct.Struct("<I4xQ")
_TICKS_FROM = datetime(1601, 1, 1, tzinfo=UTC)
_OUTLOOK = "The Outlook message"

_open: Any = olefile.OleFileIO  # OleFileIO has no types.


def extract_msg(body: bytes, url: str) -> Extracted:
    """Extract an Outlook message. Raises Unreadable if it is damaged or has only compressed RTF."""
    try:
        with _open(io.BytesIO(body)) as storage:
            return _read(_Properties(storage), url)
    except (OSError, ValueError, struct.error, IndexError, OverflowError):
        raise Unreadable(f"{_OUTLOOK} is damaged.") from None


def _read(message: _Properties, url: str) -> Extracted:
    text = extract_text(message.text(_BODY), url).markdown.strip()
    if not text and (html := message.raw(_HTML) or message.text(_HTML).encode()):
        text = extract(decode(html, message.charset), url).markdown.strip()
    if not text and message.raw(_RTF):
        raise Unreadable(
            f"{_OUTLOOK} stores its text only as compressed RTF. Save the message as .eml or .txt."
        )
    sender, address = message.text(_SENDER), message.text(_SMTP) or message.text(_ADDRESS)
    if "@" in address and address != sender:
        sender = f"{sender} <{address}>".strip()
    return letter(message.text(_SUBJECT), sender, message.sent, text, message.attached)


class _Properties:
    """The properties of an Outlook message, keyed by number."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage
        self._streams = {"/".join(path): path for path in storage.listdir()}
        fixed = self._stream("__properties_version1.0")[_HEADER:]
        whole = fixed[: len(fixed) - len(fixed) % _ENTRY.size]
        self._fixed = dict(_ENTRY.iter_unpack(whole))
        page = self._fixed.get(_CODE_PAGE, 0) & 0xFFFF
        self.charset = "utf-8" if page == 65001 else f"cp{page}" if page else "cp1252"

    def raw(self, name: str) -> bytes:
        return self._stream(f"__substg1.0_{name}0102")

    def text(self, name: str, folder: str = "") -> str:
        stem = f"{folder}__substg1.0_{name}"
        if wide := self._stream(f"{stem}001F"):
            return wide.decode("utf-16-le", "replace").strip("\0")
        return decode(self._stream(f"{stem}001E"), self.charset).strip("\0")

    @property
    def sent(self) -> datetime | None:
        """The time at which the message was sent or, if that is unknown, delivered."""
        ticks = self._fixed.get(_SENT) or self._fixed.get(_DELIVERED)
        return _TICKS_FROM + timedelta(microseconds=ticks // 10) if ticks else None

    @property
    def attached(self) -> list[str]:
        folders = dict.fromkeys(name.partition("/")[0] for name in self._streams)
        return [
            next(filter(None, (self.text(name, f"{folder}/") for name in _FILE_NAMES)), "a file")
            for folder in folders
            if folder.startswith("__attach_version1.0_")
        ]

    def _stream(self, name: str) -> bytes:
        path = self._streams.get(name)
        return bytes(self._storage.openstream(path).read()) if path else b""

"""Outlook e-mails (msg) as Markdown, from the storage's stream per property."""

from __future__ import annotations

import io
import struct
from datetime import UTC, datetime, timedelta
from typing import Any

import olefile

from spadework.errors import Unreadable
from spadework.tools.extract.charset import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.text.mail import letter
from spadework.tools.extract.text.plain_text import extract_text

#: Property numbers (MS-OXPROPS).
_SUBJECT, _SENDER, _SMTP, _ADDRESS = "0037", "0C1A", "5D01", "0C1F"
_BODY, _HTML, _RTF = "1000", "1013", "1009"
_FILE_NAMES = ("3707", "3704", "3001")
_SENT, _DELIVERED, _CODE_PAGE = 0x0039_0040, 0x0E06_0040, 0x3FFD_0003
#: After a header, each fixed property has a tag, flags and a value of these sizes.
_HEADER, _ENTRY = 32, struct.Struct("<I4xQ")
_TICKS_FROM = datetime(1601, 1, 1, tzinfo=UTC)
_OUTLOOK = "The Outlook message"

_open: Any = olefile.OleFileIO  # has no types


def extract_msg(body: bytes, url: str) -> Extracted:
    """Return an e-mail's text without attachments. Raises Unreadable if it is damaged, or has its
    text in an unsupported form.
    """
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
        raise Unreadable(f"{_OUTLOOK} keeps its text as packed RTF alone; save it as .eml or .txt.")
    sender, address = message.text(_SENDER), message.text(_SMTP) or message.text(_ADDRESS)
    if "@" in address and address != sender:
        sender = f"{sender} <{address}>".strip()
    return letter(message.text(_SUBJECT), sender, message.sent, text, message.attached)


class _Properties:
    """A message's properties by number."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage
        self._streams = {"/".join(path): path for path in storage.listdir()}
        fixed = self._stream("__properties_version1.0")[_HEADER:]
        whole = fixed[: len(fixed) - len(fixed) % _ENTRY.size]
        self._fixed = dict(_ENTRY.iter_unpack(whole))
        page = self._fixed.get(_CODE_PAGE, 0) & 0xFFFF
        self.charset = "utf-8" if page == 65001 else f"cp{page}" if page else "cp1252"

    def raw(self, name: str) -> bytes:
        """Return a binary property, or b""."""
        return self._stream(f"__substg1.0_{name}0102")

    def text(self, name: str, folder: str = "") -> str:
        """Return a text property, or ""."""
        stem = f"{folder}__substg1.0_{name}"
        if wide := self._stream(f"{stem}001F"):
            return wide.decode("utf-16-le", "replace").strip("\0")
        return decode(self._stream(f"{stem}001E"), self.charset).strip("\0")

    @property
    def sent(self) -> datetime | None:
        """When it was sent or delivered."""
        ticks = self._fixed.get(_SENT) or self._fixed.get(_DELIVERED)
        return _TICKS_FROM + timedelta(microseconds=ticks // 10) if ticks else None

    @property
    def attached(self) -> list[str]:
        """The names of attached files."""
        folders = dict.fromkeys(name.partition("/")[0] for name in self._streams)
        return [
            next(filter(None, (self.text(name, f"{folder}/") for name in _FILE_NAMES)), "a file")
            for folder in folders
            if folder.startswith("__attach_version1.0_")
        ]

    def _stream(self, name: str) -> bytes:
        path = self._streams.get(name)
        return bytes(self._storage.openstream(path).read()) if path else b""

"""Read web pages that a browser saved as one file (MHTML)."""

from __future__ import annotations

from email.errors import MessageError
from email.message import Message
from email.parser import BytesParser

from spadework.errors import Unreadable
from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import Format
from spadework.tools.extract.html import extract

_PAGES = ("text/html", "application/xhtml+xml")


def extract_mhtml(body: bytes, url: str) -> Extracted:
    """Read the first HTML part as a page. Raises Unreadable or TooLarge."""
    try:
        message = BytesParser().parsebytes(body)
        page = next((part for part in message.walk() if part.get_content_type() in _PAGES), None)
        html = page.get_payload(decode=True) if page else None
        charset = str(page.get_content_charset() or "") if page else ""
    except (RecursionError, MessageError, ValueError, LookupError, AssertionError):
        raise Unreadable("The saved page is damaged.") from None
    if page is None or not isinstance(html, bytes) or not html.strip():
        raise Unreadable("The MHTML file contains no page.")
    return extract(decode(html, charset), _address(message, page) or url)


def _address(message: Message, page: Message) -> str:
    said = (page.get("Content-Location"), message.get("Snapshot-Content-Location"))
    return next((str(one).strip() for one in said if str(one).startswith("http")), "")


FORMAT = Format(
    "mhtml",
    extract_mhtml,
    magic=b"From: <Saved by",
    media_types=("multipart/related", "application/x-mimearchive"),
    endings=("mht", "mhtml"),
)

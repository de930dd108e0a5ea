"""E-mails (RFC 822) as Markdown: subject, sender, date and text; HTML only without plain text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser

from spadework.errors import FetchError, Unreadable
from spadework.tools.extract.charset import decode, utf_16
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.markdown_writer import blocks, plain, write_heading
from spadework.tools.extract.text.plain_text import extract_text
from spadework.tools.text.quantities import moment

#: Characters read of a header: decoding its encoded words takes quadratic time.
MAX_HEADER = 2_000
MAX_NAMES = 20


def extract_mail(body: bytes, url: str) -> Extracted:
    """Return an e-mail's text without attachments. Raises Unreadable on endless nesting."""
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
    """Return an e-mail of these parts; `text` is Markdown, `attached` files are only named."""
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
                with suppress(FetchError):  # a part may be empty
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
    with suppress(LookupError, ValueError, MessageError):  # then it stays unchanged
        value = str(make_header(decode_header(value)))
    return " ".join(value.split())

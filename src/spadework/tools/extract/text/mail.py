"""E-mails (RFC 822) as Markdown: subject, sender, day, and text; HTML only where it is all."""

from __future__ import annotations

from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser

from spadework.errors import FetchError, Unreadable
from spadework.tools.extract.charset import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.markdown_writer import blocks, heading, plain
from spadework.tools.extract.text.plain_text import extract_text
from spadework.tools.text.quantities import moment

#: So much of a header is looked at: the time its encoded words take grows with their square.
MAX_HEADER = 2_000
#: Most attachments that are named.
MAX_NAMES = 20


def extract_mail(body: bytes, url: str) -> Extracted:
    """An e-mail's text; attachments stay closed. Raises Unreadable when it nests without end."""
    try:
        message = BytesParser().parsebytes(body)
        whole = [part for part in message.walk() if not part.is_multipart()]
    except (RecursionError, MessageError, ValueError, LookupError):
        raise Unreadable("The e-mail is damaged.") from None
    attached = [part for part in whole if part.get_content_disposition() == "attachment"]
    shown = [part for part in whole if part.get_content_disposition() != "attachment"]
    sender, subject = _header(message, "From"), _header(message, "Subject")
    date = moment(_header(message, "Date"))
    line = " · ".join(part for part in (sender, date.date().isoformat() if date else "") if part)
    names = ", ".join(_file_name(part) for part in attached[:MAX_NAMES])
    closed = plain(f"… Not opened: {names}.") if attached else ""
    return Extracted(
        title=subject,
        markdown=blocks([heading(subject, 1), plain(line), _text(shown, url), closed]),
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
    with suppress(LookupError, ValueError, MessageError):  # then it stays as it is
        value = str(make_header(decode_header(value)))
    return " ".join(value.split())

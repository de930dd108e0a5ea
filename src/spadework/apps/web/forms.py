"""Parse forms that carry the page's CSRF token, within size limits."""

from __future__ import annotations

import hmac
import re
import secrets
from contextlib import suppress
from pathlib import Path

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import write_atomically

CSRF = "spadework_csrf"
UPLOAD_FILES, UPLOAD_BYTES = 5, 20_000_000
_TOO_MANY = f"At most {UPLOAD_FILES} files can be attached to a question."
MOST_FIELDS = 60
MOST_FIELD_BYTES = 200_000
#: Oversized request bodies are read up to this multiple of the limit, so that browsers show the
#: error.
READ_ON = 10

_KEPT = re.compile(r"[^\w. ()+-]")


def csrf_cookie(request: Request) -> str:
    """Return the CSRF cookie's name. It contains the port, because a host's ports share cookies."""
    return f"{CSRF}_{(request.scope.get('server') or ('', 0))[1]}"


def csrf_token(request: Request) -> str:
    """Return the browser's CSRF token, or a new one."""
    if not hasattr(request.state, "csrf"):
        request.state.csrf = request.cookies.get(csrf_cookie(request)) or secrets.token_urlsafe(24)
    token: str = request.state.csrf
    return token


async def form_of(request: Request) -> FormData:
    """Return a request's form. Raises HTTPException 403 (no CSRF token), 413 (too large) or 400."""
    most = UPLOAD_BYTES + MOST_FIELD_BYTES
    limited = Request(request.scope, _limited(request.receive, most))
    try:
        form = await limited.form(
            max_files=UPLOAD_FILES + 1, max_fields=MOST_FIELDS, max_part_size=MOST_FIELD_BYTES
        )
    except ClientDisconnect:
        raise HTTPException(400, "Only part of the form arrived. Send it again.") from None
    except HTTPException as error:
        if error.status_code == 413:
            raise
        few = "Too many files" in error.detail
        raise HTTPException(
            413 if few else 400, _TOO_MANY if few else "The form cannot be read. Reload the page."
        ) from None
    sent, kept = str(form.get("csrf", "")), request.cookies.get(csrf_cookie(request), "")
    if not kept or not hmac.compare_digest(sent.encode(), kept.encode()):
        await form.close()
        raise HTTPException(403, "This form is out of date. Reload the page and send it again.")
    return form


def text_of(form: FormData, name: str) -> str:
    """Return a field as text, or "" if it is missing."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def whole_number(text: str, otherwise: int) -> int:
    """Parse a number of at most nine digits, or return `otherwise`."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


async def save_uploads(form: FormData, folder: Path, settings: Settings) -> list[Path]:
    """Save the form's files under safe names and return their paths."""
    files = [
        value for value in form.getlist("files") if isinstance(value, UploadFile) and value.filename
    ]
    if len(files) > UPLOAD_FILES:
        raise HTTPException(413, _TOO_MANY)
    saved = []
    for n, file in enumerate(files, 1):
        path = folder / f"{n}-{safe_name(file.filename or '')}"
        await on_disk(write_atomically, path, await file.read())
        saved.append(path)
    return saved


def safe_name(name: str) -> str:
    """Return a file name without folders or special characters."""
    last = _KEPT.sub("_", re.split(r"[/\\]", name)[-1]).strip(" .") or "file"
    stem, dot, ending = last.rpartition(".")
    return f"{stem[:80]}.{ending[:10]}" if dot else last[:80]


def _limited(receive: Receive, most: int) -> Receive:
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen <= most:
            return message
        with suppress(ClientDisconnect):
            while (
                message["type"] == "http.request"
                and message.get("more_body")
                and seen < READ_ON * most
            ):
                message = await receive()
                seen += len(message.get("body", b""))
        allowed = f"{most - MOST_FIELD_BYTES:,} bytes"
        raise HTTPException(
            413, f"The files are too large. The limit for all of them together is {allowed}."
        )

    return limited

"""Where an answer leads: Location, Refresh, or a page that holds nothing but a refresh."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin

from spadework.errors import Unreachable
from spadework.tools.fetch.exchange import Answer
from spadework.tools.fetch.guard import check_url, printable_url

_STATUSES = frozenset({301, 302, 303, 307, 308})
#: A refresh is a signpost in a page of so many bytes, within so many seconds.
SIGNPOST_BYTES = 4_000
SIGNPOST_SECONDS = 5
_REFRESH = re.compile(r"""<meta\b[^>]*\bhttp-equiv\s*=\s*["']?refresh\b[^>]*>""", re.IGNORECASE)
_SENT = re.compile(r"""\s*(\d{1,3})[^;,]*[;,]\s*url\s*=\s*["']?\s*([^"'\s]+)""", re.IGNORECASE)
_TARGET = re.compile(
    r"""\bcontent\s*=\s*["']?\s*(\d{1,3})[^;,>]*[;,]\s*url\s*=\s*["']?\s*([^"'>\s]+)""",
    re.IGNORECASE,
)


def next_url(answer: Answer) -> str | None:
    """The checked URL an answer leads to, None at the end. Raises NotAllowed."""
    if answer.status in _STATUSES:
        places = set(answer.headers.get_list("location"))
        if len(places) > 1:
            raise Unreachable(f"{printable_url(answer.url)} leads to {len(places)} places at once.")
        target = places.pop() if places else None
    else:
        target = _signpost(answer)
    if not target:
        return None
    try:
        return check_url(urljoin(answer.url, target))
    except ValueError:
        return check_url(target)  # urljoin cannot parse it, and the check says so in our words


def _signpost(answer: Answer) -> str | None:
    header = _SENT.match(answer.headers.get("refresh", "")) if answer.status < 300 else None
    if header and int(header[1]) <= SIGNPOST_SECONDS:
        return header[2]
    html = answer.media_type in ("text/html", "application/xhtml+xml", "")
    if not html or len(answer.body) > SIGNPOST_BYTES:
        return None
    refresh = _REFRESH.search(answer.body.decode("latin-1"))
    target = _TARGET.search(refresh[0]) if refresh else None
    return unescape(target[2]) if target and int(target[1]) <= SIGNPOST_SECONDS else None

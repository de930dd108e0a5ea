"""Telling from what was read of a page whether it is the page: a wall, a notice or an empty room is
not, and little may be a part of it.
"""

from __future__ import annotations

import re

from spadework.errors import Blocked, Unreadable
from spadework.tools.extract.charset import decode
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.extract.extracted import Extracted
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import printable_url
from spadework.tools.fetch.notices import notice
from spadework.tools.fetch.walls import FINAL, MARKED_CHARS, SCRIPTS, find_wall, first_words, wall

#: A page with less text than this has none.
MIN_CHARS = 50

#: A page with more text than this is not asked whether its scripts would show more.
THIN_CHARS = 600

#: Scripts that stand in a page of little text make it thin when they are this share of it.
SCRIPT_SHARE = 0.8

#: From this level on scripts have run.
BROWSER = 2

#: Signs that show nothing: a page of them is empty.
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script\s*>", re.IGNORECASE | re.DOTALL)
_ROOM = re.compile(
    r"<(?P<tag>[a-z][a-z0-9-]*)\b[^>]*\b(?:id=[\"']?(?:root|app|main-app|react-root|__next|__nuxt|___gatsby|svelte|ember\d*|q-app)\b[^>]*"
    r"|ng-app\b[^>]*|data-reactroot\b[^>]*)>\s*(?:<!--.*?-->\s*)*(?:loading[ .…]*)?</(?P=tag)>"
    r"|<(?P<own>app-root|[a-z]+-app)\b[^>]*>\s*(?:loading[ .…]*)?</(?P=own)>",
    re.IGNORECASE | re.DOTALL,
)
_WAITING = re.compile(r"\bloading\s*(?:\.\.\.|…|,? please)|\bplease wait\b", re.IGNORECASE)
#: So much of a page is searched for scripts and empty rooms.
_MOST = 2_000_000


def refuse_blocked(fetched: Fetched, found: Extracted) -> None:
    """Raise Blocked where the page is only the door of one or a notice that there is none,
    Unreadable where there is nothing in it.

    `turned_away` of the error is True where a browser may be let in, or may have something to show.
    """
    chars = len(found.markdown.translate(_UNSEEN).strip())
    empty = chars < MIN_CHARS
    html = _html(fetched) if chars <= MARKED_CHARS else ""
    door, product = find_wall(html, chars) if html else ("", "")
    words = first_words(html) if empty and html else f"{found.title}\n{found.markdown}"
    door = door or wall(words)
    if door and not (door == SCRIPTS and fetched.level >= BROWSER):
        raise _turned_away(
            Blocked(
                f"{printable_url(fetched.url)} is behind"
                f" {door}{f' ({product})' if product else ''}."
            ),
            door not in FINAL,
        )
    if told := notice(words):
        raise Blocked(f"{printable_url(fetched.url)} holds only {told}.")
    if empty:
        raise _turned_away(
            Unreadable(f"{printable_url(fetched.url)} has no text that can be read."),
            "<script" in html.lower(),
        )


def thin(fetched: Fetched, found: Extracted) -> bool:
    """Has the page little text, and scripts that would show more?"""
    text = found.markdown.strip()
    if len(text) > THIN_CHARS or fetched.level >= BROWSER:
        return False
    html = _html(fetched)[:_MOST]
    scripts = [match[1] for match in _SCRIPT.finditer(html)]
    if not scripts:
        return False
    return bool(_ROOM.search(html) or _WAITING.search(text)) or sum(
        map(len, scripts)
    ) > SCRIPT_SHARE * len(html)


def _html(fetched: Fetched) -> str:
    is_html = kind_of(fetched.body, fetched.media_type, fetched.url).reader == "html"
    return decode(fetched.body, fetched.charset) if is_html else ""


def _turned_away(error: Blocked | Unreadable, value: bool) -> Blocked | Unreadable:
    error.turned_away = value
    return error

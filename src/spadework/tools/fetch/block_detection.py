"""Whether what was read is the page: not a wall, a notice or an empty room, nor a part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from spadework.errors import Blocked, Unreadable
from spadework.tools.extract.charset import decode
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.extract.extracted import Extracted
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import printable_url
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
# A page must not be able to hold up the process, which a search that goes back over what it has
# seen would for hours: what follows passes over a page once.
_SCRIPT, _SCRIPT_END = (
    re.compile(pattern, re.IGNORECASE) for pattern in (r"<script\b", r"</script\s*+>")
)
#: The beginning of an element; what stands in quotes may hold the signs that end it.
_TAG = re.compile(
    r"""<(?P<tag>[a-z][a-z0-9-]*+)(?P<given>(?:[^<>=]++|=(?:\s*+(?:"[^"]*+"|'[^']*+'))?+)*+)>?""",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>=]++)))?+"""
)
#: What an element that scripts fill is called, or is given.
_ROOM_TAG = re.compile(r"app-root|[a-z]+-app", re.IGNORECASE)
_ROOM_ID = re.compile(
    r"root|app|main-app|react-root|__next|__nuxt|___gatsby|svelte|ember\d*|q-app", re.IGNORECASE
)
_ROOM_SIGNS = ("ng-app", "data-ng-app", "data-reactroot")
#: So many of them are looked into; a page has one.
_MOST_ROOMS = 10
_NOTHING = re.compile(
    r"(?:\s|<!--.*?-->)*+(?:loading[ .…]*+)?</(?P<tag>[a-z][a-z0-9-]*+)>",
    re.IGNORECASE | re.DOTALL,
)
_WAITING = re.compile(r"\bloading\s*(?:\.\.\.|…|,? please)|\bplease wait\b", re.IGNORECASE)
#: So much of a page is searched for scripts and empty rooms.
_MOST = 2_000_000
#: A page with more text than this is no notice, whatever words are in it.
NOTICE_CHARS = 600
#: What only tells why the page is not there, though its server sends it as if all were well.
_NOTICES = {
    "a notice that there is no such page": r"(?:page|file|document) (?:was )?not found|page"
    r" (?:you\b[^.]{0,40})?(?:(?:cannot|can['’]?t|can not|could not|couldn['’]t) be found"
    r"|(?:does not|doesn['’]t|no longer) exists?)",
    "a notice of maintenance": r"(?:down|closed|offline|unavailable) for (?:\w+ )?maintenance"
    r"|(?:under|undergoing) (?:\w+ )?maintenance",
    "an offer of the domain for sale": r"domain (?:name )?(?:is|may be) for sale|buy this domain",
    "the greeting of a server that has no site": r"web server is successfully installed"
    r"|apache2? (?:\w+ )?default page|^it works!$",
}


def refuse_blocked(fetched: Fetched, found: Extracted) -> None:
    """Raise Blocked for a door or a notice instead of a page, Unreadable for nothing to read.
    `turned_away` of the error is True where a browser may be let in, or may have something to show.
    """
    page, chars = printable_url(fetched.url), len(found.markdown.translate(_UNSEEN).strip())
    empty = chars < MIN_CHARS
    html = _html(fetched) if chars <= MARKED_CHARS else ""
    door, product = find_wall(html, chars) if html else ("", "")
    words = first_words(html) if empty and html else f"{found.title}\n{found.markdown}"
    door = door or wall(words)
    if door and not (door == SCRIPTS and fetched.level >= BROWSER):
        made = f" ({product})" if product else ""
        blocked = Blocked(f"{page} is behind {door}{made}.")
        blocked.turned_away = door not in FINAL
        raise blocked
    if told := notice(words):
        raise Blocked(f"{page} holds only {told}.")
    if empty:
        unreadable = Unreadable(f"{page} has no text that can be read.")
        unreadable.turned_away = "<script" in html.lower()
        raise unreadable


def thin(fetched: Fetched, found: Extracted) -> bool:
    """Has the page little text, and scripts that would show more?"""
    text = found.markdown.strip()
    if len(text) > THIN_CHARS or fetched.level >= BROWSER:
        return False
    html = _html(fetched)[:_MOST]
    scripts = list(_scripts(html))
    if not scripts:
        return False
    waits = _has_empty_room(html) or _WAITING.search(text)
    return bool(waits) or sum(scripts) > SCRIPT_SHARE * len(html)


def _scripts(html: str) -> Iterator[int]:
    """The characters in each script."""
    at = 0
    while begins := _SCRIPT.search(html, at):
        inside = html.find(">", begins.end()) + 1
        ends = _SCRIPT_END.search(html, inside) if inside else None
        if not ends:
            return
        yield ends.start() - inside
        at = ends.end()


def _has_empty_room(html: str) -> bool:
    """Is there an element that scripts have yet to fill?"""
    for room in islice(filter(_is_room, _tags(html)), _MOST_ROOMS):
        nothing = _NOTHING.match(html, room.end())
        if nothing and nothing["tag"].lower() == room["tag"].lower():
            return True
    return False


def _tags(html: str) -> Iterator[re.Match[str]]:
    """Where elements begin, but in scripts."""
    at = 0
    while tag := _TAG.search(html, at):
        yield tag
        at = tag.end()
        if tag["tag"].lower() == "script":
            ends = _SCRIPT_END.search(html, at)
            if not ends:
                return
            at = ends.end()


def _is_room(tag: re.Match[str]) -> bool:
    if not tag[0].endswith(">"):
        return False
    return bool(_ROOM_TAG.fullmatch(tag["tag"])) or any(
        name.lower() in _ROOM_SIGNS or (name.lower() == "id" and _ROOM_ID.fullmatch("".join(value)))
        for name, *value in _ATTRIBUTE.findall(tag["given"])
    )


def _html(fetched: Fetched) -> str:
    is_html = kind_of(fetched.body, fetched.media_type, fetched.url).reader == "html"
    return decode(fetched.body, fetched.charset) if is_html else ""


def notice(text: str) -> str:
    """What a text tells instead of a page, in words for a message; "" for a page."""
    if len(text) > NOTICE_CHARS:
        return ""
    text = " ".join(text.lower().split())
    return next((name for name, words in _NOTICES.items() if re.search(words, text)), "")

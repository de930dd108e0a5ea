"""Detect pages that lack their content: access walls such as captchas, error notices, and pages
that are empty or need scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice

from spadework.errors import Blocked, Unreadable
from spadework.tools.extract.document_kinds import decode, kind_of
from spadework.tools.extract.extracted import Extracted
from spadework.tools.fetch.exchange import Fetched
from spadework.tools.fetch.guard import printable_url

#: Pages with more characters than this are not checked for the wording of an access wall, such as a
#: captcha.
MAX_CHARS = 600
#: The patterns in _LOOSE are used only for texts of at most this many characters, because they also
#: match articles.
FEW_CHARS = 200
#: The markup of pages with more characters of text than this is not checked for an access wall.
MARKED_CHARS = 1_500
MAX_HTML = 20_000
CAPTCHA, CHECK, SCRIPTS, LOGIN, REFUSAL, REQUESTS, AGE = (
    "a captcha",
    "a browser check",
    "a request to enable JavaScript",
    "a login",
    "a refusal",
    "a rate limit",
    "an age check",
)
#: Access walls that even a browser cannot pass.
FINAL = frozenset({LOGIN, REQUESTS, AGE})
# fmt: off
_WALLS = {
    name: re.compile(pattern)
    for name, pattern in {
        CAPTCHA: r"(?:verify|confirm|prove)(?: that)? you(?: are|['’]re) (?:a |not a )?(?:human"
            r"|robot)|are you (?:a )?(?:human|robot)|i(?: a|['’])m not a robot|unusual (?:traffic"
            r"|activity) from your|(?:complete|solve|enter|type|fill|pass)\b[^.]{0,40}\bcaptcha"
            r"|captcha (?:is )?(?:required|verification|check)|robot check",
        CHECK: r"checking (?:your browser|(?:if )?the site connection)|just a moment\W"
            r"|ddos protection by|attention required!|verifying (?:your (?:browser|connection)"
            r"|(?:that )?you are human)|making sure you['’]re not a bot",
        SCRIPTS: r"(?:enable|turn on|activate|allow|requires?|needs?) (?:\w+ )?(?:java ?script"
            r"|js\b)|java ?script (?:is|must be|has been) (?:\w+ )?(?:enabled|disabled|required)",
        LOGIN: r"(?:log|sign) ?in to (?:continue|view|read|see|access)|(?:log"
            r"|sign) ?in (?:is )?required|you (?:must|need to) (?:be logged|log|sign) ?in"
            r"|(?:subscribe|create an account|register) to (?:continue|read|view)",
        REFUSAL: r"access (?:to this (?:page|site) has been |is |was )denied|request (?:was "
            r"|has been )?blocked|you(?: have|['’]ve) been blocked|your access to this (?:site"
            r"|service) has been limited|the requested url was rejected",
        REQUESTS: r"(?:sent|made|received) too many requests|rate limit (?:was "
            r"|has been )?exceeded",
        "a request to enable cookies": r"enable (?:\w+ )?cookies|cookies (?:are"
            r"|must be) (?:\w+ )?(?:required|enabled|disabled|blocked)",
        "a consent banner": r"we value your privacy|\bour \d[\d,.]* partners",
        AGE: r"must be (?:at least )?(?:18|21)\b|(?:verify|confirm) your age|are you (?:over"
            r"|at least) (?:18|21)\b",
    }.items()
}
#: Patterns of access walls that are used only for texts of at most FEW_CHARS characters.
_LOOSE = {
    name: re.compile(pattern)
    for name, pattern in {
        CAPTCHA: r"captcha|unusual (?:traffic|activity)|press (?:and|&) hold|human verification",
        CHECK: r"one more step\b|attention required|please wait while (?:we|your)\b|security check",
        REFUSAL: r"access denied|permission to access|pardon our interruption|error 1020",
    }.items()
}
# fmt: on
#: Markup found only on bot protection pages, as (kind, product, pattern).
# fmt: off
MARKS = tuple(
    (kind, product, re.compile(pattern, re.IGNORECASE))
    for kind, product, pattern in (
        (CHECK, "Cloudflare", r"window\._cf_chl_opt|id=[\"']challenge-(?:form|running|error-text)"
            r"|/cdn-cgi/challenge-platform/h/\w/orchestrate"),
        (CHECK, "Cloudflare",
            r"<title>just a moment\.\.\.</title>|class=[\"'][^\"']*cf-browser-verification"),
        (REFUSAL, "Cloudflare",
            r"id=[\"']cf-error-details|<title>attention required! \| cloudflare</title>"),
        (CHECK, "Akamai", r"id=[\"']sec-(?:if|bc)-(?:cpt|tile|text)-container"
            r"|/_sec/verify\?provider=|bm-verify="),
        (REFUSAL, "Akamai", r"errors\.edgesuite\.net"
            r"|<title>access denied</title>[\s\S]{0,600}reference\s?(?:#|&#32;&#35;)"),
        (CAPTCHA, "HUMAN", r"id=[\"']px-captcha|captcha\.(?:px-cdn|px-cloud|perimeterx)\.net"
            r"|window\._pxuuid|_pxjsclientsrc"),
        (CAPTCHA, "DataDome",
            r"(?:geo|ct|captcha)\.captcha-delivery\.com|var dd\s*=\s*\{[^}]{0,400}'?rt'?\s*:"),
        (CHECK, "Imperva", r"<iframe[^>]+src=[\"'][^\"']*/_incapsula_resource\?"
            r"|incapsula incident id|<title>pardon our interruption"),
        (CAPTCHA, "AWS WAF", r"awswafcaptcha|captcha\.awswaf\.com"
            r"|id=[\"']captcha-container[\"'][\s\S]{0,2000}awswaf"),
        (CHECK, "AWS WAF", r"window\.gokuprops|awswafcookiedomainlist"),
        (CHECK, "Kasada", r"window\.kpsdk\s*=|/149e9513-01fa-4fb0-aad4-566afd725d1b/"),
        (CHECK, "Anubis", r"id=[\"']anubis_(?:challenge|version)"),
        (CHECK, "DDoS-Guard",
            r"<title>ddos-guard</title>|/\.well-known/ddos-guard/(?:js-challenge|check)"),
        (CHECK, "Vercel", r"<title>vercel security checkpoint</title>"),
        (CHECK, "Fastly", r"<title>client challenge</title>|/_fs-ch-\w+/"),
        (CHECK, "Sucuri", r"sucuri_cloudproxy_js"),
        (REFUSAL, "Sucuri", r"<title>sucuri website firewall - access denied"),
        (REFUSAL, "F5", r"the requested url was rejected\. please consult with your administrator"),
        (REFUSAL, "Wordfence", r"generated by wordfence|class=[\"']wf-block-"),
        (CAPTCHA, "Google", r"action=[\"']/sorry/|id=[\"']captcha-form[\"']"),
    )
)
# fmt: on
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*>", re.IGNORECASE | re.DOTALL)


def wall(text: str) -> str:
    """Return the kind of access wall in `text`, such as "a login", or "" if there is none."""
    if len(text) > MAX_CHARS:
        return ""
    text = " ".join(text.lower().split())
    found = next((name for name, marks in _WALLS.items() if marks.search(text)), "")
    if found or len(text) > FEW_CHARS:
        return found
    return next((name for name, marks in _LOOSE.items() if marks.search(text)), "")


def find_wall(html: str, chars: int) -> tuple[str, str]:
    """Return the kind of a page's access wall and the product behind it, such as "Cloudflare".
    Return ("", "") if there is none. `chars` is the length of the page's text.
    """
    if chars > MARKED_CHARS:
        return "", ""
    found = ((kind, product) for kind, product, mark in MARKS if mark.search(html, 0, MAX_HTML))
    return next(found, ("", ""))


def is_passable(html: str) -> bool:
    """Return whether the page is a browser check that can be passed by waiting."""
    words = first_words(html)
    return (find_wall(html, len(words))[0] or wall(words)) == CHECK


def first_words(html: str) -> str:
    """Return the beginning of a page's text, including noscript elements."""
    return " ".join(unescape(_UNSEEN.sub(" ", html[:MAX_HTML])).split())[: MARKED_CHARS + 1]


#: A page with fewer characters than this counts as empty.
MIN_CHARS = 50
#: Maximum characters on a thin page (a page to which scripts would probably add text).
THIN_CHARS = 600
#: A short page counts as thin if scripts make up more than this fraction of its HTML.
SCRIPT_SHARE = 0.8
#: The lowest fetch level at which scripts run.
BROWSER = 2
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
# These patterns must match in linear time, even on hostile pages.
_SCRIPT, _SCRIPT_END = (
    re.compile(pattern, re.IGNORECASE) for pattern in (r"<script\b", r"</script\s*+>")
)
#: The start of an element. Quoted attributes may contain ">".
_TAG = re.compile(
    r"""<(?P<tag>[a-z][a-z0-9-]*+)(?P<given>(?:[^<>=]++|=(?:\s*+(?:"[^"]*+"|'[^']*+'))?+)*+)>?""",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>=]++)))?+"""
)
_ROOM_TAG = re.compile(r"app-root|[a-z]+-app", re.IGNORECASE)
_ROOM_ID = re.compile(
    r"root|app|main-app|react-root|__next|__nuxt|___gatsby|svelte|ember\d*|q-app", re.IGNORECASE
)
_ROOM_SIGNS = ("ng-app", "data-ng-app", "data-reactroot")
_MOST_ROOMS = 10
_NOTHING = re.compile(
    r"(?:\s|<!--.*?-->)*+(?:loading[ .…]*+)?</(?P<tag>[a-z][a-z0-9-]*+)>", re.IGNORECASE | re.DOTALL
)
_WAITING = re.compile(r"\bloading\s*(?:\.\.\.|…|,? please)|\bplease wait\b", re.IGNORECASE)
_MOST = 2_000_000
#: Maximum length in characters of a notice, such as a page that shows only an error.
NOTICE_CHARS = 600
_NOTICES = {
    'a "page not found" notice': r"(?:page|file|document) (?:was )?not found|page"
    r" (?:you\b[^.]{0,40})?(?:(?:cannot|can['’]?t|can not|could not|couldn['’]t) be found"
    r"|(?:does not|doesn['’]t|no longer) exists?)",
    "a maintenance notice": r"(?:down|closed|offline|unavailable) for (?:\w+ )?maintenance"
    r"|(?:under|undergoing) (?:\w+ )?maintenance",
    "an offer to sell the domain": r"domain (?:name )?(?:is|may be) for sale|buy this domain",
    "the default page of a server": r"web server is successfully installed"
    r"|apache2? (?:\w+ )?default page|^it works!$",
}


def refuse_blocked(fetched: Fetched, found: Extracted) -> None:
    """Raise Blocked if the page is an access wall or only a notice, and Unreadable if it is empty.
    Set `turned_away` on the error if a browser might succeed.
    """
    page, chars = printable_url(fetched.url), len(found.markdown.translate(_INVISIBLE).strip())
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
        raise Blocked(f"{page} shows only {told}.")
    if empty:
        unreadable = Unreadable(f"{page} has no text to read.")
        unreadable.turned_away = "<script" in html.lower()
        raise unreadable


def thin(fetched: Fetched, found: Extracted) -> bool:
    """Return whether the page has little text, and scripts would probably add more."""
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
    at = 0
    while begins := _SCRIPT.search(html, at):
        inside = html.find(">", begins.end()) + 1
        ends = _SCRIPT_END.search(html, inside) if inside else None
        if not ends:
            return
        yield ends.start() - inside
        at = ends.end()


def _has_empty_room(html: str) -> bool:
    for room in islice(filter(_is_room, _tags(html)), _MOST_ROOMS):
        nothing = _NOTHING.match(html, room.end())
        if nothing and nothing["tag"].lower() == room["tag"].lower():
            return True
    return False


def _tags(html: str) -> Iterator[re.Match[str]]:
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
    """Return the kind of notice in `text`, like "a maintenance notice", or "" if there is none."""
    if len(text) > NOTICE_CHARS:
        return ""
    text = " ".join(text.lower().split())
    return next((name for name, words in _NOTICES.items() if re.search(words, text)), "")

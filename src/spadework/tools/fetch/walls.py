"""Pages that stand in front of a page: captchas, checks of the browser, demands for JavaScript or a
login, refusals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

#: A page with more text than this is no wall, whatever words are in it.
MAX_CHARS = 600

#: Words that articles have as well are those of a wall in a page with less text than this.
FEW_CHARS = 200

#: A page that bears the mark of a product that turns robots away is one of its pages, up to so much
#: text.
MARKED_CHARS = 1_500

#: So much of a page is looked at, with its tags.
MAX_HTML = 20_000

CAPTCHA, CHECK, SCRIPTS, LOGIN, REFUSAL, REQUESTS, AGE = (
    "a captcha",
    "a check of the browser",
    "a demand for JavaScript",
    "a login",
    "a refusal",
    "a limit of requests",
    "a check of age",
)

#: Walls that a browser does not get behind either.
FINAL = frozenset({LOGIN, REQUESTS, AGE})

_WALLS = {
    CAPTCHA: re.compile(
        r"(?:verify|confirm|prove)(?: that)? you(?: are|['’]re) (?:a |not a )?(?:human|robot)|are"
        r" you (?:a )?(?:human|robot)"
        r"|i(?: a|['’])m not a robot|unusual (?:traffic|activity) from your"
        r"|(?:complete|solve|enter|type|fill|pass)\b[^.]{0,40}\bcaptcha|captcha (?:is"
        r" )?(?:required|verification|check)|robot check"
    ),
    CHECK: re.compile(
        r"checking (?:your browser|(?:if )?the site connection)|just a moment\W|ddos protection"
        r" by|attention required!"
        r"|verifying (?:your (?:browser|connection)|(?:that )?you are human)|making sure you['’]re"
        r" not a bot"
    ),
    SCRIPTS: re.compile(
        r"(?:enable|turn on|activate|allow|requires?|needs?) (?:\w+ )?(?:java ?script|js\b)|java"
        r" ?script (?:is|must be|has been) (?:\w+ )?"
        r"(?:enabled|disabled|required)"
    ),
    LOGIN: re.compile(
        r"(?:log|sign) ?in to (?:continue|view|read|see|access)|(?:log|sign) ?in (?:is )?required"
        r"|you (?:must|need to) (?:be logged|log|sign) ?in"
        r"|(?:subscribe|create an account|register) to (?:continue|read|view)"
    ),
    REFUSAL: re.compile(
        r"access (?:to this (?:page|site) has been |is |was )denied|request (?:was |has been"
        r" )?blocked"
        r"|you(?: have|['’]ve) been blocked|your access to this (?:site|service) has been"
        r" limited|the requested url was rejected"
    ),
    REQUESTS: re.compile(
        r"(?:sent|made|received) too many requests|rate limit (?:was |has been )?exceeded"
    ),
    "a demand for cookies": re.compile(
        r"enable (?:\w+ )?cookies|cookies (?:are|must be) (?:\w+"
        r" )?(?:required|enabled|disabled|blocked)"
    ),
    "a banner of consent": re.compile(r"we value your privacy|\bour \d[\d,.]* partners"),
    AGE: re.compile(
        r"must be (?:at least )?(?:18|21)\b|(?:verify|confirm) your age|are you (?:over|at least)"
        r" (?:18|21)\b"
    ),
}
#: The same in a page that has next to nothing else to say.
_LOOSE = {
    CAPTCHA: re.compile(
        r"captcha|unusual (?:traffic|activity)|press (?:and|&) hold|human verification"
    ),
    CHECK: re.compile(
        r"one more step\b|attention required|please wait while (?:we|your)\b|security check"
    ),
    REFUSAL: re.compile(r"access denied|permission to access|pardon our interruption|error 1020"),
}


@dataclass(frozen=True)
class Mark:
    """What stands in the HTML of a product's own pages, and never in the pages it guards.

    (The scripts with which such products watch ordinary pages are no marks.)
    """

    wall: str
    product: str
    pattern: re.Pattern[str]


def _mark(wall: str, product: str, pattern: str) -> Mark:
    return Mark(wall, product, re.compile(pattern, re.IGNORECASE))


MARKS = (
    _mark(
        CHECK,
        "Cloudflare",
        r"window\._cf_chl_opt|id=[\"']challenge-(?:form|running|error-text)|/cdn-cgi/challenge-platform/h/\w/orchestrate",
    ),
    _mark(
        CHECK,
        "Cloudflare",
        r"<title>just a moment\.\.\.</title>|class=[\"'][^\"']*cf-browser-verification",
    ),
    _mark(
        REFUSAL,
        "Cloudflare",
        r"id=[\"']cf-error-details|<title>attention required! \| cloudflare</title>",
    ),
    _mark(
        CHECK,
        "Akamai",
        r"id=[\"']sec-(?:if|bc)-(?:cpt|tile|text)-container|/_sec/verify\?provider=|bm-verify=",
    ),
    _mark(
        REFUSAL,
        "Akamai",
        r"errors\.edgesuite\.net|<title>access"
        r" denied</title>[\s\S]{0,600}reference\s?(?:#|&#32;&#35;)",
    ),
    _mark(
        CAPTCHA,
        "HUMAN",
        r"id=[\"']px-captcha|captcha\.(?:px-cdn|px-cloud|perimeterx)\.net|window\._pxuuid|_pxjsclientsrc",
    ),
    _mark(
        CAPTCHA,
        "DataDome",
        r"(?:geo|ct|captcha)\.captcha-delivery\.com|var dd\s*=\s*\{[^}]{0,400}'?rt'?\s*:",
    ),
    _mark(
        CHECK,
        "Imperva",
        r"<iframe[^>]+src=[\"'][^\"']*/_incapsula_resource\?|incapsula incident id|<title>pardon"
        r" our interruption",
    ),
    _mark(
        CAPTCHA,
        "AWS WAF",
        r"awswafcaptcha|captcha\.awswaf\.com|id=[\"']captcha-container[\"'][\s\S]{0,2000}awswaf",
    ),
    _mark(CHECK, "AWS WAF", r"window\.gokuprops|awswafcookiedomainlist"),
    _mark(CHECK, "Kasada", r"window\.kpsdk\s*=|/149e9513-01fa-4fb0-aad4-566afd725d1b/"),
    _mark(CHECK, "Anubis", r"id=[\"']anubis_(?:challenge|version)"),
    _mark(
        CHECK,
        "DDoS-Guard",
        r"<title>ddos-guard</title>|/\.well-known/ddos-guard/(?:js-challenge|check)",
    ),
    _mark(CHECK, "Vercel", r"<title>vercel security checkpoint</title>"),
    _mark(CHECK, "Fastly", r"<title>client challenge</title>|/_fs-ch-\w+/"),
    _mark(CHECK, "Sucuri", r"sucuri_cloudproxy_js"),
    _mark(REFUSAL, "Sucuri", r"<title>sucuri website firewall - access denied"),
    _mark(
        REFUSAL, "F5", r"the requested url was rejected\. please consult with your administrator"
    ),
    _mark(REFUSAL, "Wordfence", r"generated by wordfence|class=[\"']wf-block-"),
    _mark(CAPTCHA, "Google", r"action=[\"']/sorry/|id=[\"']captcha-form[\"']"),
)
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*>", re.IGNORECASE | re.DOTALL)


def wall(text: str) -> str:
    """What kind of wall a page's whole text is, in words for a message; "" for a page that is
    none.
    """
    if len(text) > MAX_CHARS:
        return ""
    text = " ".join(text.lower().split())
    found = next((name for name, marks in _WALLS.items() if marks.search(text)), "")
    if found or len(text) > FEW_CHARS:
        return found
    return next((name for name, marks in _LOOSE.items() if marks.search(text)), "")


def find_wall(html: str, chars: int) -> tuple[str, str]:
    """The kind of wall and the product that made it, for a page whose text has `chars` characters;
    two "" for any other page.
    """
    if chars > MARKED_CHARS:
        return "", ""
    return next(
        ((mark.wall, mark.product) for mark in MARKS if mark.pattern.search(html, 0, MAX_HTML)),
        ("", ""),
    )


def passing(html: str) -> bool:
    """Is this page a check that a browser passes by itself, if it waits?"""
    words = first_words(html)
    return (find_wall(html, len(words))[0] or wall(words)) == CHECK


def first_words(html: str) -> str:
    """The first words of a page, also those for browsers without scripts."""
    return " ".join(unescape(_UNSEEN.sub(" ", html[:MAX_HTML])).split())[: MARKED_CHARS + 1]

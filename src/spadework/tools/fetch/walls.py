"""Pages in front of pages: captchas, checks, refusals, demands for JavaScript or a login."""

from __future__ import annotations

import re
from html import unescape

#: A page with more text than this is no wall, whatever words are in it.
MAX_CHARS = 600
#: Words that articles have as well are those of a wall in a page with less text than this.
FEW_CHARS = 200
#: A page with the mark of a product against robots is one of its, up to so much text.
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
        "a demand for cookies": r"enable (?:\w+ )?cookies|cookies (?:are"
            r"|must be) (?:\w+ )?(?:required|enabled|disabled|blocked)",
        "a banner of consent": r"we value your privacy|\bour \d[\d,.]* partners",
        AGE: r"must be (?:at least )?(?:18|21)\b|(?:verify|confirm) your age|are you (?:over"
            r"|at least) (?:18|21)\b",
    }.items()
}
#: The same in a page that has next to nothing else to say.
_LOOSE = {
    name: re.compile(pattern)
    for name, pattern in {
        CAPTCHA: r"captcha|unusual (?:traffic|activity)|press (?:and|&) hold|human verification",
        CHECK: r"one more step\b|attention required|please wait while (?:we|your)\b|security check",
        REFUSAL: r"access denied|permission to access|pardon our interruption|error 1020",
    }.items()
}
# fmt: on
#: What stands in the HTML of a product's own pages, and never in the pages it guards: the kind of
#: wall, the product, the pattern. (The scripts with which such products watch ordinary pages are no
#: marks.)
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
    """The kind of wall that a whole text is, in words for a message; "" for none."""
    if len(text) > MAX_CHARS:
        return ""
    text = " ".join(text.lower().split())
    found = next((name for name, marks in _WALLS.items() if marks.search(text)), "")
    if found or len(text) > FEW_CHARS:
        return found
    return next((name for name, marks in _LOOSE.items() if marks.search(text)), "")


def find_wall(html: str, chars: int) -> tuple[str, str]:
    """The wall and its product, for a page with `chars` characters of text; two "" for none."""
    if chars > MARKED_CHARS:
        return "", ""
    found = ((kind, product) for kind, product, mark in MARKS if mark.search(html, 0, MAX_HTML))
    return next(found, ("", ""))


def passing(html: str) -> bool:
    """Is this page a check that a browser passes by itself, if it waits?"""
    words = first_words(html)
    return (find_wall(html, len(words))[0] or wall(words)) == CHECK


def first_words(html: str) -> str:
    """The first words of a page, also those for browsers without scripts."""
    return " ".join(unescape(_UNSEEN.sub(" ", html[:MAX_HTML])).split())[: MARKED_CHARS + 1]

"""Pages that stand in front of a page: captchas, checks of the browser, demands for JavaScript or a login."""

from __future__ import annotations

import re
from html import unescape

#: A page with more text than this is no wall, whatever words are in it.
MAX_CHARS = 600

#: So much of a page without main text is looked at, with its tags.
MAX_HTML = 20_000

_WALLS = {
    "a captcha": re.compile(
        r"captcha|(?:verify|confirm|prove)(?: that)? you(?: are|['’]re) (?:a |not a )?(?:human|robot)|are you (?:a )?(?:human|robot)"
        r"|i(?: a|['’])m not a robot|unusual (?:traffic|activity)|press (?:and|&) hold"
    ),
    "a check of the browser": re.compile(
        r"checking (?:your browser|(?:if )?the site connection)|just a moment\W|ddos protection by|one more step\b|attention required"
        r"|verifying your (?:browser|connection)"
    ),
    "a demand for JavaScript": re.compile(
        r"(?:enable|turn on|activate|allow|requires?|needs?) (?:\w+ )?java ?script|java ?script (?:is|must be|has been) (?:\w+ )?"
        r"(?:enabled|disabled|required)"
    ),
    "a login": re.compile(
        r"(?:log|sign) ?in to (?:continue|view|read|see|access)|(?:log|sign) ?in (?:is )?required"
        r"|you (?:must|need to) (?:be logged|log|sign) ?in"
        r"|(?:subscribe|create an account|register) to (?:continue|read|view)"
    ),
    "a refusal": re.compile(r"access (?:to this page has been |is |was )?denied|request (?:was |has been )?blocked|you have been blocked"),
}
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*>", re.IGNORECASE | re.DOTALL)


def wall(text: str) -> str:
    """What kind of wall a page's whole text is, in words for a message; "" for a page that is none."""
    if len(text) > MAX_CHARS:
        return ""
    text = " ".join(text.lower().split())
    return next((name for name, marks in _WALLS.items() if marks.search(text)), "")


def seen(html: str) -> str:
    """The first words of a page, also those for browsers without scripts."""
    return " ".join(unescape(_UNSEEN.sub(" ", html[:MAX_HTML])).split())[:MAX_CHARS]

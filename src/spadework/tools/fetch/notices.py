"""Pages that a server sends as if all were well, and that only tell why the page is not there."""

from __future__ import annotations

import re

#: A page with more text than this is no notice, whatever words are in it.
MAX_CHARS = 600

_NOTICES = {
    "a notice that there is no such page": re.compile(
        r"(?:page|file|document) (?:was )?not found|page"
        r" (?:you\b[^.]{0,40})?(?:(?:cannot|can['’]?t|can not|could not|couldn['’]t) be found"
        r"|(?:does not|doesn['’]t|no longer) exists?)"
    ),
    "a notice of maintenance": re.compile(
        r"(?:down|closed|offline|unavailable) for (?:\w+ )?maintenance|(?:under|undergoing) (?:\w+"
        r" )?maintenance"
    ),
    "an offer of the domain for sale": re.compile(
        r"domain (?:name )?(?:is|may be) for sale|buy this domain"
    ),
    "the greeting of a server that has no site": re.compile(
        r"web server is successfully installed|apache2? (?:\w+ )?default page|^it works!$"
    ),
}


def notice(text: str) -> str:
    """What a page's whole text tells instead of the page, in words for a message; "" for a page
    that is there.
    """
    if len(text) > MAX_CHARS:
        return ""
    text = " ".join(text.lower().split())
    return next((name for name, words in _NOTICES.items() if words.search(text)), "")

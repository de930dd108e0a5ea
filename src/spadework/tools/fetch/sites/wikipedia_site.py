"""Wikipedia: an article without the page around it, by `action=render`.

https://www.mediawiki.org/wiki/Manual:Parameters_to_index.php (asked at the article's own path,
which Wikipedia's robots.txt leaves open; its other interfaces it closes)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from spadework.tools.fetch.sites.way import Way

#: Pages of these namespaces are no articles, such as Special: and Talk:, in any language.
_ARTICLE = re.compile(r"/wiki/(?!\w+(?: \w+)?:[^_ ])[^/].*")
#: The type by which the reader of a rendered article is found.
RENDERED = "text/x-mediawiki-rendered"


class Wikipedia:
    """The articles of all hosts that fit `hosts`."""

    def __init__(self, hosts: str = r"[a-z-]{2,12}\.(?:m\.)?wikipedia\.org") -> None:
        self._hosts = re.compile(hosts)

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`."""
        try:
            asked = urlsplit(url)
        except ValueError:
            return ()
        if not self._hosts.fullmatch(asked.netloc.lower()) or asked.query:
            return ()
        if not _ARTICLE.fullmatch(asked.path):
            return ()
        host = asked.netloc.replace(".m.", ".")
        return (Way(f"{asked.scheme}://{host}{asked.path}?action=render", RENDERED),)

"""Sites with ways of their own: where a page's text is better had than from the page that people
see. Each is one class that knows its addresses; what comes back is read like any document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit


class Way(NamedTuple):
    """Another address, and the media type that names its reader; "" for what the server says."""

    url: str
    media_type: str = ""


class Site(Protocol):
    """A site whose pages are better had by its documented interface."""

    def ways(self, url: str) -> Sequence[Way]:
        """The ways to a page of the site, the best first; none for any other address."""
        ...


class Arxiv:
    """The preprints at `base`: the whole text, as HTML where arXiv has made one, else as PDF, else
    the abstract (https://info.arxiv.org/help/arxiv_identifier.html has the forms of an identifier).
    """

    _ID = r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"

    def __init__(self, base: str = "https://arxiv.org") -> None:
        self._base = base

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`. An address of the HTML is the best there is."""
        found = _match(rf"(?P<form>abs|pdf)/(?P<id>{self._ID})(?:\.pdf)?", url, self._base)
        if not found:
            return ()
        forms = ("html", "pdf") if found["form"] == "abs" else ("html",)
        return tuple(Way(f"{self._base}/{form}/{found['id']}") for form in forms)


class Wikipedia:
    """The articles of all hosts that fit `hosts`, by `action=render` at the article's own path,
    which robots.txt leaves open (https://www.mediawiki.org/wiki/Manual:Parameters_to_index.php).
    """

    #: Pages of these namespaces are no articles, such as Special: and Talk:, in any language.
    _ARTICLE = re.compile(r"/wiki/(?!\w+(?: \w+)?:[^_ ])[^/].*")

    def __init__(self, hosts: str = r"[a-z-]{2,12}\.(?:m\.)?wikipedia\.org") -> None:
        self._hosts = re.compile(hosts)

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`."""
        try:
            asked = urlsplit(url)
        except ValueError:
            return ()
        ours = self._hosts.fullmatch(asked.netloc.lower()) and not asked.query
        if not ours or not self._ARTICLE.fullmatch(asked.path):
            return ()
        host = asked.netloc.replace(".m.", ".")
        rendered = f"{asked.scheme}://{host}{asked.path}?action=render"
        return (Way(rendered, "text/x-mediawiki-rendered"),)


class GitHub:
    """READMEs by the REST API (https://docs.github.com/rest/repos/contents), files as such."""

    _REPOSITORY = r"(?P<owner>[\w-]+)/(?P<name>[\w.-]+)"
    #: First parts of paths that are no owners.
    _OWN = frozenset({"about", "features", "marketplace", "orgs", "settings", "sponsors", "topics"})

    def __init__(
        self,
        base: str = "https://github.com",
        *,
        api: str = "https://api.github.com",
        raw: str = "https://raw.githubusercontent.com",
    ) -> None:
        self._base, self._api, self._raw = base, api, raw

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`. Issues, releases and lists of files are read as they are."""
        if found := _match(self._REPOSITORY, url, self._base):
            readme = f"{self._api}/repos/{found['owner']}/{found['name']}/readme"
            of_owner = found["owner"].lower() not in self._OWN
            return (Way(readme, "application/vnd.github.readme+json"),) if of_owner else ()
        if found := _match(rf"{self._REPOSITORY}/(?:blob|raw)/(?P<file>[^/]+/.+)", url, self._base):
            return (Way(f"{self._raw}/{found['owner']}/{found['name']}/{found['file']}"),)
        return ()


class PyPI:
    """Packages at `base`, described by the JSON API (https://docs.pypi.org/api/json/)."""

    def __init__(self, base: str = "https://pypi.org") -> None:
        self._base = base

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`."""
        path = r"project/(?P<name>[\w.-]+)(?:/(?P<version>[\w.!+-]+))?"
        found = _match(path, url, self._base)
        if not found:
            return ()
        version = f"/{found['version']}" if found["version"] else ""
        described = f"{self._base}/pypi/{found['name']}{version}/json"
        return (Way(described, "application/vnd.pypi.project+json"),)


class Npm:
    """The packages at `base`, whose READMEs and what they say about themselves stand at `registry`
    (https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md).
    """

    _PATH = r"package/(?P<name>(?:@[\w.~-]+/)?[\w.~-]+)(?:/v/(?P<version>[\w.+-]+))?"

    def __init__(
        self, base: str = "https://npmjs.com", *, registry: str = "https://registry.npmjs.org"
    ) -> None:
        self._base, self._registry = base, registry

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`. READMEs are in the description of all versions, if not too large."""
        found = _match(self._PATH, url, self._base)
        if not found:
            return ()
        package = f"{self._registry}/{found['name'].replace('/', '%2F')}"
        endings = (f"/{found['version']}",) if found["version"] else ("", "/latest")
        return tuple(
            Way(package + ending, "application/vnd.npm.package+json") for ending in endings
        )


SITES: tuple[Site, ...] = (Arxiv(), Wikipedia(), GitHub(), PyPI(), Npm())


def ways_to(url: str, sites: Sequence[Site] = SITES) -> Sequence[Way]:
    """The ways to the text of a page, the best first; none for a page that is read as it is."""
    return next((ways for site in sites if (ways := site.ways(url))), ())


def _match(pattern: str, url: str, base: str) -> re.Match[str] | None:
    """How the path of an address fits, if below `base` ("www." or not), without a query."""
    try:
        asked, site = urlsplit(url), urlsplit(base)
    except ValueError:
        return None
    if asked.netloc.lower().removeprefix("www.") != site.netloc or asked.query:
        return None
    return re.fullmatch(pattern, asked.path.strip("/"))

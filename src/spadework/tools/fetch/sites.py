"""Sites whose text is better read from an address other than the page people see. Each is one
function that knows its addresses; the result is parsed like any document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit


class Way(NamedTuple):
    """An alternative address, and its media type; "" to use the server's."""

    url: str
    media_type: str = ""


#: Returns the alternative addresses of a page, best first; none for other sites.
Site = Callable[[str], Sequence[Way]]
_PREPRINT = r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"
_ARXIV = rf"(?P<form>abs|pdf)/(?P<id>{_PREPRINT})(?:\.pdf)?"
_WIKIPEDIAS = r"[a-z-]{2,12}\.(?:m\.)?wikipedia\.org"
#: Pages in namespaces such as Special: and Talk: are not articles, in any language.
_ARTICLE = re.compile(r"/wiki/(?!\w+(?: \w+)?:[^_ ])[^/].*")
_REPOSITORY = r"(?P<owner>[\w-]+)/(?P<name>[\w.-]+)"
#: First path segments on GitHub that are not owners.
_ITS_OWN = frozenset({"about", "features", "marketplace", "orgs", "settings", "sponsors", "topics"})
_PROJECT = r"project/(?P<name>[\w.-]+)(?:/(?P<version>[\w.!+-]+))?"
_PACKAGE = r"package/(?P<name>(?:@[\w.~-]+/)?[\w.~-]+)(?:/v/(?P<version>[\w.+-]+))?"


def arxiv(url: str, base: str = "https://arxiv.org") -> Sequence[Way]:
    """Return the full text of an arXiv preprint as HTML, else PDF, else the abstract (identifiers:
    https://info.arxiv.org/help/arxiv_identifier.html).
    """
    if not (found := _match(_ARXIV, url, base)):
        return ()
    forms = ("html", "pdf") if found["form"] == "abs" else ("html",)
    return tuple(Way(f"{base}/{form}/{found['id']}") for form in forms)


def wikipedia(url: str, hosts: str = _WIKIPEDIAS) -> Sequence[Way]:
    """Return an article's `action=render` form at its own path, which robots.txt allows
    (https://www.mediawiki.org/wiki/Manual:Parameters_to_index.php).
    """
    try:
        asked = urlsplit(url)
    except ValueError:
        return ()
    ours = re.fullmatch(hosts, asked.netloc.lower()) and not asked.query
    if not ours or not _ARTICLE.fullmatch(asked.path):
        return ()
    host = asked.netloc.replace(".m.", ".")
    rendered = f"{asked.scheme}://{host}{asked.path}?action=render"
    return (Way(rendered, "text/x-mediawiki-rendered"),)


def github(
    url: str,
    base: str = "https://github.com",
    *,
    api: str = "https://api.github.com",
    raw: str = "https://raw.githubusercontent.com",
) -> Sequence[Way]:
    """Return READMEs by the REST API (https://docs.github.com/rest/repos/contents) and raw files;
    issues, releases and listings are read as they are.
    """
    if found := _match(_REPOSITORY, url, base):
        readme = f"{api}/repos/{found['owner']}/{found['name']}/readme"
        of_owner = found["owner"].lower() not in _ITS_OWN
        return (Way(readme, "application/vnd.github.readme+json"),) if of_owner else ()
    if found := _match(rf"{_REPOSITORY}/(?:blob|raw)/(?P<file>[^/]+/.+)", url, base):
        return (Way(f"{raw}/{found['owner']}/{found['name']}/{found['file']}"),)
    return ()


def pypi(url: str, base: str = "https://pypi.org") -> Sequence[Way]:
    """Return a package's description by the JSON API (https://docs.pypi.org/api/json/)."""
    if not (found := _match(_PROJECT, url, base)):
        return ()
    version = f"/{found['version']}" if found["version"] else ""
    described = f"{base}/pypi/{found['name']}{version}/json"
    return (Way(described, "application/vnd.pypi.project+json"),)


def npm(
    url: str, base: str = "https://npmjs.com", *, registry: str = "https://registry.npmjs.org"
) -> Sequence[Way]:
    """Return a package's README, part of the metadata of all versions unless too large
    (https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md).
    """
    if not (found := _match(_PACKAGE, url, base)):
        return ()
    package = f"{registry}/{found['name'].replace('/', '%2F')}"
    endings = (f"/{found['version']}",) if found["version"] else ("", "/latest")
    return tuple(Way(package + ending, "application/vnd.npm.package+json") for ending in endings)


SITES: tuple[Site, ...] = (arxiv, wikipedia, github, pypi, npm)


def ways_to(url: str, sites: Sequence[Site] = SITES) -> Sequence[Way]:
    """Return the alternative addresses of a page, best first; none if it is read as it is."""
    return next((ways for site in sites if (ways := site(url))), ())


def _match(pattern: str, url: str, base: str) -> re.Match[str] | None:
    """Match a URL's path below `base` (with or without "www."), without a query."""
    try:
        asked, site = urlsplit(url), urlsplit(base)
    except ValueError:
        return None
    if asked.netloc.lower().removeprefix("www.") != site.netloc or asked.query:
        return None
    return re.fullmatch(pattern, asked.path.strip("/"))

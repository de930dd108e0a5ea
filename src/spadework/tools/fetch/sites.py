"""Sites with ways of their own: where a page's text is better had than from the page that people
see. Each is one function that knows its addresses; what comes back is read like any document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit


class Way(NamedTuple):
    """Another address, and the media type that names its reader; "" for what the server says."""

    url: str
    media_type: str = ""


#: The ways to a page of a site, the best first; none for any other address.
Site = Callable[[str], Sequence[Way]]
_PREPRINT = r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"
_ARXIV = rf"(?P<form>abs|pdf)/(?P<id>{_PREPRINT})(?:\.pdf)?"
_WIKIPEDIAS = r"[a-z-]{2,12}\.(?:m\.)?wikipedia\.org"
#: Pages of namespaces are no articles, such as Special: and Talk:, in any language.
_ARTICLE = re.compile(r"/wiki/(?!\w+(?: \w+)?:[^_ ])[^/].*")
_REPOSITORY = r"(?P<owner>[\w-]+)/(?P<name>[\w.-]+)"
#: First parts of GitHub's paths that are no owners.
_ITS_OWN = frozenset({"about", "features", "marketplace", "orgs", "settings", "sponsors", "topics"})
_PROJECT = r"project/(?P<name>[\w.-]+)(?:/(?P<version>[\w.!+-]+))?"
_PACKAGE = r"package/(?P<name>(?:@[\w.~-]+/)?[\w.~-]+)(?:/v/(?P<version>[\w.+-]+))?"


def arxiv(url: str, base: str = "https://arxiv.org") -> Sequence[Way]:
    """Preprints: the whole text, as HTML where arXiv has made one, else as PDF, else the abstract
    (https://info.arxiv.org/help/arxiv_identifier.html has the forms of an identifier).
    """
    if not (found := _match(_ARXIV, url, base)):
        return ()
    forms = ("html", "pdf") if found["form"] == "abs" else ("html",)
    return tuple(Way(f"{base}/{form}/{found['id']}") for form in forms)


def wikipedia(url: str, hosts: str = _WIKIPEDIAS) -> Sequence[Way]:
    """Articles, by `action=render` at the article's own path, which robots.txt leaves open
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
    """READMEs by the REST API (https://docs.github.com/rest/repos/contents), files as such; issues,
    releases and lists of files are read as they are.
    """
    if found := _match(_REPOSITORY, url, base):
        readme = f"{api}/repos/{found['owner']}/{found['name']}/readme"
        of_owner = found["owner"].lower() not in _ITS_OWN
        return (Way(readme, "application/vnd.github.readme+json"),) if of_owner else ()
    if found := _match(rf"{_REPOSITORY}/(?:blob|raw)/(?P<file>[^/]+/.+)", url, base):
        return (Way(f"{raw}/{found['owner']}/{found['name']}/{found['file']}"),)
    return ()


def pypi(url: str, base: str = "https://pypi.org") -> Sequence[Way]:
    """Packages, described by the JSON API (https://docs.pypi.org/api/json/)."""
    if not (found := _match(_PROJECT, url, base)):
        return ()
    version = f"/{found['version']}" if found["version"] else ""
    described = f"{base}/pypi/{found['name']}{version}/json"
    return (Way(described, "application/vnd.pypi.project+json"),)


def npm(
    url: str, base: str = "https://npmjs.com", *, registry: str = "https://registry.npmjs.org"
) -> Sequence[Way]:
    """Packages, whose READMEs are in the description of all versions, if not too large
    (https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md).
    """
    if not (found := _match(_PACKAGE, url, base)):
        return ()
    package = f"{registry}/{found['name'].replace('/', '%2F')}"
    endings = (f"/{found['version']}",) if found["version"] else ("", "/latest")
    return tuple(Way(package + ending, "application/vnd.npm.package+json") for ending in endings)


SITES: tuple[Site, ...] = (arxiv, wikipedia, github, pypi, npm)


def ways_to(url: str, sites: Sequence[Site] = SITES) -> Sequence[Way]:
    """The ways to the text of a page, the best first; none for a page that is read as it is."""
    return next((ways for site in sites if (ways := site(url))), ())


def _match(pattern: str, url: str, base: str) -> re.Match[str] | None:
    """How the path of an address fits, if below `base` ("www." or not), without a query."""
    try:
        asked, site = urlsplit(url), urlsplit(base)
    except ValueError:
        return None
    if asked.netloc.lower().removeprefix("www.") != site.netloc or asked.query:
        return None
    return re.fullmatch(pattern, asked.path.strip("/"))

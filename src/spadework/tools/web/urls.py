"""Canonicalize URLs, and find domains and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import SplitResult, quote, unquote, urlsplit

from tld import get_fld, get_tld
from tld.utils import MozillaTLDSourceParser


class _Installed(MozillaTLDSourceParser):
    """The suffix list installed with `tld`. It prevents `tld` from downloading another list."""

    uid = "spadework"

    @classmethod
    def update_tld_names(cls, fail_silently: bool = False) -> bool:
        return False


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """Return a lower-case host's registered domain. If its suffix is unknown, return the last two
    labels. IP addresses and names without a dot are returned unchanged.
    """
    if is_address(host) or host.rpartition(".")[2].isdigit() or "." not in host:
        return host
    known = get_fld(
        SplitResult("http", host, "", "", ""), fail_silently=True, parser_class=_Installed
    )
    return str(known or ".".join(host.split(".")[-2:]))


#: Labels of public suffixes that are reserved for governments.
_STATE = frozenset(("gov", "gob", "gouv", "govt", "gub", "gv", "go", "mil"))


@lru_cache(maxsize=4096)
def is_official(host: str) -> bool:
    """Return whether only governments and their organizations can register a lower-case host."""
    # Add a label, because a public suffix such as gov.uk can itself be a host name.
    url = SplitResult("http", f"www.{host}", "", "", "")
    suffix = str(get_tld(url, fail_silently=True, parser_class=_Installed) or "")
    reserved = "." in host and (suffix == "int" or not _STATE.isdisjoint(suffix.split(".")))
    return reserved and suffix != "go.it"  # go.it stands for the province of Gorizia


def is_address(host: str) -> bool:
    """Return whether a host is an IP address."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


# Load the public suffixes now, because the event loop must not read files.
_Installed.get_tld_names()


_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Maximum number of characters of a URL to normalize. It is twice the limit for URLs to fetch.
_MOST_CHARS = 4_000
_LIBRARY = "library://"
# fmt: off
_TRACKING_STARTS = (
    "utm_", "hsa_", "mtm_", "pk_", "piwik_", "matomo_", "oly_", "vero_", "_hs", "__hs", "mc_",
)
_TRACKING = frozenset((
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "ymclid",
    "twclid", "ttclid", "igshid", "igsh", "srsltid", "mkt_tok", "ref_src", "ref_url", "s_cid",
    "li_fat_id", "rb_clickid", "wickedid", "ncid", "cmpid", "_gl", "_ga", "_openstat", "spm",
    "at_medium", "at_campaign", "amp", "outputtype=amp", "output=amp",
))
# fmt: on
_TWIN_LABELS = frozenset(("www", "m", "mobile", "amp"))
_AMP_VIEWER = re.compile(
    r"(?i:https?)://(?:(?:www\.)?google(?:\.[a-z]+)+/amp/|[\w-]+\.cdn\.ampproject\.org/\w/)(?:s/)?(?=[^/])"
)
_AMP = re.compile(r"^/amp(?=/[^/])|/amp$|(?<=[^./])\.amp(?=\.html?$|$)")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
#: Matches a web address in prose.
_ADDRESS = re.compile(
    r"\b(?:(?:https?|ftp)://|www\.)[^\s<>\"“”`]*[^\s<>\"“”`.,;:!?)'’]", re.IGNORECASE
)
_USER = re.compile(r"(?<=://)[^/?#@]*@")
#: Maximum number of characters of an address shown in a sentence.
_MOST_TOLD = 100
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+\.[\w.-]+")


@lru_cache(maxsize=10_000)
def canonical_url(url: str) -> str:
    """Return one working URL for all variants of a page's URL. The function is idempotent and never
    raises.
    - Normalized: scheme (usually https), case, default port, escapes, `.` and `..`, and the order
      of parameters.
    - Removed: user name, fragment, tracking parameters, `www.`, trailing slash, AMP and mobile
      variants.
    - A `library://` URL loses only its fragment. Overlong URLs are not normalized, and other
      schemes are unchanged.
    """
    url = url.strip()
    if url.lower().startswith(_LIBRARY):
        return url.partition("#")[0].rstrip()
    if len(url) > _MOST_CHARS:
        url = _USER.sub("", url.partition("#")[0], count=1)
        if len(url) > _MOST_CHARS:
            return url
    url = _unwrap_amp(url)
    try:
        parts = urlsplit(url)
        host, port = _ascii(parts.hostname or ""), parts.port
    except ValueError:
        return url
    if parts.scheme not in _DEFAULT_PORTS or not host or ".." in host:
        return url
    host = _without_twin_labels(host)
    scheme, port = _transport(parts.scheme, host, port)
    netloc = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
    asked = _meaningful_parameters(_escape_url(parts.query).split("&"))
    query = "&".join(sorted(asked, key=lambda parameter: parameter.partition("=")[0]))
    return f"{scheme}://{netloc}{_path(parts.path)}{'?' if query else ''}{query}"


def domain_of(url: str) -> str:
    """Return a URL's registered domain (`example.co.uk`, `someone.github.io`), or "" if the URL has
    no host. IP addresses are returned unchanged. `library://X/…` returns X.
    """
    url = url.strip()
    if url.lower().startswith(_LIBRARY):
        return re.split(r"[/?#]", url[len(_LIBRARY) :], maxsplit=1)[0]
    try:
        host = urlsplit(url if "://" in url else f"//{url.lstrip('/')}").hostname or ""
    except ValueError:
        return ""
    return registered_domain(_ascii(host))


def _unwrap_amp(url: str) -> str:
    while wrapped := _AMP_VIEWER.match(url):
        url = f"https://{url[wrapped.end() :]}"
    return url


def _ascii(host: str) -> str:
    host = host.strip(".").lower()
    try:
        return host if host.isascii() else host.encode("idna").decode().strip(".").lower()
    except UnicodeError:
        return host


def _without_twin_labels(host: str) -> str:
    domain = registered_domain(host)
    labels = host[: len(host) - len(domain)].split(".")
    return ".".join([label for label in labels if label and label not in _TWIN_LABELS] + [domain])


def _transport(scheme: str, host: str, port: int | None) -> tuple[str, int | None]:
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        return scheme, port
    return scheme if is_address(host) or "." not in host else "https", None


def _path(path: str) -> str:
    segments: list[str] = []
    for segment in _escape_url(path).split("/"):
        if segment == "..":
            del segments[max(1, len(segments) - 1) :]
        elif segment != ".":
            segments.append(segment)
    path, before = "/".join(segments), None
    while path != before:
        path, before = _AMP.sub("", path.rstrip("/")), path
    return path or "/"


def _meaningful_parameters(parameters: list[str]) -> Iterator[str]:
    for parameter in parameters:
        name = parameter.partition("=")[0].lower()
        tracks = name.startswith(_TRACKING_STARTS) or {name, parameter.lower()} & _TRACKING
        if parameter and not tracks:
            yield parameter


def _escape_url(text: str) -> str:
    """Reduce percent-escapes to the necessary ones, in upper case (RFC 3986, 6.2.2)."""

    def written(escape: re.Match[str]) -> str:
        char = unquote(escape[0])
        return char if _UNRESERVED.fullmatch(char) else escape[0].upper()

    text = quote(_STRAY_PERCENT.sub("%25", text), safe="%/:@!$&'()*+,;=?", errors="replace")
    return _ESCAPE.sub(written, text)


def host_of(url: str) -> str:
    """Return a URL's host, or the text itself if there is none."""
    try:
        return urlsplit(url).hostname or url
    except ValueError:
        return url


def hosts_for_urls(text: str) -> str:
    """Replace web addresses with their hosts, so that no link works."""

    def host(match: re.Match[str]) -> str:
        return host_of(match[0] if "://" in match[0] else f"http://{match[0]}")

    return _ADDRESS.sub(host, text)


def inert_addresses(text: str) -> str:
    """Shorten web addresses and make them unclickable."""

    def inert(match: re.Match[str]) -> str:
        url = match[0][: 4 * _MOST_TOLD]
        url = url if "://" in url else f"http://{url}"
        try:
            parts = urlsplit(url)
            place = parts.netloc.rpartition("@")[2]
            told = parts._replace(scheme="", netloc="").geturl()
        except ValueError:
            place, told = url.partition("://")[2], ""
        whole = f"{place}{told.removesuffix('/')}"
        whole = re.sub(r":/{2,}", ":", whole).removeprefix("www.")
        return whole if len(whole) <= _MOST_TOLD else f"{whole[:_MOST_TOLD]}…"

    return _ADDRESS.sub(inert, text)


def addresses(text: str) -> set[str]:
    """Return the web and mail addresses in a text."""
    found = [*_ADDRESS.finditer(text), *_MAIL.finditer(text)]
    return {match[0].rstrip(".") for match in found}

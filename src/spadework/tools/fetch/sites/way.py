"""What a site with ways of its own is: a protocol of one method, and the ways it tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Way:
    """Another address of a page, and the media type that names the reader of what stands there; ""
    leaves that to what the server says.
    """

    url: str
    media_type: str = ""


class Site(Protocol):
    """A site whose pages are better had by its documented interface."""

    def ways(self, url: str) -> Sequence[Way]:
        """The ways to a page of the site, the best first; none for any other address."""
        ...


def path_below(url: str, base: str) -> str | None:
    """The path of an address below the address `base` of a site, "www." or not, without slashes at
    its ends; None where it is of another site, or asks for something in particular.
    """
    try:
        asked, site = urlsplit(url), urlsplit(base)
    except ValueError:
        return None
    if asked.netloc.lower().removeprefix("www.") != site.netloc or asked.query:
        return None
    return asked.path.strip("/")


def match_path(pattern: str, url: str, base: str) -> re.Match[str] | None:
    """How the path of an address fits, where it is one of the site's."""
    path = path_below(url, base)
    return None if path is None else re.fullmatch(pattern, path)

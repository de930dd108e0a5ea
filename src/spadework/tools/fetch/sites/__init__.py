"""Sites with ways of their own: where a page's text is better had than from the page that people
see. Each is one class that knows its addresses; what comes back is read like any document.
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.fetch.sites.arxiv_site import Arxiv
from spadework.tools.fetch.sites.github_site import GitHub
from spadework.tools.fetch.sites.npm_site import Npm
from spadework.tools.fetch.sites.pypi_site import PyPI
from spadework.tools.fetch.sites.way import Site, Way
from spadework.tools.fetch.sites.wikipedia_site import Wikipedia

__all__ = ["SITES", "Site", "Way", "ways_to"]

SITES: tuple[Site, ...] = (Arxiv(), Wikipedia(), GitHub(), PyPI(), Npm())


def ways_to(url: str, sites: Sequence[Site] = SITES) -> Sequence[Way]:
    """The ways to the text of a page, the best first; none for a page that is read as it is."""
    return next((ways for site in sites if (ways := site.ways(url))), ())

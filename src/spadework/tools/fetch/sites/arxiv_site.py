"""arXiv: of a preprint the whole text, as HTML where arXiv has made one, else as PDF, else the
abstract.

https://info.arxiv.org/help/arxiv_identifier.html (the forms of an identifier)
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.fetch.sites.way import Way, match_path

_ID = r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"


class Arxiv:
    """The preprints at `base`."""

    def __init__(self, base: str = "https://arxiv.org") -> None:
        self._base = base

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`. An address of the HTML is the best there is."""
        found = match_path(rf"(?P<form>abs|pdf)/(?P<id>{_ID})(?:\.pdf)?", url, self._base)
        if not found:
            return ()
        forms = ("html", "pdf") if found["form"] == "abs" else ("html",)
        return tuple(Way(f"{self._base}/{form}/{found['id']}") for form in forms)

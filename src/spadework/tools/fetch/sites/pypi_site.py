"""PyPI: of a package its description and what it says about itself, by the JSON API.

https://docs.pypi.org/api/json/
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.fetch.sites.way import Way, match_path

#: The type by which the reader of what the API tells of a package is found.
PROJECT = "application/vnd.pypi.project+json"


class PyPI:
    """The packages at `base`."""

    def __init__(self, base: str = "https://pypi.org") -> None:
        self._base = base

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`."""
        found = match_path(
            r"project/(?P<name>[\w.-]+)(?:/(?P<version>[\w.!+-]+))?", url, self._base
        )
        if not found:
            return ()
        version = f"/{found['version']}" if found["version"] else ""
        return (Way(f"{self._base}/pypi/{found['name']}{version}/json", PROJECT),)

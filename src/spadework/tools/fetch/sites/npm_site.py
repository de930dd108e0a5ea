"""npm: of a package its README and what it says about itself, by the API of the registry.

https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.fetch.sites.way import Way, match_path

_NAME = r"(?P<name>(?:@[\w.~-]+/)?[\w.~-]+)"
#: The type by which the reader of what the registry tells of a package is found.
PACKAGE = "application/vnd.npm.package+json"


class Npm:
    """The packages at `base`, which are described at `registry`."""

    def __init__(
        self, base: str = "https://npmjs.com", *, registry: str = "https://registry.npmjs.org"
    ) -> None:
        self._base, self._registry = base, registry

    def ways(self, url: str) -> Sequence[Way]:
        """See `Site.ways`. A README stands only in the description of all versions; where that is
        too large, there is one of the latest alone.
        """
        found = match_path(rf"package/{_NAME}(?:/v/(?P<version>[\w.+-]+))?", url, self._base)
        if not found:
            return ()
        one, name = found["version"], found["name"].replace("/", "%2F")
        endings = (f"/{one}",) if one else ("", "/latest")
        return tuple(Way(f"{self._registry}/{name}{ending}", PACKAGE) for ending in endings)

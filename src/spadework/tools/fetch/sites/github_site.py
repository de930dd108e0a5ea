"""GitHub: of a repository its README, by the REST API; of a file the file itself.

https://docs.github.com/rest/repos/contents (get a repository README)
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.fetch.sites.way import Way, match_path

_REPOSITORY = r"(?P<owner>[\w-]+)/(?P<name>[\w.-]+)"
#: First parts of paths that are no owners.
_OWN = frozenset({"about", "features", "marketplace", "orgs", "settings", "sponsors", "topics"})
#: The type by which the reader of what the API tells of a README is found.
README = "application/vnd.github.readme+json"


class GitHub:
    """The repositories at `base`, with the interfaces beside it."""

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
        if found := match_path(_REPOSITORY, url, self._base):
            of_owner = found["owner"].lower() not in _OWN
            way = Way(f"{self._api}/repos/{found['owner']}/{found['name']}/readme", README)
            return (way,) if of_owner else ()
        if found := match_path(rf"{_REPOSITORY}/(?:blob|raw)/(?P<file>[^/]+/.+)", url, self._base):
            return (Way(f"{self._raw}/{found['owner']}/{found['name']}/{found['file']}"),)
        return ()

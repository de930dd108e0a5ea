"""The two sides of a comparison: what the page about one of them lists, and no page about the other
speaks of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.agents.extractive.about import is_about
from spadework.agents.extractive.candidates import Candidate, source
from spadework.tools.facts import stems

#: Words of a trait that only one side has, at least, and their share of its words.
LEAST_OWN, LEAST_SHARE = 1, 0.3
#: A longer quote is a story rather than a trait.
MOST_CHARS = 200


class Sides:
    """What the pages about each subject say; `standing` tells which page of a side speaks for
    it.
    """

    def __init__(
        self,
        subjects: Sequence[set[str]],
        found: Sequence[Candidate],
        standing: Mapping[str, float],
    ) -> None:
        pages = {candidate.shown.page.url: candidate.shown.page for candidate in found}
        own = [
            [page.url for page in pages.values() if is_about(page, [subject])]
            for subject in subjects
        ]
        self._speaks = {
            max(urls, key=lambda url: standing[url]): side for side, urls in enumerate(own) if urls
        }
        side_of = {url: side for side, urls in enumerate(own) for url in urls}
        self._said: list[set[str]] = [set() for _ in subjects]
        for candidate in found:
            if (side := side_of.get(candidate.shown.page.url)) is not None:
                self._said[side] |= stems(source(candidate))
        self._subject = set[str]().union(*subjects)

    def only_one_has(self, candidate: Candidate) -> bool:
        """Whether an item of a list, on the page that speaks for one subject, tells what no page
        about another one says.
        """
        side = self._speaks.get(candidate.shown.page.url)
        if (
            side is None
            or len(self._speaks) < len(self._said)
            or candidate.kind != "item"
            or len(candidate.text) > MOST_CHARS
        ):
            return False
        words = stems(candidate.text) - self._subject
        own = words - set[str]().union(
            *(said for other, said in enumerate(self._said) if other != side)
        )
        return len(own) >= max(LEAST_OWN, LEAST_SHARE * len(words))

"""What is told of a selection: what becomes of every hit of a topic, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from spadework.events import Selected
from spadework.tools.ranking.selection import Selection, fits
from spadework.tools.web.urls import canonical_url
from spadework.values import Choice, Fate, Hit, Task

_READ_BEFORE = "It was read in an earlier round."
_BEST = "Its fused score is among the best."
_AGAINST = "It was judged not worth reading before it was fetched."
_ALONG = "It is fetched for another topic, and read along."


@dataclass(frozen=True)
class Choosing:
    """A selection in the making for a task: among which `hits`, and why it is against some, by URL.
    `before` are the canonical URLs that were read in earlier rounds, `asked` what the selection was
    before it was cut for lack of time and dealt out, `taken` the canonical URLs that other topics
    are dealt.
    """

    task: Task
    hits: Sequence[Hit]
    before: AbstractSet[str]
    against: Mapping[str, str]
    asked: Selection
    taken: AbstractSet[str] = frozenset()
    again: bool = False

    def told(self, made: Selection) -> Selected:
        """What is told when the selection is made."""
        return Selected(
            topic=self.task.topic.name,
            round=self.task.round,
            again=self.again,
            threshold=self.asked.threshold,
            note=self.asked.note,
            hits=tuple(self._choices(made)),
        )

    def _choices(self, made: Selection) -> Iterator[Choice]:
        for hit in made.chosen:
            along = canonical_url(hit.url) in self.taken
            yield _choice(hit, "chosen", _ALONG if along else _BEST)
        for hit in made.reserve:
            yield _choice(hit, "reserve", self._why_not(hit))
        kept = {hit.url for hit in (*made.chosen, *made.reserve)}
        for hit in self.hits:
            if hit.url in kept:
                continue
            if canonical_url(hit.url) in self.before:
                yield _choice(hit, "left", _READ_BEFORE)
            elif hit.url in self.against:
                yield _choice(hit, "left", self.against[hit.url] or _AGAINST)

    def _why_not(self, hit: Hit) -> str:
        if hit.url in self.against:
            return self.against[hit.url] or _AGAINST
        if not fits(hit, self.asked.threshold):
            return f"Its relevance is under {self.asked.threshold:.2f}."
        if hit in self.asked.chosen:
            if canonical_url(hit.url) in self.taken:
                return "It is read for another topic."
            return "Time is short: only the best are read."
        if hit.url in self.asked.crowded:
            return "Enough pages of its site are read; those of others go first."
        return "Others have a higher fused score."


def _choice(hit: Hit, fate: Fate, why: str) -> Choice:
    return Choice(
        url=hit.url,
        title=hit.title,
        fate=fate,
        why=why,
        relevance=hit.relevance,
        rrf=round(hit.rrf, 6),
        found_by=hit.found_by,
    )

"""How long providers let queries wait, so that throttling is not mistaken for slowness."""

from __future__ import annotations

from dataclasses import dataclass

#: A wait under so many seconds is not worth a word.
LEAST_SECONDS = 0.5


@dataclass
class Waited:
    """How many queries waited at a provider, how long at most, and how many were turned away."""

    queries: int = 0
    longest: float = 0.0
    turned_away: int = 0


class Waits:
    """The waits of a run, by provider."""

    def __init__(self) -> None:
        self._by_name: dict[str, Waited] = {}
        self._said: set[str] = set()

    def add(self, name: str, seconds: float) -> None:
        """One query has waited so long before it was asked."""
        if seconds >= LEAST_SECONDS:
            waited = self._by_name.setdefault(name, Waited())
            waited.queries += 1
            waited.longest = max(waited.longest, seconds)

    def turn_away(self, name: str) -> None:
        """One query was not asked at all."""
        self._by_name.setdefault(name, Waited()).turned_away += 1

    def news(self) -> tuple[str, ...]:
        """The sentences of those providers that were not heard of here before."""
        fresh = [name for name in self._by_name if name not in self._said]
        self._said.update(fresh)
        return tuple(_sentence(name, self._by_name[name]) for name in fresh)


def _sentence(name: str, waited: Waited) -> str:
    parts = []
    if waited.queries:
        seconds = f"{'' if waited.queries == 1 else 'up to '}{max(1, round(waited.longest))} s"
        parts.append(f"let {_queries(waited.queries)} wait, {seconds}")
    if waited.turned_away:
        parts.append(f"had no turn for {_queries(waited.turned_away)}")
    return f"{name} {' and '.join(parts)}, since it may not be asked more often."


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"

"""Selection of the hits to read, the reserve for failures, and the reasons (S5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.extract.expected_type import foreseen
from spadework.tools.ranking.relevance import priority, query_terms
from spadework.tools.ranking.trust import domain_prior
from spadework.tools.web.urls import domain_of
from spadework.values import Hit

#: Minimum relevance of a page (0..1) and maximum pages.
Preset = tuple[float, int]
PRESETS: dict[str, Preset] = {
    "default": (0.3, 10),
    "precise": (0.5, 5),
    "balanced": (0.3, 8),
    "recall": (0.1, 12),
}
#: A threshold that leaves fewer hits than this is lowered in these steps.
ENOUGH = 3
STEP = 0.1
#: Prefix of documents that need no fetching.
LOCAL = "library://"
#: A page whose title equals the query is read, if it ranks among the first this many.
NAMED_RANK = 5
#: Provider name of pages from earlier runs.
KNOWLEDGE = "knowledge"
#: The first hits of the original question that are always read, since earlier pages compete.
ASKED_HITS = 5
#: What follows a page's name in its title: the site, or the kind of thing.
_BESIDE = re.compile(r"\s+[-–—|·]\s.*$|\s*\([^()]*\)\s*$")
#: Factor on the fused score of a hit beyond its domain's share.
CROWDED = 0.25
#: Minimum pages when time is short, and characters of a snippet with full quality.
LEAST_HURRIED, FULL_SNIPPET = 2, 300


@dataclass(frozen=True)
class Selection:
    """The hits to read, and the reserve, best first. `note`: which rule was relaxed, or "".

    `threshold` is the final minimum relevance; `crowded` are URLs that wait because of others from
    their domain.
    """

    chosen: tuple[Hit, ...]
    reserve: tuple[Hit, ...]
    note: str = ""
    threshold: float = field(default=0.0, compare=False)
    crowded: frozenset[str] = field(default=frozenset(), compare=False)


def select(
    hits: Sequence[Hit],
    *,
    preset: str | Preset,
    pages_per_domain: int,
    limit: int | None = None,
    steps: int = 0,
    asked: str = "",
) -> Selection:
    """Select the best fused hits that are relevant enough, `pages_per_domain` of each while other
    domains wait.

    `limit` replaces the preset's number of pages; `steps` lower its threshold, once per round that
    did not answer the topic. The first hits of the query `asked` are always read if their fused
    score is not 0. Hits below the threshold come last in the reserve. Raises SettingsError for an
    unknown preset.
    """
    floor, most = _preset(preset) if isinstance(preset, str) else preset
    most = most if limit is None else max(0, limit)
    ranked, named = _first_of(sorted(hits, key=lambda hit: -hit.rrf), asked)
    bent = _threshold(ranked, max(0.0, round(floor - STEP * steps, 3)), min(ENOUGH, most))
    fit = [n for n, hit in enumerate(ranked) if fits(hit, bent)]
    # A page requested by name is not displaced by its neighbours.
    free = sum(1 for n in fit if n < named)
    spread = _spread([ranked[n] for n in fit[free:]], most - free, pages_per_domain)
    picked = [*fit[: min(free, most)], *(fit[free + place] for place in spread)]
    left = [n for n in fit if n not in set(picked)]
    rest = [*left, *(n for n, hit in enumerate(ranked) if not fits(hit, bent))]
    note = (
        "Few results were relevant enough, so the threshold was lowered from"
        f" {round(floor, 3)} to {bent}."
    )
    last = max(picked, default=-1)
    return Selection(
        chosen=tuple(ranked[n] for n in picked),
        reserve=tuple(ranked[n] for n in rest),
        note=note if bent != floor else "",
        threshold=bent,
        crowded=frozenset(ranked[n].url for n in left if n < last),
    )


def preset_of(settings: Settings) -> Preset:
    """Return the preset of the settings, with their minimum relevance if set."""
    floor, most = _preset(settings.preset)
    return (floor if settings.min_relevance is None else settings.min_relevance), most


def _preset(name: str) -> Preset:
    if name not in PRESETS:
        raise SettingsError(f"preset cannot be {name!r}: it is one of {', '.join(PRESETS)}.")
    return PRESETS[name]


def affordable(made: Selection, paid: Collection[str], most: int) -> Selection:
    """Limit a selection to `most` hits beyond those `paid` for; the others lead the reserve."""
    dear = [hit for hit in made.chosen if hit.url not in paid][most:]
    kept = tuple(hit for hit in made.chosen if hit not in dear)
    return replace(made, chosen=kept, reserve=(*dear, *made.reserve))


def halve_selection(made: Selection, cached: Collection[str] = ()) -> Selection:
    """Keep the better half by priority when time is short; the others lead the reserve. `cached`
    are the URLs of pages at hand.
    """
    ranked = sorted(made.chosen, key=lambda hit: -_priority(hit, cached))
    kept = ranked[: max(LEAST_HURRIED, (len(ranked) + 1) // 2)]
    return replace(made, chosen=tuple(kept), reserve=(*ranked[len(kept) :], *made.reserve))


def _priority(hit: Hit, cached: Collection[str]) -> float:
    told = min(1.0, len(hit.snippet) / FULL_SNIPPET)
    here = hit.url.startswith(LOCAL) or hit.url in cached
    return priority(domain_prior(hit.url), hit.relevance, here, told)


def _first_of(ranked: Sequence[Hit], asked: str) -> tuple[list[Hit], int]:
    """Move up the hits whose title is a query, one per query, and the first hits of the original
    question; return the list and their number.
    """
    found: dict[str, int] = {}
    own: set[int] = set()
    for n, hit in enumerate(ranked):
        title = query_terms(bare(hit.title))
        for at in hit.found_by if hit.rrf else ():
            if at.query == asked and at.rank <= ASKED_HITS and at.provider != KNOWLEDGE:
                own.add(n)
            if at.rank <= NAMED_RANK and title and title == query_terms(at.query):
                found.setdefault(at.query, n)
    first = sorted({*found.values(), *own})
    others = (hit for n, hit in enumerate(ranked) if n not in set(first))
    return [*(ranked[n] for n in first), *others], len(first)


def bare(title: str) -> str:
    """Return a page's title without the site name or kind after it."""
    return _BESIDE.sub("", title)


def fits(hit: Hit, least: float) -> bool:
    """Return whether a hit is worth reading. A library document costs nothing, so its rank
    decides.
    """
    return hit.relevance >= least or hit.url.startswith(LOCAL)


def _threshold(hits: Sequence[Hit], asked: float, enough: int) -> float:
    """Return the requested threshold, or the highest step below it that lets enough hits pass."""
    wanted = min(enough, len(hits))
    least = asked
    while least > 0 and sum(fits(hit, least) for hit in hits) < wanted:
        least = max(0.0, round(least - STEP, 3))
    return least


def _spread(hits: Sequence[Hit], most: int, per_domain: int) -> list[int]:
    """Return the positions of the selected hits, in order. A hit beyond its domain's share counts
    less, so that similar ones go first.

    Library documents have no share: their collections are not publishers.
    """
    taken: Counter[str] = Counter()
    worth: list[float] = []
    for hit in hits:
        domain = domain_of(hit.url)
        taken[domain] += not hit.url.startswith(LOCAL)
        worth.append(hit.rrf * (1.0 if taken[domain] <= per_domain else CROWDED))
    return sorted(sorted(range(len(hits)), key=lambda place: -worth[place])[:most])


def reason(hit: Hit, made: Selection) -> str:
    """Return why a hit is selected or waits, as a sentence that starts with "Selected" or
    "Reserve".
    """
    fit = f"{_fit(hit, made)}.{f' {made.note}' if made.note else ''}"
    if hit in made.chosen:
        return f"Selected as number {made.chosen.index(hit) + 1}: {fit}"
    known = foreseen(hit.url, hit.title)
    place = "Left out"
    if hit in made.reserve:
        place = f"Reserve, as number {made.reserve.index(hit) + 1}"
    if known.refused and not hit.url.startswith(LOCAL):
        return f"{place}: by its address or title it cannot be read: {known.refused}."
    if not fits(hit, made.threshold):
        return f"{place}: {fit}"
    if hit.url in made.crowded:
        return (
            f"{place}: enough better pages of {domain_of(hit.url)} are selected, and other domains"
            " come first."
        )
    return f"{place}: {len(made.chosen)} better ones are selected, which is as many as are read."


def _fit(hit: Hit, made: Selection) -> str:
    if hit.relevance >= made.threshold:
        return f"its relevance of {hit.relevance:.2f} reaches {made.threshold:.2f}"
    if fits(hit, made.threshold):
        return "a document of the library is taken by its rank, whatever its relevance"
    return f"its relevance of {hit.relevance:.2f} is under {made.threshold:.2f}"

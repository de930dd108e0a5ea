"""Select the hits to read and some to hold in reserve, and explain each choice. Use the links on
pages already read to find more pages and to estimate trust.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from spadework.deadline import today
from spadework.errors import SettingsError, must_be
from spadework.settings import Settings
from spadework.tools.extract.expected_type import foreseen
from spadework.tools.extract.extracted import Link
from spadework.tools.ranking.relevance import priority, query_terms, relevance, relevance_parts
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.journal_rows import keep_file
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.web.urls import canonical_url, domain_of, host_of, is_official
from spadework.values import Evidence, Found, Hit, Page, Query, SourceKind

WEIGHTS = {"authority": 0.4, "consistency": 0.3, "publisher": 0.2, "recency": 0.1}
#: A page's authority (0..1) by domain suffix. Pages with other suffixes get MIDDLE.
PRIORS = {".gov": 0.9, ".edu": 0.85, ".ac.uk": 0.85, ".int": 0.85, ".mil": 0.8, ".org": 0.6}
MIDDLE = 0.5
#: The page with the highest PageRank gains this fraction of the gap between its authority and 1.
LINKED = 0.6
HALF_LIFE_DAYS = 730.0


def trust(
    page: Page, quotes: Sequence[Evidence], disputed: Sequence[str], *, now: datetime | None = None
) -> dict[str, float]:
    """Return the components of a page's trust, and their weighted sum as "trust" (all 0..1).
    `quotes` are the quotes from the page. `disputed` holds the ids of contradicted evidence.
    """
    prior = domain_prior(page.url)
    parts = {
        "authority": prior + LINKED * page.linked * (1 - prior),
        "consistency": sum(e.id not in disputed for e in quotes) / len(quotes)
        if quotes
        else MIDDLE,
        "publisher": 0.5 + 0.25 * bool(page.title) + 0.25 * bool(page.published_at),
        "recency": _recency(page, now or today()),
    }
    return {name: round(value, 3) for name, value in parts.items()} | {
        "trust": round(sum(WEIGHTS[n] * v for n, v in parts.items()), 3)
    }


def by_page(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    """Group quotes by page URL. Pages without quotes have an empty list."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for e in evidence:
        found[e.url].append(e)
    return found


def domain_prior(url: str) -> float:
    """Return the authority (0..1) of a URL's domain suffix."""
    domain = domain_of(url)
    return next((prior for end, prior in PRIORS.items() if domain.endswith(end)), MIDDLE)


def source_kind(hit: Hit, page: Page) -> SourceKind:
    """Return the kind of source ("paper" and "official" take precedence), or "" if unknown."""
    said = {hit.kind, page.kind}
    if "paper" in said:
        return "paper"
    return "official" if is_official(host_of(page.url)) else hit.kind or page.kind


def _recency(page: Page, now: datetime) -> float:
    if page.published_at is None:
        return MIDDLE
    day = page.published_at
    days = (now - (day if day.tzinfo else day.replace(tzinfo=UTC))).days
    return math.pow(0.5, max(0.0, days) / HALF_LIFE_DAYS)


#: The minimum relevance (0..1) of a hit to read, and the maximum number of pages to read.
Preset = tuple[float, int]
PRESETS: dict[str, Preset] = {
    "default": (0.3, 10),
    "precise": (0.5, 5),
    "balanced": (0.3, 8),
    "recall": (0.1, 12),
}
#: The relevance threshold is lowered in steps of STEP until at least ENOUGH hits pass.
ENOUGH = 3
STEP = 0.1
LOCAL = "library://"
#: A page whose title equals a query is always read if it is among this many top hits of the query.
NAMED_RANK = 5
KNOWLEDGE = "knowledge"
#: Number of top hits for the original question that are always read.
ASKED_HITS = 5
#: The ending of a page title that names the site or the kind of subject, such as " - Wikipedia" or
#: " (film)".
_BESIDE = re.compile(r"\s+[-–—|·]\s.*$|\s*\([^()]*\)\s*$")
#: PAGES_PER_DOMAIN pages per domain and topic keep their full score. The score of each further page
#: is multiplied by CROWDED.
PAGES_PER_DOMAIN = 3
CROWDED = 0.25
#: When time is short, at least LEAST_HURRIED pages are still read. A snippet of at least
#: FULL_SNIPPET characters gets the full quality score.
LEAST_HURRIED, FULL_SNIPPET = 2, 300


@dataclass(frozen=True)
class Selection:
    """The hits to read (`chosen`) and to hold in `reserve`, each best first. `note` explains a
    lowered threshold. `crowded` holds URLs in `reserve` whose domains already had enough pages.
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
    limit: int | None = None,
    steps: int = 0,
    asked: str = "",
) -> Selection:
    """Select the best fused hits that are relevant enough, spread over domains.

    - Hits beyond PAGES_PER_DOMAIN yield to hits from other domains.
    - `limit` replaces the preset's number of pages.
    - `steps` is the number of rounds that found no answer. Each lowers the threshold.
    - The first hits of the query `asked` are always read, unless their fused score is 0.
    - Hits below the threshold come last in the reserve.

    Raises SettingsError for an unknown preset.
    """
    floor, most = _preset(preset) if isinstance(preset, str) else preset
    most = most if limit is None else max(0, limit)
    ranked, named = _first_of(sorted(hits, key=lambda hit: -hit.rrf), asked)
    bent = _threshold(ranked, max(0.0, round(floor - STEP * steps, 3)), min(ENOUGH, most))
    fit = [n for n, hit in enumerate(ranked) if fits(hit, bent)]
    # A page that the query names is never displaced by other pages of its domain.
    free = sum(1 for n in fit if n < named)
    spread = _spread([ranked[n] for n in fit[free:]], most - free)
    picked = [*fit[: min(free, most)], *(fit[free + place] for place in spread)]
    left = [n for n in fit if n not in set(picked)]
    rest = [*left, *(n for n, hit in enumerate(ranked) if not fits(hit, bent))]
    note = (
        "Few hits were relevant enough, so the threshold was lowered from"
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
    """Return the configured preset. A configured minimum relevance overrides the preset's."""
    floor, most = _preset(settings.preset)
    return (floor if settings.min_relevance is None else settings.min_relevance), most


def _preset(name: str) -> Preset:
    if name not in PRESETS:
        raise SettingsError(must_be("preset", f"one of {', '.join(PRESETS)}", name))
    return PRESETS[name]


def affordable(made: Selection, paid: Collection[str], most: int) -> Selection:
    """Keep all hits whose URLs are in `paid` (pages already fetched), and at most `most` other
    hits. Move the remaining hits to the front of the reserve.
    """
    dear = [hit for hit in made.chosen if hit.url not in paid][most:]
    kept = tuple(hit for hit in made.chosen if hit not in dear)
    return replace(made, chosen=kept, reserve=(*dear, *made.reserve))


def halve_selection(made: Selection, cached: Collection[str] = ()) -> Selection:
    """Keep the half of the hits that has the highest reading priority, and move the rest to the
    front of the reserve. `cached` holds the URLs of cached pages.
    """
    ranked = sorted(made.chosen, key=lambda hit: -_priority(hit, cached))
    kept = ranked[: max(LEAST_HURRIED, (len(ranked) + 1) // 2)]
    return replace(made, chosen=tuple(kept), reserve=(*ranked[len(kept) :], *made.reserve))


def _priority(hit: Hit, cached: Collection[str]) -> float:
    told = min(1.0, len(hit.snippet) / FULL_SNIPPET)
    here = hit.url.startswith(LOCAL) or hit.url in cached
    return priority(domain_prior(hit.url), hit.relevance, here, told)


def _first_of(ranked: Sequence[Hit], asked: str) -> tuple[list[Hit], int]:
    """Move hits that a query names by title, and the top hits for `asked`, first. Count them."""
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
    """Return a page title without the site name or kind of subject at its end."""
    return _BESIDE.sub("", title)


def fits(hit: Hit, least: float) -> bool:
    """Return whether a hit is relevant enough to be read. Library documents always are."""
    return hit.relevance >= least or hit.url.startswith(LOCAL)


def _threshold(hits: Sequence[Hit], asked: float, enough: int) -> float:
    wanted = min(enough, len(hits))
    least = asked
    while least > 0 and sum(fits(hit, least) for hit in hits) < wanted:
        least = max(0.0, round(least - STEP, 3))
    return least


def _spread(hits: Sequence[Hit], most: int) -> list[int]:
    """Return the positions of the selected hits. The limit per domain does not apply to library
    documents, because a library is not a single publisher.
    """
    taken: Counter[str] = Counter()
    worth: list[float] = []
    for hit in hits:
        domain = domain_of(hit.url)
        taken[domain] += not hit.url.startswith(LOCAL)
        worth.append(hit.rrf * (1.0 if taken[domain] <= PAGES_PER_DOMAIN else CROWDED))
    return sorted(sorted(range(len(hits)), key=lambda place: -worth[place])[:most])


def reason(hit: Hit, made: Selection) -> str:
    """Explain in a sentence why a hit is selected, in reserve or left out."""
    fit = f"{_fit(hit, made)}.{f' {made.note}' if made.note else ''}"
    if hit in made.chosen:
        return f"Selected as number {made.chosen.index(hit) + 1}: {fit}"
    known = foreseen(hit.url, hit.title)
    place = "Left out"
    if hit in made.reserve:
        place = f"In reserve, as number {made.reserve.index(hit) + 1}"
    if known.refused and not hit.url.startswith(LOCAL):
        return f"{place}: its address or title suggests that it cannot be read ({known.refused})."
    if not fits(hit, made.threshold):
        return f"{place}: {fit}"
    if hit.url in made.crowded:
        return (
            f"{place}: enough better pages from {domain_of(hit.url)} were selected, so other"
            " domains come first."
        )
    return f"{place}: better hits already reach the maximum of {len(made.chosen)}."


def _fit(hit: Hit, made: Selection) -> str:
    if hit.relevance >= made.threshold:
        return f"its relevance of {hit.relevance:.2f} reaches the threshold of {made.threshold:.2f}"
    if fits(hit, made.threshold):
        return "library documents are selected by rank, regardless of relevance"
    return f"its relevance of {hit.relevance:.2f} is below the threshold of {made.threshold:.2f}"


#: Maximum number of links kept per page. The first links, which are mostly in running text, are
#: kept.
MOST_KEPT = 400
#: At most MOST_FOLLOWED links are followed per task. The text of a followed link contains at least
#: the fraction LEAST_SHARE of a query's terms.
MOST_FOLLOWED, LEAST_SHARE = 5, 0.5
PROVIDER = "links"
#: PageRank's damping factor (Brin and Page 1998), and its number of iterations, which is enough
#: for a stable order.
DAMPING, ROUNDS = 0.85, 40


class LinkStore:
    """Stores page links in `folder`, in one JSON file per page."""

    def __init__(self, folder: Path, most_chars: int = 200) -> None:
        self.folder, self._most_chars = folder, most_chars

    async def put(self, url: str, links: Sequence[Link]) -> None:
        """Store the links of the page at `url`."""
        rows = [[link.url, link.text[: self._most_chars]] for link in links[:MOST_KEPT]]
        data = json.dumps(rows, ensure_ascii=False).encode(errors="replace")
        await keep_file(self._path(url), data)

    async def of(self, url: str) -> tuple[Link, ...]:
        """Return a page's links, or () if it was never read."""
        try:
            data = await on_disk(self._path(url).read_bytes)
        except FileNotFoundError:
            return ()
        return tuple(Link(url=target, text=text) for target, text in json.loads(data))

    def _path(self, url: str) -> Path:
        return self.folder / f"{hashlib.sha256(canonical_url(url).encode()).hexdigest()}.json"


def follow_links(
    links: Mapping[str, Sequence[Link]], queries: Sequence[Query], skip: Collection[str]
) -> list[Hit]:
    """Return the best links for the queries as hits, except links to canonical URLs in `skip`."""
    best: dict[str, tuple[float, Link, Query]] = {}
    for query in queries:
        terms = query_terms(query.text)
        for link in (link for own in links.values() for link in own) if terms else ():
            share = relevance_parts(link.text, "", 1, terms)["title"]
            key = canonical_url(link.url)
            if (
                share >= LEAST_SHARE
                and not is_injection(link.text)
                and key not in skip
                and share > best.get(key, (0.0,))[0]
            ):
                best[key] = share, link, query
    ranked = sorted(best.values(), key=lambda found: -found[0])[:MOST_FOLLOWED]
    return [_hit(link, query, rank) for rank, (_, link, query) in enumerate(ranked, 1)]


def page_rank(links: Mapping[str, Collection[str]]) -> dict[str, float]:
    """Return each page's PageRank (Brin and Page 1998), scaled to 0..1, or 0 without any links."""
    out = {
        page: {target for target in targets if target in links and target != page}
        for page, targets in links.items()
    }
    if not any(out.values()):
        return dict.fromkeys(links, 0.0)
    rank = dict.fromkeys(out, 1 / len(out))
    for _ in range(ROUNDS):
        lost = sum(rank[page] for page, targets in out.items() if not targets)
        fresh = dict.fromkeys(out, (1 - DAMPING + DAMPING * lost) / len(out))
        for page, targets in out.items():
            for target in targets:
                fresh[target] += DAMPING * rank[page] / len(targets)
        rank = fresh
    least, most = min(rank.values()), max(rank.values())
    return {
        page: round((value - least) / (most - least), 3) if most > least else 0.0
        for page, value in rank.items()
    }


def _hit(link: Link, query: Query, rank: int) -> Hit:
    found = Found(query=query.text, kind=query.kind, provider=PROVIDER, rank=rank)
    score = relevance(link.text, "", rank, query_terms(query.text))
    return Hit(
        url=link.url,
        title=link.text,
        position=rank,
        provider=PROVIDER,
        query=query.text,
        relevance=score,
        found_by=(found,),
    )

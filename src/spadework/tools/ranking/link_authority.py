"""Use the links of read pages to choose the next pages and to estimate trust."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from spadework.tools.extract.extracted import Link
from spadework.tools.ranking.relevance import query_terms, relevance, relevance_parts
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.journal_rows import keep_file
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.web.urls import canonical_url
from spadework.values import Found, Hit, Query

#: Links stored per page. The first are mostly in its text, not in lists.
MOST_KEPT = 400
#: Links followed per task, and the minimum fraction of a query's terms in a link's text.
MOST_FOLLOWED, LEAST_SHARE = 5, 0.5
PROVIDER = "links"
#: PageRank's damping factor (Brin and Page 1998), and iterations until the order is stable.
DAMPING, ROUNDS = 0.85, 40


class LinkStore:
    """The links of pages, in one JSON file per page in `folder`; long texts are cut."""

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
    """Return hits for the links that match a query best.
    `skip` holds canonical URLs to leave out.
    """
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
    """Return each page's PageRank (Brin and Page 1998), scaled to 0..1.
    Without links, all are 0. Pages without links spread their rank evenly.
    """
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

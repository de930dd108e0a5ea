"""Distilling: which passages of the pages are worth judging for a topic."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.agents.shown import Shown
from spadework.graph.desk import Desk
from spadework.tools.passages import cut, heading_at, headings
from spadework.tools.retrieve import bm25
from spadework.values import Page, Passage, Topic

#: What the name of a page and the headings above a passage count, beside its own words: they are repeated this often.
HEADING_WEIGHT = 2
#: How much the rank of its page adds to a passage's score, at most, as a share.
PAGE_PRIOR = 0.5
#: Without a model more passages can be judged, since reading them costs nothing.
EXTRACTIVE_CHARS = 60_000
#: Passages of one page at most, so that one long page does not crowd out the others.
PER_PAGE = 12


async def distilled(desk: Desk, topic: Topic, pages: Sequence[Page]) -> list[Passage]:
    """The best passages of `pages` for `topic`, best first, as many as the assessor may see."""
    texts = {page.content_hash: await desk.pages.get(page.content_hash) for page in pages}
    most = desk.settings.assess_chars if desk.model else EXTRACTIVE_CHARS
    return await asyncio.to_thread(_best, topic, pages, texts, desk.settings.passage_chars, most)


def shown(page: Page, text: str, start: int, end: int, score: float = 0.0) -> Shown:
    """A passage with its text and the headings above it."""
    return Shown(page=page, start=start, text=text[start:end], heading=heading_at(headings(text), start), score=score)


def _best(topic: Topic, pages: Sequence[Page], texts: dict[str, str], passage_chars: int, most: int) -> list[Passage]:
    cuts: list[tuple[int, Page, int, int, str]] = []
    for rank, page in enumerate(pages):
        text = texts[page.content_hash]
        above = headings(text)
        for start, end in cut(text, passage_chars):
            cuts.append((rank, page, start, end, f"{page.title} {heading_at(above, start)} "))
    query = " ".join([topic.question, *topic.must_cover, *(q.text for q in topic.queries)])
    scores = bm25(query, [heading * HEADING_WEIGHT + texts[page.content_hash][start:end] for _, page, start, end, heading in cuts])
    ranked = sorted(
        (
            Passage(
                content_hash=page.content_hash,
                start=start,
                end=end,
                topic=topic.name,
                score=round(score * (1 + PAGE_PRIOR / (1 + rank)), 4),
            )
            for score, (rank, page, start, end, _) in zip(scores, cuts, strict=True)
            if score > 0
        ),
        key=lambda p: -p.score,
    )
    return _within(ranked, most)


def _within(ranked: Sequence[Passage], most: int) -> list[Passage]:
    """The first passages that together have at most `most` characters, a few of each page."""
    kept: list[Passage] = []
    used = 0
    for passage in ranked:
        length = passage.end - passage.start
        if used + length > most or sum(p.content_hash == passage.content_hash for p in kept) >= PER_PAGE:
            continue
        kept.append(passage)
        used += length
    return kept

"""Fetch pictures for a report: figures of cited pages whose captions belong to a cited quote."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from spadework.errors import SpadeworkError
from spadework.graph.context import SessionContext
from spadework.graph.pages.fetch import fetch_recorded
from spadework.graph.state import ResearchState
from spadework.tools.export.pictures import FOLDER, MOST_BYTES, header_of
from spadework.tools.extract.extracted import Link
from spadework.tools.stores.exchanges import Request
from spadework.tools.stores.journal_rows import keep_file
from spadework.tools.text.language import spoken
from spadework.tools.text.page_text import PageText
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.text.sentences import sentences
from spadework.tools.text.terms import terms
from spadework.values import Evidence, Picture

#: Maximum pictures of a report, characters of a caption, and seconds for fetching all.
MOST, MOST_CAPTION, SECONDS = 4, 400, 6.0
#: A word is rare that a page has at most this often; this many of a quote's are in the caption.
RARE, LEAST_SHARED = 5, 2


async def fetch_pictures(context: SessionContext, state: ResearchState) -> tuple[Picture, ...]:
    """Return the pictures of a report, best first, stored in the session. None are fetched at quick
    effort, or without time and budget for reading; one that fails is left out.
    """

    async def choose() -> tuple[Picture, ...]:
        budget = context.budget
        hurried = context.quick or context.stop.is_set() or budget.ended_by()
        if hurried or budget.reckoned("read") < SECONDS:
            return ()
        return await _choose(context, state)

    none: tuple[Picture, ...] = ()
    chosen = await context.journal.moment("pictures", "", tuple[Picture, ...], choose, none)
    fetched = await asyncio.gather(*(_fetch(context, picture) for picture in chosen))
    return tuple(picture for picture in fetched if picture)


async def _choose(context: SessionContext, state: ResearchState) -> tuple[Picture, ...]:
    cited = {citation.evidence_id for citation in state.get("citations", [])}
    quotes = [e for e in state.get("evidence", []) if e.id in cited]
    figures = {url: await context.figures.of(url) for url in dict.fromkeys(e.url for e in quotes)}
    quotes = [e for e in quotes if figures[e.url]]
    texts = await context.pages.texts(e.content_hash for e in quotes)
    asked = state["plan"].question
    found = await asyncio.to_thread(lambda: [*_fitting(asked, quotes, figures, texts)])
    best: dict[str, Picture] = {}
    for _, picture in sorted(found, key=lambda one: -one[0]):
        best.setdefault(picture.url, picture)
    return tuple(best.values())[:MOST]


def _fitting(
    asked: str,
    quotes: Sequence[Evidence],
    figures: Mapping[str, Sequence[Link]],
    texts: Mapping[str, PageText],
) -> Iterator[tuple[float, Picture]]:
    """Yield the figures that belong to each quote, with how well. Their captions share words with
    the question and, as rare ones or under the same heading, with the quote.
    """
    for quote in quotes:
        text, code = texts.get(quote.content_hash, PageText()), spoken(quote.quote)
        counts = Counter(terms(text, code))
        for figure in figures[quote.url]:
            start = text.find(figure.text)
            caption = _opening(figure.text, code)
            if start < 0 or not caption or is_injection(caption):
                continue
            said = {*terms(caption, code)}
            if said.isdisjoint(terms(asked, code)):
                continue
            shared = said & {*terms(quote.quote, code)}
            rare = sum(counts[term] <= RARE for term in shared)
            beside = text.heading_above(start) == text.heading_above(quote.start)
            if rare >= LEAST_SHARED or (beside and shared):
                place = {"start": start, "end": start + len(caption)}
                of = {"page": quote.url, "content_hash": quote.content_hash, **place}
                picture = Picture(url=figure.url, caption=caption, evidence_id=quote.id, **of)
                yield rare + beside + len(shared) / 100, picture


def _opening(caption: str, code: str) -> str:
    """Return the first sentences of a caption up to MOST_CAPTION characters."""
    if len(caption) <= MOST_CAPTION:
        return caption
    return caption[: max((b for _, b in sentences(caption, code) if b <= MOST_CAPTION), default=0)]


async def _fetch(context: SessionContext, picture: Picture) -> Picture | None:
    """Store a picture; return it with its file and size, or None if there is none to show."""
    web, request = context.web.limited(MOST_BYTES), Request("picture", {"url": picture.url})
    try:
        fetched = await fetch_recorded(
            context, request, lambda: web.fetch(picture.url, seconds=SECONDS)
        )
        if (header := header_of(fetched.body)) is None:
            return None
        name = f"{hashlib.sha256(fetched.body).hexdigest()}.{header.format}"
        await keep_file(context.folder / FOLDER / name, fetched.body)
    except (SpadeworkError, OSError):
        return None
    size = {"width": header.width, "height": header.height}
    return picture.model_copy(update={"name": name, **size})

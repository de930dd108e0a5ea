"""Fetch pictures for a report: figures whose captions match a quote that the report cites."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import takewhile

from spadework.deadline import Late
from spadework.errors import SpadeworkError
from spadework.graph.context import SessionContext
from spadework.graph.pages.fetch import fetch_recorded
from spadework.graph.state import ResearchState
from spadework.tools.export.sheet import PICTURE_BYTES, PICTURE_FOLDER, header_of
from spadework.tools.extract.extracted import Link
from spadework.tools.stores.exchanges import Request
from spadework.tools.stores.journal_rows import keep_file
from spadework.tools.text.language import spoken
from spadework.tools.text.page_text import PageText
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.text.sentences import sentences
from spadework.tools.text.terms import terms
from spadework.values import Evidence, Picture

#: Maximum pictures in a report, maximum characters in a caption, and maximum seconds for choosing
#: the pictures and for fetching each one.
MOST, MOST_CAPTION, CHOOSING, SECONDS = 4, 400, 2.0, 6.0
#: A word is rare if it occurs at most RARE times on its page. A caption fits a quote if they share
#: at least LEAST_SHARED rare words.
RARE, LEAST_SHARED = 5, 2


async def fetch_pictures(context: SessionContext, state: ResearchState) -> tuple[Picture, ...]:
    """Fetch, store and return a report's pictures, best first, or () if the limits allow none."""
    choose, shape = partial(_choose, context, state), tuple[Picture, ...] | None
    # A result equal to the default is not recorded. With the default None, the choice of no
    # pictures, (), is recorded too.
    chosen = await context.journal.moment("pictures", "", shape, choose, None)
    fetched = await asyncio.gather(*(_fetch(context, picture) for picture in chosen or ()))
    return tuple(picture for picture in fetched if picture)


async def _choose(context: SessionContext, state: ResearchState) -> tuple[Picture, ...] | None:
    budget = context.budget
    hurried = context.quick or context.stop.is_set() or budget.ended_by()
    if hurried or budget.reckoned("read") < CHOOSING + SECONDS:
        return ()
    cited = {citation.evidence_id for citation in state.get("citations", [])}
    quotes = [e for e in state.get("evidence", []) if e.id in cited]
    figures = {url: await context.figures.of(url) for url in dict.fromkeys(e.url for e in quotes)}
    quotes = [e for e in quotes if figures[e.url]]
    texts = await context.pages.texts(e.content_hash for e in quotes)
    fit = partial(_fitting_figures, state["plan"].question, quotes, figures, texts)
    best: dict[str, Picture] = {}
    for _, picture in await context.run_in_time(CHOOSING, "pictures", fit):
        best.setdefault(picture.url, picture)
    return tuple(best.values())[:MOST]


def _fitting_figures(
    asked: str,
    quotes: Sequence[Evidence],
    figures: Mapping[str, Sequence[Link]],
    texts: Mapping[str, PageText],
    late: Late,
) -> list[tuple[float, Picture]]:
    """Return the figures whose captions fit a quote and the question."""
    found: list[tuple[float, Picture]] = []

    @cache
    def words(said: str, code: str) -> Counter[str]:
        return Counter(terms(said, code))

    @cache
    def captions(url: str, text: PageText, code: str) -> list[tuple[str, str, str]]:
        return [
            (figure.url, caption, text.heading_above(start))
            for figure in figures[url]
            if not late()
            and (caption := _first_words(figure.text, code))
            and (start := text.find(figure.text)) >= 0
            and not is_injection(caption)
            and words(caption, code).keys() & words(asked, code).keys()
        ]

    for quote in takewhile(lambda _: not late(), quotes):
        text, code = texts.get(quote.content_hash, PageText()), spoken(quote.quote)
        for url, caption, above in captions(quote.url, text, code):
            shared = words(caption, code).keys() & words(quote.quote, code).keys()
            rare = sum(words(text, code)[term] <= RARE for term in shared)
            beside = above == text.heading_above(quote.start)
            if rare >= LEAST_SHARED or (beside and shared):
                picture = Picture(url=url, page=quote.url, caption=caption, evidence_id=quote.id)
                found.append((rare + beside + len(shared) / 100, picture))
    return sorted(found, key=lambda one: -one[0])


def _first_words(caption: str, code: str) -> str:
    if len(caption) <= MOST_CAPTION:
        return caption
    return caption[: max((b for _, b in sentences(caption, code) if b <= MOST_CAPTION), default=0)]


async def _fetch(context: SessionContext, picture: Picture) -> Picture | None:
    web, request = context.web.limited(PICTURE_BYTES), Request("picture", {"url": picture.url})
    try:
        fetch = partial(web.fetch, picture.url, seconds=SECONDS)
        fetched = await fetch_recorded(context, request, fetch)
        if (header := header_of(fetched.body)) is None:
            return None
        name = f"{hashlib.sha256(fetched.body).hexdigest()}.{header.format}"
        await keep_file(context.folder / PICTURE_FOLDER / name, fetched.body)
    except (SpadeworkError, OSError):
        return None
    return picture.model_copy(update={"name": name})

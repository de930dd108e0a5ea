"""Distilling: which passages of the pages are worth judging for a topic, by what it asks for: text,
a figure, or rows of a table.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from spadework.agents.shown import Shown
from spadework.graph.desk import Desk
from spadework.graph.state import Find
from spadework.tools.inline import one_line
from spadework.tools.orders import is_order
from spadework.tools.passages import Block, blocks, cut, heading_at, headings
from spadework.tools.retrieve import Bm25
from spadework.tools.tables import Span, cells, header_of, rows_of
from spadework.tools.text.detect import spoken
from spadework.values import Expected, Need, Page, Passage, Task, Topic

#: What the title of a page and the headings above a passage count beside its own words: they are
#: repeated this often.
HEADING_WEIGHT = 2
#: How much the rank of its page adds to a passage's score, at most, as a share.
PAGE_PRIOR = 0.5
#: Passages of one page at most, so that one long page does not crowd out the others.
PER_PAGE = 12
#: Characters of a token, roughly: what is shown is counted later.
TOKEN_CHARS = 4
#: A table with more characters than this is judged in runs of rows: as one passage it would leave
#: no room for others, or find none.
MOST_TABLE_CHARS = 4_000
#: How much a passage with what the topic needs, a figure or a table, is preferred.
NEEDED = 1.5


class Room(NamedTuple):
    """How many characters of passages may be shown, and how many passages of one page."""

    chars: int
    per_page: int


#: Without a model more passages can be judged, since reading them costs nothing.
EXTRACTIVE = Room(400_000, 60)


class Cut(NamedTuple):
    """A stretch of a page with its text, the headings above it, the rank of its page from 0, and
    the page's language.
    """

    content_hash: str
    start: int
    end: int
    text: str
    above: str
    rank: int
    language: str


async def distilled(
    desk: Desk, topic: Topic, pages: Sequence[Page], *, by_model: bool
) -> list[Passage]:
    """The best passages of `pages`, best page first, for `topic`; as many as the assessor may
    see, who is a model or code.
    """
    texts = {page.content_hash: await desk.pages.get(page.content_hash) for page in pages}

    def work() -> list[Passage]:
        cuts = [
            made
            for rank, page in enumerate(pages)
            for made in cuts_of(page, texts[page.content_hash], rank, desk.settings.passage_chars)
        ]
        return ranked([topic], cuts, _room(desk, by_model=by_model))[topic.name]

    return await asyncio.to_thread(work)


async def pooled(
    desk: Desk,
    tasks: Sequence[Task],
    finds: Sequence[Find],
    pages: Mapping[str, Page],
    shown_before: Sequence[Passage],
) -> dict[str, list[Passage]]:
    """For the topic of each task of the newest round the best passages to judge it by: a page read
    for one topic may answer another.

    In the first round they are those that any worker found. Without a model, which reads them for
    nothing, those of all rounds: what is quoted is chosen anew. With one, a gap is searched in all
    pages that were read, too, but what was shown for a topic is not shown for it again.
    """
    by_model = desk.judging is not None
    rounds = [find.round for find in finds] or [0]
    newest, first = max(rounds), min(rounds)
    places = {
        (p.content_hash, p.start, p.end)
        for find in finds
        if not desk.model or find.round == newest
        for p in find.passages
    }
    known = {page.content_hash: page for page in pages.values()}
    order = sorted(known.values(), key=lambda page: -page.rrf)
    texts = {page.content_hash: await desk.pages.get(page.content_hash) for page in order}

    def work() -> dict[str, list[Passage]]:
        cuts = [
            made
            for rank, page in enumerate(order)
            for made in cuts_of(page, texts[page.content_hash], rank, desk.settings.passage_chars)
        ]
        if not by_model or newest == first:
            found = _once([made for made in cuts if made[:3] in places])
            return ranked([task.topic for task in tasks], found, _room(desk, by_model=by_model))
        seen = {
            task.topic.name: {
                texts[p.content_hash][p.start : p.end]
                for p in shown_before
                if p.topic == task.topic.name and p.content_hash in texts
            }
            for task in tasks
        }
        return _for_gaps(tasks, _once(cuts), seen, _room(desk, by_model=True))

    return await asyncio.to_thread(work)


def _for_gaps(
    tasks: Sequence[Task], cuts: Sequence[Cut], seen: Mapping[str, set[str]], room: Room
) -> dict[str, list[Passage]]:
    """For each topic the passages that fit best what is asked of it now, without those seen."""
    text = {cut[:3]: cut.text for cut in cuts}
    topics = [
        task.topic.model_copy(update={"queries": task.queries or task.topic.queries})
        for task in tasks
    ]
    index = _index(cuts)
    return {
        topic.name: _within(
            [
                p
                for p in _passages(topic, cuts, index)
                if text[p.content_hash, p.start, p.end] not in seen[topic.name]
            ],
            room,
        )
        for topic in topics
    }


def ranked(topics: Sequence[Topic], cuts: Sequence[Cut], room: Room) -> dict[str, list[Passage]]:
    """For each topic the best of `cuts`, for which there is room."""
    index = _index(cuts)
    return {topic.name: _within(_passages(topic, cuts, index), room) for topic in topics}


def _index(cuts: Sequence[Cut]) -> Bm25:
    texts = [f"{one.above} " * HEADING_WEIGHT + one.text for one in cuts]
    return Bm25(texts, [one.language for one in cuts])


def _once(cuts: Sequence[Cut]) -> list[Cut]:
    """The first cut of each text: one that stands in two pages is shown once."""
    first: dict[str, Cut] = {}
    for one in cuts:
        first.setdefault(one.text, one)
    return list(first.values())


def _room(desk: Desk, *, by_model: bool) -> Room:
    """What the assessor of a topic may see."""
    chars = desk.settings.window_tokens * TOKEN_CHARS
    return Room(chars, PER_PAGE) if by_model else EXTRACTIVE


def shown(page: Page, text: str, passage: Passage) -> Shown:
    """A passage with its text and the headings above it."""
    above, columns = heading_above(text, passage.start), columns_at(text, passage.start)
    return Shown(
        page, passage.start, text[passage.start : passage.end], above, columns, passage.score
    )


def heading_above(text: str, at: int) -> str:
    """The path of headings above a place in a text; one that speaks to machines is none."""
    return heading_at(_headings(text), at)


@lru_cache(maxsize=256)
def _headings(text: str) -> list[tuple[int, int, str]]:
    """The headings of a text, found once however many of its passages are shown."""
    return [found for found in headings(text) if not is_order(found[2])]


def cuts_of(page: Page, text: str, rank: int, passage_chars: int) -> list[Cut]:
    """The passages of a page, by the rank of the page from 0."""
    found, code = _headings(text), spoken(text)
    pieces = [
        piece for span in cut(text, passage_chars) for piece in _runs(text, span, passage_chars)
    ]
    return [
        Cut(
            page.content_hash,
            start,
            end,
            text[start:end],
            f"{page.title} {heading_at(found, start)} {columns_at(text, start)}",
            rank,
            code,
        )
        for start, end in pieces
    ]


def _runs(text: str, span: tuple[int, int], most: int) -> list[tuple[int, int]]:
    """A passage, or where a long table makes it too long, what stands around the table and runs of
    its rows.
    """
    start, end = span
    if end - start <= max(MOST_TABLE_CHARS, most):
        return [span]
    made: list[tuple[int, int]] = []
    for block in blocks_of(text):
        if block.end <= start or block.start >= end:
            continue
        parts = rows_of(text, block) if block.kind == "table" else [(block.start, block.end)]
        for first, last in parts:
            if (
                made
                and block.kind == "table"
                and made[-1][0] >= block.start
                and last - made[-1][0] <= most
            ):
                made[-1] = (made[-1][0], last)
            else:
                made.append((max(first, start), min(last, end)))
    return made


def columns_at(text: str, start: int) -> str:
    """The row with the names of the columns on one line, as short as a title, where a passage
    begins among the rows below it; else "".
    """
    found = blocks_of(text)
    nearest = found[max(0, bisect_right(found, start, key=lambda block: block.start) - 1)]
    header = (
        names_at(text, nearest)
        if nearest.kind == "table" and nearest.start < start < nearest.end
        else None
    )
    return one_line(text[slice(*header)]) if header and header[1] <= start else ""


@lru_cache(maxsize=256)
def names_at(text: str, table: Block) -> Span | None:
    """Where the names of the columns of a table stand; None without names, or where one speaks to
    machines. Found once a table.
    """
    header = header_of(text, table)
    names = cells(text[slice(*header)]) if header else []
    return None if any(map(is_order, [" ".join(names), *names])) else header


@lru_cache(maxsize=256)
def blocks_of(text: str) -> list[Block]:
    """The blocks of a text, found once however many passages and quotes stand in it."""
    return blocks(text)


#: What a passage holds that gives what is needed: any figure, the line of a table, nothing that
#: counts.
_HOLDS: dict[Need, re.Pattern[str]] = {
    "count": re.compile(r"\d"),
    "table": re.compile(r"^ {0,3}\|.*\|\s*$", re.MULTILINE),
    "text": re.compile(r"(?!)"),
}
#: What a topic needs of a page, by what it expects.
_NEEDS: dict[Expected, Need] = {
    "number": "count",
    "date": "count",
    "rows": "table",
    "both sides": "table",
}


def need_of(topic: Topic) -> Need:
    """What a topic needs of a page: "count" a figure, "table" rows, else "text"."""
    return _NEEDS.get(topic.expects, "text")


def _passages(topic: Topic, cuts: Sequence[Cut], index: Bm25) -> list[Passage]:
    query = " ".join([topic.question, *topic.must_cover, *(q.text for q in topic.queries)])
    holds = _HOLDS[need_of(topic)]
    made = [
        Passage(
            content_hash=c.content_hash,
            start=c.start,
            end=c.end,
            topic=topic.name,
            score=_score(s, c, holds),
        )
        for s, c in zip(index.scores(query), cuts, strict=True)
        if s > 0
    ]
    return sorted(made, key=lambda p: -p.score)


def _score(score: float, one: Cut, holds: re.Pattern[str]) -> float:
    return round(
        score * (1 + PAGE_PRIOR / (1 + one.rank)) * (NEEDED if holds.search(one.text) else 1.0), 4
    )


def _within(passages: Sequence[Passage], room: Room) -> list[Passage]:
    """The first passages for which there is room."""
    kept: list[Passage] = []
    used = 0
    of_page = Counter[str]()
    for passage in passages:
        length = passage.end - passage.start
        if used + length <= room.chars and of_page[passage.content_hash] < room.per_page:
            kept.append(passage)
            used += length
            of_page[passage.content_hash] += 1
    return kept

"""Distilling pages: the passages worth judging for a topic, and how many a model is shown."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from spadework.agents.evidence.passages import Judgement, PassageView
from spadework.agents.llm.client import Model
from spadework.deadline import ACCELERATE
from spadework.graph.context import SessionContext
from spadework.graph.pages.chunks import Cut, cuts_of
from spadework.graph.state import Find
from spadework.tools.ranking.bm25 import Bm25
from spadework.tools.text.cleanliness import tells
from spadework.tools.text.tokens import count
from spadework.values import Evidence, Expected, Need, Page, Passage, Problem, Task, Topic

#: Share of its time in which a slow model reads, the rest being for its answer; and the minimum
#: tokens.
READING_SHARE, LEAST_ROOM = 0.5, 1_000


class Looked(NamedTuple):
    """The result of judging a round: a judgement per topic in order, new ledger entries, the
    passages shown, and problems.
    """

    judgements: list[Judgement]
    added: list[Evidence]
    shown: list[Passage]
    problems: list[Problem]


async def readable(model: Model, room: int, seconds: float, share: int = 1) -> int:
    """Return how many of `room` tokens the model can read in time, divided among `share` calls."""
    speed = await model.speed("assessor")
    most = int(READING_SHARE * seconds * speed / max(1, share)) if speed else room
    return max(LEAST_ROOM, min(room, most))


def room_of(topics: int, most: int, together: int) -> int:
    """Return the tokens of pages per topic: at most `most`, and `together` for all."""
    return min(most, together // max(1, topics))


def first_within(parts: Sequence[PassageView], room: int) -> list[PassageView]:
    """Return the first views that fit in `room` tokens."""
    used = accumulate(count(part.text) for part in parts)
    return [part for part, sum_ in zip(parts, used, strict=True) if sum_ <= room]


#: Weight of the page title and headings relative to a passage's own words.
HEADING_WEIGHT = 2
#: Characters of the longest passage, except for code and tables.
PASSAGE_CHARS = 1_500
#: Maximum share that its page's rank adds to a passage's score.
PAGE_PRIOR = 0.5
#: Maximum passages per page, so that a long page does not crowd out others.
PER_PAGE = 12
#: Passages below this share of the best score are not shown to a model. On both halves of
#: benchmarks/answers.py (146 questions) the window keeps its facts (324 of 329, 331 of 338) in 75 %
#: and 65 % of the tokens; at .2 one is lost, at .4 ten.
FLOOR = 0.15
#: Tokens of passages shown regardless of score: contrary statements are rarely worded like the
#: question.
FILL = 3_000
#: Share of the best score from which a passage closer to another topic is shown too.
SHARED = 0.5
#: Approximate characters per token; exact counting follows.
TOKEN_CHARS = 4
#: Maximum share of the room for one passage, so that a module's code does not fill it.
MOST_OF_ONE = 0.25
#: Factor for passages with what the topic needs, a figure or a table.
NEEDED = 1.5


class Room(NamedTuple):
    """Limits of the passages shown: characters, passages per page, minimum share of the best score
    beyond the first `fill` characters, the share from which passages closer to other topics count;
    `each`: the best passage of every page first.
    """

    chars: int
    per_page: int
    floor: float = 0.0
    fill: int = 0
    shared: float = 0.0
    each: bool = False

    @property
    def hurried(self) -> Room:
        """Half of it, when time is short."""
        return self._replace(chars=self.chars // 2, per_page=self.per_page // 2)


#: Without a model more passages can be judged, since reading is free.
EXTRACTIVE = Room(400_000, 60)


async def distil_pages(
    context: SessionContext, topic: Topic, pages: Sequence[Page], *, by_model: bool
) -> list[Passage]:
    """Return the best passages of `pages` for a topic, best page first, as many as its assessor
    sees.
    """
    texts = {page.content_hash: await context.pages.get(page.content_hash) for page in pages}
    room = await _room(context, f"distil {topic.name}", by_model=by_model)

    def work() -> list[Passage]:
        cuts = _cut_pages(pages, texts, PASSAGE_CHARS)
        return rank_passages([topic], _informative(cuts, room) if by_model else cuts, room)[
            topic.name
        ]

    return await asyncio.to_thread(work)


async def pool_passages(
    context: SessionContext,
    tasks: Sequence[Task],
    finds: Sequence[Find],
    pages: Mapping[str, Page],
    shown_before: Sequence[Passage],
) -> dict[str, list[Passage]]:
    """Return the best passages of all pages for each topic in a task of the latest round.

    In the first round these are the workers' passages; where code judges, which reads for free,
    those of all rounds. Where a model judges, gaps are searched in all pages read, without what was
    shown for the topic before.
    """
    by_model = context.judging is not None
    rounds = [find.round for find in finds] or [0]
    newest, first = max(rounds), min(rounds)
    places = {(p.content_hash, p.start, p.end) for find in finds for p in find.passages}
    known = {page.content_hash: page for page in pages.values()}
    order = sorted(known.values(), key=lambda page: -page.rrf)
    texts = {page.content_hash: await context.pages.get(page.content_hash) for page in order}
    anew = not by_model or newest == first
    room = await _room(context, f"pool {newest}", by_model=by_model, first=anew)

    def work() -> dict[str, list[Passage]]:
        cuts = _cut_pages(order, texts, PASSAGE_CHARS)
        if anew:
            found = _distinct([made for made in cuts if made[:3] in places])
            return rank_passages([task.topic for task in tasks], found, room)
        seen = {
            task.topic.name: {
                texts[p.content_hash][p.start : p.end]
                for p in shown_before
                if p.topic == task.topic.name and p.content_hash in texts
            }
            for task in tasks
        }
        # The current questions of the topics.
        topics = [
            task.topic.model_copy(update={"queries": task.queries or task.topic.queries})
            for task in tasks
        ]
        return rank_passages(topics, _distinct(_informative(cuts, room)), room, seen)

    return await asyncio.to_thread(work)


def _cut_pages(pages: Sequence[Page], texts: Mapping[str, str], chars: int) -> list[Cut]:
    return [
        made
        for rank, page in enumerate(pages)
        for made in cuts_of(page, texts[page.content_hash], rank, chars)
    ]


def _informative(cuts: Sequence[Cut], room: Room) -> list[Cut]:
    """Return the cuts shown to a model: more than headings, contents or menus, and small enough to
    leave room (benchmarks/window.py).
    """
    most = MOST_OF_ONE * room.chars
    return [one for one in cuts if len(one.text) <= most and tells(one.text)]


def rank_passages(
    topics: Sequence[Topic],
    cuts: Sequence[Cut],
    room: Room,
    seen: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[str, list[Passage]]:
    """Return for each topic the best `cuts` that fit, without texts already `seen` for it: if those
    were the best, little is left.
    """
    texts = [f"{one.above} " * HEADING_WEIGHT + one.text for one in cuts]
    index = Bm25(texts, [one.language for one in cuts])
    near = {topic.name: keep_near(_passages(topic, cuts, index), room) for topic in topics}
    text_at = {(one.content_hash, one.start): one.text for one in cuts}
    return {
        name: _first_passages(
            [p for p in passages if text_at[p.content_hash, p.start] not in seen.get(name, ())],
            room,
        )
        for name, passages in _apart(near, room.shared).items()
    }


def _apart(
    found: Mapping[str, Sequence[Passage]], shared: float
) -> Mapping[str, Sequence[Passage]]:
    """Drop passages closer to another topic, unless they reach the shared fraction of the best
    score: what serves several topics is shown to each.
    """
    best = {name: max((p.score for p in of), default=0.0) for name, of in found.items()}
    nearest: dict[tuple[str, int], float] = {}
    for name, passages in found.items():
        for p in passages:
            place = (p.content_hash, p.start)
            nearest[place] = max(nearest.get(place, 0.0), p.score / best[name])
    return {
        name: [
            p
            for p in passages
            if p.score / best[name] >= min(shared, nearest[p.content_hash, p.start])
        ]
        for name, passages in found.items()
    }


def _distinct(cuts: Sequence[Cut]) -> list[Cut]:
    first: dict[str, Cut] = {}
    for one in cuts:
        first.setdefault(one.text, one)
    return list(first.values())


async def _room(context: SessionContext, at: str, *, by_model: bool, first: bool = True) -> Room:
    """Return what a topic's assessor may see `at` a step of the run: at deep effort, in the `first`
    round, as much as several calls read; later, and when time is short, half.
    """
    room = EXTRACTIVE
    if by_model:
        many = first and context.deep
        tokens = context.settings.shown_tokens if many else context.settings.window_tokens
        room = Room(tokens * TOKEN_CHARS, PER_PAGE, FLOOR, FILL * TOKEN_CHARS, SHARED, each=many)
        # Of what a later round showed, a strong model used 3 %.
        room = room if first else room.hurried
    return room.hurried if await context.narrowed(ACCELERATE, at) else room


#: What a passage needs to contain: any figure, or a table line.
_HOLDS: dict[Need, re.Pattern[str]] = {
    "count": re.compile(r"\d"),
    "table": re.compile(r"^ {0,3}\|.*\|\s*$", re.MULTILINE),
    "text": re.compile(r"(?!)"),
}
#: What a topic needs of a page, by its expected answer.
_NEEDS: dict[Expected, Need] = {
    "number": "count",
    "date": "count",
    "rows": "table",
    "both sides": "table",
}


def need_of(topic: Topic) -> Need:
    """Return what a topic needs of a page: "count" a figure, "table" rows, else "text"."""
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
            score=round(
                s * (1 + PAGE_PRIOR / (1 + c.rank)) * (NEEDED if holds.search(c.text) else 1.0), 4
            ),
        )
        for s, c in zip(index.scores(query), cuts, strict=True)
        if s > 0
    ]
    return sorted(made, key=lambda p: -p.score)


def keep_near(passages: Sequence[Passage], room: Room) -> list[Passage]:
    """Return the passages close to the best, or as many as fill the minimum."""
    least = room.floor * max((p.score for p in passages), default=0.0)
    before = accumulate((p.end - p.start for p in passages), initial=0)
    return [
        p for p, used in zip(passages, before, strict=False) if p.score >= least or used < room.fill
    ]


def _first_passages(passages: Sequence[Passage], room: Room) -> list[Passage]:
    kept: list[Passage] = []
    used = 0
    of_page = Counter[str]()
    best: dict[str, Passage] = {}
    for passage in passages:
        best.setdefault(passage.content_hash, passage)
    order = [*best.values(), *(p for p in passages if best[p.content_hash] is not p)]
    for passage in order if room.each else passages:
        length = passage.end - passage.start
        if used + length <= room.chars and of_page[passage.content_hash] < room.per_page:
            kept.append(passage)
            used += length
            of_page[passage.content_hash] += 1
    return sorted(kept, key=lambda p: -p.score) if room.each else kept

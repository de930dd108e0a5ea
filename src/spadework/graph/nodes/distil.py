"""Distil pages: the passages worth judging for a topic, and how many a model is shown."""

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

#: Share of its time in which a slow model reads, the rest being for its answer; the least it reads.
READING_SHARE, LEAST_ROOM = 0.5, 1_000


class Looked(NamedTuple):
    """What a look at the pages of a round brought: a judgement for each topic in their order, the
    new entries of the ledger, the passages that were shown, and what went wrong.
    """

    judgements: list[Judgement]
    added: list[Evidence]
    shown: list[Passage]
    problems: list[Problem]


async def readable(model: Model, room: int, seconds: float, share: int = 1) -> int:
    """Of so many tokens those that the model reads in its time, which `share` calls share."""
    speed = await model.speed("assessor")
    most = int(READING_SHARE * seconds * speed / max(1, share)) if speed else room
    return max(LEAST_ROOM, min(room, most))


def room_of(topics: int, most: int, together: int) -> int:
    """Tokens of pages that each of some topics may show: `most`, all of them `together` no more."""
    return min(most, together // max(1, topics))


def fitting(parts: Sequence[PassageView], room: int) -> list[PassageView]:
    """The first of what is shown, in `room` tokens."""
    used = accumulate(count(part.text) for part in parts)
    return [part for part, sum_ in zip(parts, used, strict=True) if sum_ <= room]


#: How often the title of a page and the headings above count beside a passage's own words.
HEADING_WEIGHT = 2
#: How much the rank of its page adds to a passage's score, at most, as a share.
PAGE_PRIOR = 0.5
#: Passages of one page at most, so that one long page does not crowd out the others.
PER_PAGE = 12
#: Passages with a smaller share of the best one's score are not shown to a model. On the two halves
#: of the questions of benchmarks/answers.py (146) the window holds the same facts of its ten pages
#: as without it (324 of 329, 331 of 338) in 75 and 65 of 100 tokens; with .2 one is lost, with .4
#: ten.
FLOOR = 0.15
#: Tokens of passages that are shown wherever there are so many, also far below the best: what says
#: otherwise about a matter is seldom worded as the question is.
FILL = 3_000
#: A passage that is nearer to another topic is shown for a topic, too, from this share of the best
#: one's score on.
SHARED = 0.5
#: Characters of a token, roughly: what is shown is counted later.
TOKEN_CHARS = 4
#: The share of its room that one passage may take, so that the code of a module does not fill it.
MOST_OF_ONE = 0.25
#: How much a passage with what the topic needs, a figure or a table, is preferred.
NEEDED = 1.5


class Room(NamedTuple):
    """How many characters of passages may be shown, how many passages of one page, and from which
    share of the best one's score, once so many characters are filled; from which share those that
    are nearer to another topic; `each`: of every page the best first.
    """

    chars: int
    per_page: int
    floor: float = 0.0
    fill: int = 0
    shared: float = 0.0
    each: bool = False

    @property
    def hurried(self) -> Room:
        """Half of it, where time is short."""
        return self._replace(chars=self.chars // 2, per_page=self.per_page // 2)


#: Without a model more passages can be judged, since reading them costs nothing.
EXTRACTIVE = Room(400_000, 60)


async def distil_pages(
    context: SessionContext, topic: Topic, pages: Sequence[Page], *, by_model: bool
) -> list[Passage]:
    """The best passages of `pages`, best page first, for a topic: as many as its assessor sees."""
    texts = {page.content_hash: await context.pages.get(page.content_hash) for page in pages}
    room = await _room(context, f"distil {topic.name}", by_model=by_model)

    def work() -> list[Passage]:
        cuts = _cut_pages(pages, texts, context.settings.passage_chars)
        return rank_passages([topic], _telling(cuts, room) if by_model else cuts, room)[topic.name]

    return await asyncio.to_thread(work)


async def pool_passages(
    context: SessionContext,
    tasks: Sequence[Task],
    finds: Sequence[Find],
    pages: Mapping[str, Page],
    shown_before: Sequence[Passage],
) -> dict[str, list[Passage]]:
    """Return the best passages of the pages of all topics, by topic of a task of the newest round.

    In the first round they are those that any worker found, and where code judges, which reads them
    for nothing, those of all rounds. Where a model judges, a gap is searched in all pages that were
    read, and what was shown for a topic is not shown for it again.
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
        cuts = _cut_pages(order, texts, context.settings.passage_chars)
        if anew:
            found = _once([made for made in cuts if made[:3] in places])
            return rank_passages([task.topic for task in tasks], found, room)
        seen = {
            task.topic.name: {
                texts[p.content_hash][p.start : p.end]
                for p in shown_before
                if p.topic == task.topic.name and p.content_hash in texts
            }
            for task in tasks
        }
        # What is asked of the topics now.
        topics = [
            task.topic.model_copy(update={"queries": task.queries or task.topic.queries})
            for task in tasks
        ]
        return rank_passages(topics, _once(_telling(cuts, room)), room, seen)

    return await asyncio.to_thread(work)


def _cut_pages(pages: Sequence[Page], texts: Mapping[str, str], chars: int) -> list[Cut]:
    return [
        made
        for rank, page in enumerate(pages)
        for made in cuts_of(page, texts[page.content_hash], rank, chars)
    ]


def _telling(cuts: Sequence[Cut], room: Room) -> list[Cut]:
    """The cuts that a model is shown: those that are more than headings, contents or menus, and
    leave room for others (benchmarks/window.py).
    """
    most = MOST_OF_ONE * room.chars
    return [one for one in cuts if len(one.text) <= most and tells(one.text)]


def rank_passages(
    topics: Sequence[Topic],
    cuts: Sequence[Cut],
    room: Room,
    seen: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[str, list[Passage]]:
    """Return for each topic the best of `cuts` for which there is room, but for the texts that were
    `seen` for it: where these were the best, there is little left that is worth showing.
    """
    texts = [f"{one.above} " * HEADING_WEIGHT + one.text for one in cuts]
    index = Bm25(texts, [one.language for one in cuts])
    near = {topic.name: keep_near(_passages(topic, cuts, index), room) for topic in topics}
    text_at = {(one.content_hash, one.start): one.text for one in cuts}
    return {
        name: _within(
            [p for p in passages if text_at[p.content_hash, p.start] not in seen.get(name, ())],
            room,
        )
        for name, passages in _apart(near, room.shared).items()
    }


def _apart(
    found: Mapping[str, Sequence[Passage]], shared: float
) -> Mapping[str, Sequence[Passage]]:
    """Return the passages of each topic without those that are nearer to another one, unless they
    have such a share of the best one's score: what serves several topics is shown to those it
    serves well.
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


def _once(cuts: Sequence[Cut]) -> list[Cut]:
    """The first cut of each text: one that stands in two pages is shown once."""
    first: dict[str, Cut] = {}
    for one in cuts:
        first.setdefault(one.text, one)
    return list(first.values())


async def _room(context: SessionContext, at: str, *, by_model: bool, first: bool = True) -> Room:
    """What the assessor of a topic may see `at` a step of the run; in deep effort, in the `first`
    round, as much as is read in several calls. In a further one, and where time is short, half.
    """
    room = EXTRACTIVE
    if by_model:
        many = first and context.deep
        tokens = context.settings.shown_tokens if many else context.settings.window_tokens
        room = Room(tokens * TOKEN_CHARS, PER_PAGE, FLOOR, FILL * TOKEN_CHARS, SHARED, each=many)
        # Of what a further round showed, a strong model used three parts in a hundred.
        room = room if first else room.hurried
    return room.hurried if await context.narrowed(ACCELERATE, at) else room


#: What a passage holds that gives what is needed: any figure, the line of a table.
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
            score=round(
                s * (1 + PAGE_PRIOR / (1 + c.rank)) * (NEEDED if holds.search(c.text) else 1.0), 4
            ),
        )
        for s, c in zip(index.scores(query), cuts, strict=True)
        if s > 0
    ]
    return sorted(made, key=lambda p: -p.score)


def keep_near(passages: Sequence[Passage], room: Room) -> list[Passage]:
    """Those that are not far worse than the best, or as many as fill a little of the room."""
    least = room.floor * max((p.score for p in passages), default=0.0)
    before = accumulate((p.end - p.start for p in passages), initial=0)
    return [
        p for p, used in zip(passages, before, strict=False) if p.score >= least or used < room.fill
    ]


def _within(passages: Sequence[Passage], room: Room) -> list[Passage]:
    """Return the first passages for which there is room."""
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

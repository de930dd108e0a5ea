"""Split pages into passages, and choose which to judge for each topic."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from spadework.agents.evidence.passages import Judgement, PassageView
from spadework.agents.llm.client import Model
from spadework.deadline import ACCELERATE, Late
from spadework.graph.context import SessionContext
from spadework.graph.state import Find
from spadework.settings import Effort, Settings
from spadework.tools.ranking.relevance import Bm25
from spadework.tools.text.language import spoken
from spadework.tools.text.page_text import PageText
from spadework.tools.text.passages import cut
from spadework.tools.text.sentences import tells
from spadework.tools.text.tables import rows_of
from spadework.tools.text.tokens import count
from spadework.values import Evidence, Expected, Need, Page, Passage, Problem, Task, Topic

#: A model may spend at most READING_SHARE of the available time on reading, but is shown at least
#: LEAST_ROOM tokens, however slow it is.
READING_SHARE, LEAST_ROOM = 0.5, 1_000
#: Tables with more characters than this are split into several passages, because one huge passage
#: might not fit in the prompt.
MOST_TABLE_CHARS = 4_000


class Looked(NamedTuple):
    """The result of judging a round. `shown` are the passages that a model saw."""

    judgements: list[Judgement]
    added: list[Evidence]
    shown: list[Passage]
    problems: list[Problem]


async def readable(model: Model, room: int, seconds: float, share: int = 1) -> int:
    """Return how many tokens, LEAST_ROOM to `room`, each of `share` calls can read in time."""
    speed = await model.speed("assessor")
    most = int(READING_SHARE * seconds * speed / max(1, share)) if speed else room
    return max(LEAST_ROOM, min(room, most))


#: Maximum tokens of page text shown to a model per round. At deep effort, several calls share this
#: amount.
SHOWN_TOKENS: dict[Effort, int] = {"quick": 100_000, "normal": 100_000, "deep": 200_000}
#: Maximum tokens of page text shown to a model per topic. Models that are slow or have a small
#: context get fewer.
WINDOW_TOKENS: dict[Effort, int] = {"quick": 8_000, "normal": 8_000, "deep": 24_000}


def room_of(topics: int, settings: Settings) -> int:
    """Return the maximum tokens of page text per topic."""
    return min(WINDOW_TOKENS[settings.effort], SHOWN_TOKENS[settings.effort] // max(1, topics))


def first_within(parts: Sequence[PassageView], room: int) -> list[PassageView]:
    """Return the first passages that fit in `room` tokens."""
    used = accumulate(count(part.text) for part in parts)
    return [part for part, sum_ in zip(parts, used, strict=True) if sum_ <= room]


#: Words in the page title and headings above a passage count this many times as much as words in
#: the passage.
HEADING_WEIGHT = 2
#: Maximum characters of a passage, except code and tables.
PASSAGE_CHARS = 1_500
#: A page's rank raises its passages' scores by at most this fraction.
PAGE_PRIOR = 0.5
#: Maximum passages per page, so that long pages leave room for others.
PER_PAGE = 12
#: A passage is shown only if its score is at least this fraction of the topic's best score. On the
#: 146 questions of benchmarks/answers.py, this value loses no fact and reduces the tokens to 75 %
#: in one half of the benchmark and to 65 % in the other. A value of 0.2 loses one fact; 0.4 loses
#: ten.
FLOOR = 0.15
#: Up to this many tokens, passages are shown even if their scores are low, because passages that
#: contradict others are rarely worded like the question.
FILL = 3_000
#: A topic's passage that fits another topic better is shown only if it scores at least this
#: fraction of the topic's best score. With a value of 0.5, three recorded runs lose no cited
#: passage and need 86 % of the tokens.
SHARED = 0.6
#: In a later round, each search contributes the best new passage from at most this many pages.
#: Three recorded runs then keep all 149 cited quotes. If a topic's searches are treated as one
#: search, the runs lose four quotes.
NEW_PAGES = 3
TOKEN_CHARS = 4
#: A passage, such as a long code listing, is dropped if it takes up more than this fraction of the
#: characters that may be shown for a topic.
MOST_OF_ONE = 0.25
#: A passage's score is multiplied by this factor if the passage contains the kind of content that
#: the topic needs, such as a number or a table row.
NEEDED = 1.5
#: Maximum fraction of the assessment time to spend on splitting pages into passages.
SPLITTING = 0.25


class Room(NamedTuple):
    """Limits for the passages to show. `chars` is the total number of characters, and `per_page`
    the number of passages per page. After `fill` characters, a passage needs at least `floor`
    times the topic's best score. If it fits another topic better, it needs `shared` times that
    score. With `each`, every page's best passage comes first.
    """

    chars: int
    per_page: int
    floor: float = 0.0
    fill: int = 0
    shared: float = 0.0
    each: bool = False

    @property
    def hurried(self) -> Room:
        """The same limits with halved sizes, for when time is short."""
        return self._replace(
            chars=self.chars // 2, per_page=self.per_page // 2, fill=self.fill // 2
        )


#: The limits in runs without a model: characters of all passages, and passages per page. They are
#: high, because judging passages then costs nothing.
EXTRACTIVE = Room(400_000, 60)


async def distil_pages(
    context: SessionContext, topic: Topic, pages: Sequence[Page], *, by_model: bool
) -> tuple[list[Passage], list[Problem]]:
    """Return the best passages for a topic, and a problem if not all pages were split in time.
    `by_model` says whether a model will judge the passages.
    """
    texts = {page.content_hash: await context.pages.get(page.content_hash) for page in pages}
    room = await _room(context, f"distil {topic.name}", by_model=by_model)

    def work(late: Late) -> tuple[list[Passage], list[Problem]]:
        cuts, problems = _cut_pages(pages, texts, late, topic.name)
        fitting = _informative(cuts, room) if by_model else cuts
        return rank_passages([topic], fitting, room)[topic.name], problems

    seconds = SPLITTING * context.budget.phase("assess")
    return await context.run_in_time(seconds, ["distil", topic.name, *texts], work)


async def pool_passages(
    context: SessionContext,
    tasks: Sequence[Task],
    finds: Sequence[Find],
    pages: Mapping[str, Page],
    shown_before: Sequence[Passage],
) -> tuple[dict[str, list[Passage]], list[Problem]]:
    """Return the best passages for each topic in the latest round, and the problems. After the
    first round, a model gets only passages that it has not seen.
    """
    by_model = context.judging is not None
    rounds = [find.round for find in finds] or [0]
    newest, first = max(rounds), min(rounds)
    places = {(p.content_hash, p.start, p.end) for find in finds for p in find.passages}
    known = {page.content_hash: page for page in pages.values()}
    order = sorted(known.values(), key=lambda page: -page.rrf)
    texts = {page.content_hash: await context.pages.get(page.content_hash) for page in order}
    anew = not by_model or newest == first
    room = await _room(context, f"pool {newest}", by_model=by_model)

    def work(late: Late) -> tuple[dict[str, list[Passage]], list[Problem]]:
        cuts, problems = _cut_pages(order, texts, late, "all topics")
        if anew:
            found = _distinct([made for made in cuts if made[:3] in places])
            return rank_passages([task.topic for task in tasks], found, room), problems
        seen = {
            (p.topic, texts[p.content_hash][p.start : p.end])
            for p in shown_before
            if p.content_hash in texts
        }
        return rank_new(tasks, _distinct(_informative(cuts, room)), seen), problems

    seconds = SPLITTING * context.budget.phase("assess")
    return await context.run_in_time(seconds, ["pool", newest], work)


def rank_new(
    tasks: Sequence[Task], cuts: Sequence[Cut], seen: Collection[tuple[str, str]]
) -> dict[str, list[Passage]]:
    """Return the best passages in `cuts` for each search, by topic, except the (topic, text) pairs
    in `seen`. A search gets at most one passage per page, and at most NEW_PAGES in total.
    """
    index, found = _index(cuts), dict[str, list[Passage]]()
    for task in tasks:
        name, best = task.topic.name, dict[int, float]()
        new = [n for n, cut in enumerate(cuts) if (name, cut.text) not in seen]
        for query in task.queries or task.again or task.topic.queries:
            scores = index.scores(query.text)
            near = sorted((n for n in new if scores[n] > 0), key=lambda n: (scores[n], -n))
            of_page = {cuts[n].content_hash: n for n in near}
            first = sorted(of_page.values(), key=lambda n: -scores[n])
            best |= {n: scores[n] for n in first[:NEW_PAGES]}
        found[name] = [_passage(name, cuts[n], score) for n, score in best.items()]
    return found


def _passage(topic: str, cut: Cut, score: float) -> Passage:
    digest, start, end = cut[:3]
    return Passage(content_hash=digest, start=start, end=end, topic=topic, score=round(score, 4))


def _cut_pages(
    pages: Sequence[Page], texts: Mapping[str, PageText], late: Late, subject: str
) -> tuple[list[Cut], list[Problem]]:
    made: list[Cut] = []
    for rank, page in enumerate(pages):
        if rank and late():
            left = len(pages) - rank
            reason = f"There was no time to look for passages in {left} of {len(pages)} pages."
            effect = "Nothing is quoted from these pages."
            return made, [Problem(stage="judge", subject=subject, reason=reason, effect=effect)]
        made += cuts_of(page, texts[page.content_hash], rank, PASSAGE_CHARS)
    return made, []


def _informative(cuts: Sequence[Cut], room: Room) -> list[Cut]:
    """Drop passages that are uninformative or too long (see benchmarks/window.py)."""
    most = MOST_OF_ONE * room.chars
    return [one for one in cuts if len(one.text) <= most and tells(one.text)]


def rank_passages(
    topics: Sequence[Topic], cuts: Sequence[Cut], room: Room
) -> dict[str, list[Passage]]:
    """Return the best passages for each topic, within the limits in `room`."""
    index = _index(cuts)
    near = {topic.name: keep_near(_passages(topic, cuts, index), room) for topic in topics}
    return {
        name: _first_passages(passages, room)
        for name, passages in _apart(near, room.shared).items()
    }


def _index(cuts: Sequence[Cut]) -> Bm25:
    texts = [f"{one.above} " * HEADING_WEIGHT + one.text for one in cuts]
    return Bm25(texts, [one.language for one in cuts])


def _apart(
    found: Mapping[str, Sequence[Passage]], shared: float
) -> Mapping[str, Sequence[Passage]]:
    """Drop passages that fit another topic better, if below `shared` times their topic's best."""
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


async def _room(context: SessionContext, at: str, *, by_model: bool) -> Room:
    """Return the limits for the passages to show, which are higher at deep effort."""
    room = EXTRACTIVE
    if by_model:
        deep, window = context.deep, WINDOW_TOKENS[context.settings.effort]
        chars = TOKEN_CHARS * (SHOWN_TOKENS["deep"] if deep else window)
        room = Room(chars, PER_PAGE, FLOOR, FILL * TOKEN_CHARS, SHARED, each=deep)
    return room.hurried if await context.narrowed(ACCELERATE, at) else room


#: Patterns that match what a topic needs: a digit or a table row.
_HOLDS: dict[Need, re.Pattern[str]] = {
    "count": re.compile(r"\d"),
    "table": re.compile(r"^ {0,3}\|.*\|\s*$", re.MULTILINE),
    "text": re.compile(r"(?!)"),
}
#: What a topic's passages should contain, keyed by the kind of answer that the topic expects.
_NEEDS: dict[Expected, Need] = {
    "number": "count",
    "date": "count",
    "rows": "table",
    "both sides": "table",
}


def need_of(topic: Topic) -> Need:
    """Return what a topic needs: "count" (a figure), "table" (rows) or "text"."""
    return _NEEDS.get(topic.expects, "text")


def _passages(topic: Topic, cuts: Sequence[Cut], index: Bm25) -> list[Passage]:
    query = " ".join([topic.question, *topic.must_cover, *(q.text for q in topic.queries)])
    holds = _HOLDS[need_of(topic)]
    made = [
        _passage(topic.name, c, s * (1 + PAGE_PRIOR / (1 + c.rank)) * needed)
        for s, c in zip(index.scores(query), cuts, strict=True)
        for needed in [NEEDED if holds.search(c.text) else 1.0]
        if s > 0
    ]
    return sorted(made, key=lambda p: -p.score)


def keep_near(passages: Sequence[Passage], room: Room) -> list[Passage]:
    """Keep the passages scoring near the best and enough others to reach `room.fill` characters."""
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


class Cut(NamedTuple):
    """A span of a page. `rank` is the page's rank, from 0."""

    content_hash: str
    start: int
    end: int
    text: str
    above: str
    rank: int
    language: str


def show_passage(page: Page, text: PageText, passage: Passage) -> PassageView:
    """Return a passage with its text, headings and column names."""
    above, columns = text.heading_above(passage.start), text.columns_at(passage.start)
    return PassageView(
        page, passage.start, text[passage.start : passage.end], above, columns, passage.score
    )


def join_passages(passages: Sequence[Passage], texts: Mapping[str, PageText]) -> list[Passage]:
    """Join adjacent passages under one heading, so that lists keep their introductions."""
    made = list[Passage]()
    for one in sorted(passages, key=lambda p: (p.content_hash, p.start)):
        last, text = made[-1] if made else one, texts[one.content_hash]
        apart = text[last.end : one.start].strip() or last.content_hash != one.content_hash
        if made and not apart and text.heading_above(last.end) == text.heading_above(one.start):
            score = max(last.score, one.score)
            made[-1] = last.model_copy(update={"end": max(last.end, one.end), "score": score})
        else:
            made.append(one)
    return sorted(made, key=lambda p: -p.score)


def cuts_of(page: Page, text: PageText, rank: int, passage_chars: int) -> list[Cut]:
    """Split a page into passages. `rank` is the page's rank, counted from 0."""
    code = spoken(text)
    pieces = [
        piece for span in cut(text, passage_chars) for piece in _runs(text, span, passage_chars)
    ]
    return [
        Cut(
            page.content_hash,
            start,
            end,
            text[start:end],
            f"{page.title} {text.heading_above(start)} {text.columns_at(start)}",
            rank,
            code,
        )
        for start, end in pieces
    ]


def _runs(text: PageText, span: tuple[int, int], most: int) -> list[tuple[int, int]]:
    start, end = span
    if end - start <= max(MOST_TABLE_CHARS, most):
        return [span]
    made: list[tuple[int, int]] = []
    for block in text.blocks:
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

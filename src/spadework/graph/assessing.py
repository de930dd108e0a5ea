"""Assessing a round: every topic that was searched, all at once, on its best passages; what is
proven goes into the ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spadework.agents.assessor import assess
from spadework.agents.expected import meets
from spadework.agents.quoting import columns_of
from spadework.agents.shortfalls import Standard, shortfalls
from spadework.agents.shown import Judgement, Shown, to_people
from spadework.graph.desk import Desk
from spadework.graph.distilling import blocks_of, heading_above, names_at, shown
from spadework.graph.showing import fitting, room_of
from spadework.graph.state import ResearchState, by_topic
from spadework.tools.blocks import Block
from spadework.tools.definitions import is_term
from spadework.tools.neighbours import neighbours
from spadework.tools.tables import rows_at
from spadework.values import (
    Coverage,
    Evidence,
    EvidenceKind,
    Page,
    Problem,
    Round,
    Shortfall,
    Topic,
)

#: Share of its time in which a slow model reads what it is shown; the rest is for its answer. The
#: least that it is shown.
READING_SHARE, LEAST_ROOM = 0.5, 1_000


class _Place(NamedTuple):
    """Where an entry of the ledger stands in its page, in what block, and as what."""

    start: int
    end: int
    block: Block
    kind: EvidenceKind
    columns: int | None
    claim: str


@dataclass(frozen=True)
class Judged:
    """What a round added: new ledger entries, the coverage of its topics, its figures, its
    problems; and what is lacking after it.
    """

    evidence: list[Evidence]
    coverage: dict[str, Coverage]
    round: Round
    problems: list[Problem]
    shortfalls: list[Shortfall]

    def channels(self) -> dict[str, Any]:
        """The update of the graph's channels."""
        return {
            "evidence": self.evidence,
            "coverage": self.coverage,
            "rounds": [self.round],
            "problems": self.problems,
            "shortfalls": self.shortfalls,
        }

    def after(self, state: ResearchState) -> ResearchState:
        """The state as it will be when the update is merged."""
        return {
            **state,
            "evidence": [*state.get("evidence", []), *self.evidence],
            "coverage": by_topic(state.get("coverage", {}), self.coverage),
            "rounds": [*state.get("rounds", []), self.round],
            "shortfalls": self.shortfalls,
        }


async def assess_round(desk: Desk, state: ResearchState) -> Judged:
    """Judge every topic of the newest round, all at once, and number what is proven."""
    number = max(task.round for task in state["tasks"])
    planned = {topic.name for topic in state["plan"].topics}
    tasks = [task for task in state["tasks"] if task.round == number]
    # The newest task of a topic: the plan may have been made anew after its pages were read.
    topics = list({t.topic.name: t.topic for t in tasks if t.topic.name in planned}.values())
    ledger = state.get("evidence", [])
    seconds = desk.budget.phase("assess")
    room = await _room(desk, len(topics), seconds)
    judged = await asyncio.gather(*(_judge(desk, state, topic, room, seconds) for topic in topics))
    before = state.get("coverage", {})
    added: list[Evidence] = []
    coverage: dict[str, Coverage] = {}
    for topic, (judgement, _) in zip(topics, judged, strict=True):
        new = await _entries(desk, state, topic, judgement, [*ledger, *added])
        added += new
        known = [e for e in [*ledger, *added] if e.topic == topic.name]
        coverage[topic.name] = (
            _coverage(
                topic,
                judgement,
                known if desk.judging else _as_judged(known, judgement),
                desk.settings.completeness,
            )
            if new or topic.name not in before or not desk.judging
            else _as_before(before[topic.name], judgement)
        )
    done = _round(number, before, before | coverage, (len(ledger), len(ledger) + len(added)))
    problems = [problem for _, found in judged for problem in found]
    standard = Standard(quality=desk.settings.quality_floor, domains=desk.settings.least_domains)
    lacking = shortfalls(state["plan"], before | coverage, [*ledger, *added], standard)
    return Judged(added, coverage, done, problems, list(lacking))


def _round(
    number: int, before: dict[str, Coverage], after: dict[str, Coverage], evidence: tuple[int, int]
) -> Round:
    """The figures of a round: what was known before it and after it."""
    return Round(
        number=number,
        evidence_before=evidence[0],
        evidence_after=evidence[1],
        score=_mean([c.score for c in after.values()]) or 0.0,
        score_before=_mean([c.score for c in before.values()]) or 0.0,
        quality=_mean([c.quality.mean for c in after.values() if c.quality]),
        quality_before=_mean([c.quality.mean for c in before.values() if c.quality]),
    )


def _mean(scores: Sequence[float]) -> float | None:
    return round(sum(scores) / len(scores), 3) if scores else None


async def _room(desk: Desk, topics: int, seconds: float) -> int:
    """Tokens of pages that the model is shown for each of some topics; 0 without one. A slow model
    is shown what it can read in its time.
    """
    if desk.judging is None:
        return 0
    room = room_of(topics, desk.settings.window_tokens, desk.settings.shown_tokens)
    speed = await desk.judging.speed("assessor")
    readable = int(READING_SHARE * seconds * speed / max(1, topics)) if speed else room
    return max(LEAST_ROOM, min(room, readable))


async def _judge(
    desk: Desk, state: ResearchState, topic: Topic, room: int, seconds: float
) -> tuple[Judgement, list[Problem]]:
    pages = {page.content_hash: page for page in state.get("pages", {}).values()}
    passages = state.get("passages", {}).get(topic.name, [])
    texts = {p.content_hash: await desk.pages.get(p.content_hash) for p in passages}

    def work() -> list[Shown]:
        # What speaks to machines is seen by no role, and so is quoted by none.
        parts = [
            part
            for p in passages
            for part in to_people(shown(pages[p.content_hash], texts[p.content_hash], p))
        ]
        return fitting(parts, room) if room else parts

    heard = await asyncio.to_thread(work)
    known = [e for e in state.get("evidence", []) if e.topic == topic.name]
    return await assess(desk.judging, state["plan"], topic, heard, known, seconds=seconds)


async def _entries(
    desk: Desk, state: ResearchState, topic: Topic, judgement: Judgement, ledger: Sequence[Evidence]
) -> list[Evidence]:
    """Ledger entries of the spots that are new for this topic, numbered on from the ledger's
    end.
    """
    taken = [(e.content_hash, e.start, e.end) for e in ledger if e.topic == topic.name]
    made: list[Evidence] = []
    for spot in judgement.spots:
        text = await desk.pages.get(spot.page.content_hash)
        if text[spot.start : spot.end] != spot.quote:
            continue
        for start, end, block in _pieces(text, spot.start, spot.end):
            parts = _parts(text, block, (start, end))
            columns = next((first for first, _, kind in parts if kind == "columns"), None)
            for first, last, kind in parts:
                if not any(
                    h == spot.page.content_hash and first < e and s < last for h, s, e in taken
                ):
                    taken.append((spot.page.content_hash, first, last))
                    id_ = f"E{len(ledger) + len(made) + 1}"
                    of_row = columns if kind == "row" else None
                    place = _Place(first, last, block, kind, of_row, spot.claim)
                    made.append(_entry(id_, topic, spot.page, text, place))
    return made


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int, Block]]:
    """A stretch of a page, cut where blocks meet, so that code stays code; headings and the marks
    of fences are left out. A term stays with its definition.
    """
    pieces: list[tuple[int, int, Block]] = []
    for block in blocks_of(text):
        first, last = max(start, block.start), min(end, block.end)
        if block.kind == "code" and text[block.start : block.start + 3] in ("```", "~~~"):
            first = max(first, text.find("\n", block.start) + 1)
            last = min(last, max(first, text.rfind("\n", first, block.end)))
        if first < last and block.kind != "heading" and text[first:last].strip():
            if pieces and block.kind == "paragraph" and is_term(text, pieces[-1][2]):
                first = pieces.pop()[0]
            pieces.append((first, last, block))
    return pieces


def _parts(text: str, block: Block, span: tuple[int, int]) -> list[tuple[int, int, EvidenceKind]]:
    """A quote as entries of the ledger: of a table every row that it touches, whole, after the
    names of its columns; else one.

    A part of a row would stand under the names of other columns, and a row without them tells
    little.
    """
    if block.kind != "table":
        return [
            (*span, "code" if block.kind == "code" else "item" if block.kind == "list" else "text")
        ]
    header, rows = names_at(text, block), rows_at(text, block, span)
    if header is None:
        return [(*row, "cells") for row in rows]
    return [(*header, "columns"), *((*row, "row") for row in rows if row != header)] if rows else []


def _entry(
    id_: str,
    topic: Topic,
    page: Page,
    text: str,
    place: _Place,
) -> Evidence:
    start, end, block, kind, columns, claim = place
    before, after = neighbours(text, start, end) if kind in ("text", "item", "code") else ("", "")
    heading = heading_above(text, start)
    return Evidence(
        id=id_,
        topic=topic.name,
        quote=text[start:end],
        url=page.url,
        start=start,
        end=end,
        content_hash=page.content_hash,
        fetched_at=page.fetched_at,
        published_at=page.published_at,
        origin=page.origin or page.url,
        title=page.title,
        author=page.author,
        heading=heading,
        before=before,
        after=after,
        claim=claim,
        kind=kind,
        language=block.language if kind == "code" else "",
        columns=columns,
    )


def _as_judged(known: Sequence[Evidence], judgement: Judgement) -> list[Evidence]:
    """The entries of a topic that the spots of its newest judgement hold, in their order, rows with
    the names of their columns: without a model all that was read is judged anew in every round.
    """
    found = [
        e
        for spot in judgement.spots
        for e in known
        if e.content_hash == spot.page.content_hash and e.start < spot.end and spot.start < e.end
    ]
    named = [columns for e in found if (columns := columns_of(e, known))]
    return list(dict.fromkeys([*named, *found]))


def _coverage(
    topic: Topic, judgement: Judgement, known: Sequence[Evidence], completeness: float
) -> Coverage:
    """A topic is covered when the judgement says so, its score reaches the threshold, and something
    in the ledger proves it.
    """
    met = bool(known) and meets(topic, known)
    covered = judgement.covered and judgement.score >= completeness and met
    return Coverage(
        topic=topic.name,
        covered=covered,
        score=round(judgement.score, 3) if known else 0.0,
        evidence_ids=tuple(e.id for e in known),
        gaps=judgement.gaps,
        recommendations=judgement.recommendations,
        quality=judgement.quality,
    )


def _as_before(found: Coverage, judgement: Judgement) -> Coverage:
    """A topic for which a round has proven nothing new: it is as far answered as before, whatever
    is said of it. Only what to search next may be news.
    """
    return found.model_copy(
        update={"recommendations": judgement.recommendations or found.recommendations}
    )

"""Entering evidence into the ledger: a quote as entries of one block each, with context."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spadework.agents.evidence.passages import Spot
from spadework.graph.context import SessionContext
from spadework.graph.pages.chunks import blocks_of, heading_above, names_at, steps_of
from spadework.tools.text.facts import stems
from spadework.tools.text.language import spoken
from spadework.tools.text.markdown import Block
from spadework.tools.text.markdown_tables import rows_at
from spadework.tools.text.neighbours import neighbours
from spadework.tools.text.sentences import is_term, leads, sentences
from spadework.values import Evidence, EvidenceKind, Page, Problem, Topic

#: Kinds of blocks with sentences.
PROSE = ("paragraph", "list", "quote")
#: Minimum for entering: a share of the time left, and seconds, so that evidence is not lost if
#: judging took all its time.
LEAST_SHARE, LEAST_SECONDS = 0.1, 0.5
#: Columns of the narrowest table.
_PAIR = 2


class _Place(NamedTuple):
    """An entry's span in its page, its block, and its kind."""

    start: int
    end: int
    block: Block
    kind: EvidenceKind
    columns: int | None
    claim: str = ""


async def entries(
    context: SessionContext,
    topic: Topic,
    spots: Sequence[Spot],
    ledger: Sequence[Evidence],
    *,
    share: float = 1.0,
) -> tuple[list[Evidence], list[Problem]]:
    """Return a topic's new entries, numbered from the ledger's end. What does not fit in a `share`
    of the time for judging is left out, with a problem.
    """
    texts = {spot.page.content_hash: "" for spot in spots}
    for digest in texts:
        texts[digest] = await context.pages.get(digest)
    least = max(LEAST_SECONDS, LEAST_SHARE * context.budget.seconds_left())
    until = time.monotonic() + share * max(least, context.budget.phase("assess"))
    made, left = await asyncio.to_thread(_enter, topic, spots, ledger, texts, until)
    if not left:
        return made, []
    reason = f"The time did not suffice to enter {left} of {len(spots)} quotes."
    effect = "They are not in the evidence."
    return made, [Problem(stage="judge", subject=topic.name, reason=reason, effect=effect)]


def _enter(
    topic: Topic,
    spots: Sequence[Spot],
    ledger: Sequence[Evidence],
    texts: Mapping[str, str],
    until: float,
) -> tuple[list[Evidence], int]:
    """Return the new entries, and how many spots were left at `until`."""
    taken: dict[str, list[tuple[int, int]]] = {}
    for e in ledger:
        if e.topic == topic.name:
            taken.setdefault(e.content_hash, []).append((e.start, e.end))
    made: list[Evidence] = []
    for n, spot in enumerate(spots):
        if time.monotonic() > until:
            return made, len(spots) - n
        text, own = texts[spot.page.content_hash], taken.setdefault(spot.page.content_hash, [])
        for place in places_of(text, spot) if text[spot.start : spot.end] == spot.quote else ():
            start, end = place.start, place.end
            if not any(start < e and s < end for s, e in own):
                own.append((start, end))
                id_ = f"E{len(ledger) + len(made) + 1}"
                made.append(_entry(id_, topic, spot.page, text, place))
    return made, 0


def places_of(text: str, spot: Spot) -> list[_Place]:
    """Return the spans and kinds of a quote's entries, and which of them has its claim."""
    found, places = pieces(text, spot.start, spot.end), list[_Place]()
    for n, (start, end, block) in enumerate(found):
        said = text[start:end]
        before_code = n + 1 < len(found) and found[n + 1][2].kind == "code"
        if before_code and leads(said) and len(sentences(said)) == 1:
            continue
        parts = parts_of(text, block, (start, end))
        columns = next((first for first, _, kind in parts if kind == "columns"), None)
        for first, last, kind in parts:
            places.append(_Place(first, last, block, kind, None if kind == "columns" else columns))
    return _claimed(places, text, spot.claim)


def _claimed(places: Sequence[_Place], text: str, claim: str) -> list[_Place]:
    """Assign the claim to the entry with most of its words, and to the columns."""
    code = spoken(claim)
    words = stems(claim, code)
    shared = [len(words & stems(text[p.start : p.end], code)) for p in places]
    told = [n for n, place in enumerate(places) if place.kind != "columns"]
    best = max(told, key=lambda n: shared[n], default=None)
    return [
        place._replace(claim=claim) if n == best or place.kind == "columns" else place
        for n, place in enumerate(places)
    ]


def pieces(text: str, start: int, end: int) -> list[tuple[int, int, Block]]:
    """Split a span of a page at headings, code and tables, dropping headings and fence marks.
    Adjacent paragraphs and lists stay together up to the next defined term: a list needs its
    introduction, and a date its event. A lone term includes what follows, even the next term.
    """
    made: list[tuple[int, int, Block]] = []
    goes_on = False
    term = False
    for block in blocks_of(text):
        first, last = max(start, block.start), min(end, block.end)
        if block.kind == "code" and text[block.start : block.start + 3] in ("```", "~~~"):
            first = max(first, text.find("\n", block.start) + 1)
            last = min(last, max(first, text.rfind("\n", first, block.end)))
        if first < last and text[first:last].strip():
            prose, another = block.kind in PROSE, is_term(text, block)
            if prose and goes_on and (term or not another):
                begun, _, opening = made.pop()
                made.append((begun, last, opening))
            elif block.kind != "heading":
                made.append((first, last, block))
            goes_on, term = prose, another
    return made


def parts_of(text: str, block: Block, span: tuple[int, int]) -> list[tuple[int, int, EvidenceKind]]:
    """Return a quote's entries: for a table, every touched row, whole, after its column names,
    which rows need and which say nothing alone; else one.
    """
    if block.kind != "table":
        return [
            (*span, "code" if block.kind == "code" else "item" if block.kind == "list" else "text")
        ]
    header, rows = names_at(text, block), rows_at(text, block, span)
    kind: EvidenceKind = "row" if header else "cells"
    # With two columns the first row may be data: alone it is quoted as such.
    above = header or names_at(text, block, _PAIR)
    told: list[tuple[int, int, EvidenceKind]] = [(*row, kind) for row in rows if row != above]
    if above and told:
        return [(*above, "columns"), *told]
    return [] if header else [(*row, kind) for row in rows]


def _entry(id_: str, topic: Topic, page: Page, text: str, place: _Place) -> Evidence:
    start, end, block, kind, columns, claim = place
    before, after = neighbours(text, start, end) if kind in ("text", "item", "code") else ("", "")
    heading = heading_above(text, start)
    step = steps_of(text).get(start) if kind == "item" else None
    # More than one item has no number.
    step = step if step and end <= step.end else None
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
        step=step.number if step else None,
        steps=step.first if step else None,
    )

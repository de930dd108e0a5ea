"""Add quotes to the evidence ledger, one entry for each block of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from spadework.agents.evidence.passages import Spot
from spadework.deadline import Late
from spadework.graph.context import SessionContext
from spadework.tools.text.facts import stems
from spadework.tools.text.language import spoken
from spadework.tools.text.markdown import Block
from spadework.tools.text.page_text import PageText
from spadework.tools.text.sentences import is_term, leads, sentences
from spadework.tools.text.tables import rows_at
from spadework.values import Evidence, EvidenceKind, Page, Problem, Topic

PROSE = ("paragraph", "list", "quote")
_KIND_OF: dict[str, EvidenceKind] = {"code": "code", "list": "item"}
#: Adding evidence gets at least this fraction of the remaining time, even if judging has used up
#: the time of the assessment phase.
LEAST_SHARE = 0.1
_PAIR = 2


class _Place(NamedTuple):
    """A span to quote as evidence. `columns` is where its table's column names begin, or None."""

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
    left: int,
) -> tuple[list[Evidence], list[Problem]]:
    """Return a topic's new evidence entries, and a problem if time ran out. `left` is the number of
    topics that must share the time left for judging.
    """
    digests = dict.fromkeys(spot.page.content_hash for spot in spots)
    texts = {digest: await context.pages.get(digest) for digest in digests}
    least = LEAST_SHARE * context.budget.seconds_left()
    seconds = max(least, context.budget.phase("assess")) / left
    enter = partial(_enter, topic, spots, ledger, texts)
    at = ["enter", topic.name, *((spot.start, spot.quote) for spot in spots)]
    made, lost = await context.run_in_time(seconds, at, enter)
    if not lost:
        return made, []
    reason = f"There was no time to record {lost} of {len(spots)} quotes."
    effect = "These quotes are not in the evidence."
    return made, [Problem(stage="judge", subject=topic.name, reason=reason, effect=effect)]


def _enter(
    topic: Topic,
    spots: Sequence[Spot],
    ledger: Sequence[Evidence],
    texts: Mapping[str, PageText],
    late: Late,
) -> tuple[list[Evidence], int]:
    taken: dict[str, list[tuple[int, int]]] = {}
    for e in ledger:
        if e.topic == topic.name:
            taken.setdefault(e.content_hash, []).append((e.start, e.end))
    made: list[Evidence] = []
    for n, spot in enumerate(spots):
        if late():
            return made, len(spots) - n
        text, own = texts[spot.page.content_hash], taken.setdefault(spot.page.content_hash, [])
        for place in split_quote(text, spot) if text[spot.start : spot.end] == spot.quote else ():
            new = _untaken(place, own, text)
            if new and (new == place or place.kind in ("text", "item")):
                own.append((new.start, new.end))
                id_ = f"E{len(ledger) + len(made) + 1}"
                made.append(_entry(id_, topic, spot.page, text, new))
    return made, 0


def _untaken(place: _Place, own: Sequence[tuple[int, int]], text: PageText) -> _Place | None:
    start, end = place.start, place.end
    for s, e in sorted(own):
        if s <= start < e:
            start = e + len(text[e:end]) - len(text[e:end].lstrip())
        elif start < s < end:
            end = s - (len(text[start:s]) - len(text[start:s].rstrip()))
    return place._replace(start=start, end=end) if start < end else None


def split_quote(text: PageText, spot: Spot) -> list[_Place]:
    """Split a quote into spans. Attach the quote's claim to the span that matches it best."""
    found, places = pieces(text, spot.start, spot.end), list[_Place]()
    for n, (start, end, block) in enumerate(found):
        said = text[start:end]
        before_code = n + 1 < len(found) and found[n + 1][2].kind == "code"
        if before_code and leads(said) and len(sentences(said)) == 1:
            continue
        parts = parts_of(text, block, (start, end), together=bool(spot.claim))
        columns = next((first for first, _, kind in parts if kind == "columns"), None)
        for first, last, kind in parts:
            places.append(_Place(first, last, block, kind, None if kind == "columns" else columns))
    return _claimed(places, text, spot.claim)


def _claimed(places: Sequence[_Place], text: str, claim: str) -> list[_Place]:
    code = spoken(claim)
    words = stems(claim, code)
    told = [place for place in places if place.kind != "columns"]
    shared = [len(words & stems(text[p.start : p.end], code)) for p in told]
    best = told[shared.index(max(shared))] if told else None
    return [place._replace(claim=claim) if place is best else place for place in places]


def pieces(text: PageText, start: int, end: int) -> list[tuple[int, int, Block]]:
    """Split a span of a page at headings, code, tables and defined terms. Adjacent paragraphs and
    lists stay together, because a list needs its introduction.
    """
    made: list[tuple[int, int, Block]] = []
    goes_on = False
    term = False
    for block in text.blocks:
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


def parts_of(
    text: PageText, block: Block, span: tuple[int, int], *, together: bool = False
) -> list[tuple[int, int, EvidenceKind]]:
    """Return the span and kind of each evidence entry for a quote. A quoted table gives one entry
    for its column names and one for each row, or one for all rows if `together`.
    """
    if block.kind != "table":
        return [(*span, _KIND_OF.get(block.kind, "text"))]
    header, rows = text.header_of(block), rows_at(text, block, span)
    kind: EvidenceKind = "row" if header else "cells"
    # The first row of a two-column table may be data, so it serves as column names only if other
    # rows are quoted.
    above = header or text.header_of(block, _PAIR)
    own = [row for row in rows if row != above]
    own = [(own[0][0], own[-1][1])] if together and own else own
    told: list[tuple[int, int, EvidenceKind]] = [(*row, kind) for row in own]
    if above and told:
        return [(*above, "columns"), *told]
    return [] if header else told or [(*row, kind) for row in rows]


def _entry(id_: str, topic: Topic, page: Page, text: PageText, place: _Place) -> Evidence:
    start, end, block, kind, columns, claim = place
    prose = kind in ("text", "item", "code")
    before, after = text.neighbours(start, end) if prose else ("", "")
    step = text.steps.get(start) if kind == "item" else None
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
        heading=text.heading_above(start),
        before=before,
        after=after,
        claim=claim,
        kind=kind,
        language=block.language if kind == "code" else "",
        columns=columns,
        step=step.number if step else None,
        steps=step.first if step else None,
    )

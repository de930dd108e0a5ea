"""Compute one session's figures from its files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spadework.errors import SessionNotFound, SessionUnreadable
from spadework.events import Searched
from spadework.sessions.metrics.session_figures import PHASES, Figures, Gain, Worth, alerts_of
from spadework.sessions.metrics.session_index import Drawn
from spadework.sessions.record.course import Course, phases
from spadework.sessions.record.log import read_log
from spadework.sessions.storage.files import Metadata, read_metadata, read_result
from spadework.values import Evidence, Result, Span

_NUMBER = re.compile(r"\d+")
KNOWN = "already known"


def draw(folder: Path) -> Drawn:
    """Return a session's figures, alerts, contributions and rounds for `statistics`. The value is
    None for an unfinished session or one without a report, and a sentence for a damaged one.
    """
    try:
        metadata, result = read_metadata(folder), read_result(folder)
    except SessionNotFound:
        return Drawn(None, kept=False)
    except SessionUnreadable as error:
        return Drawn(str(error), kept=False)
    if result is None or metadata.kind != "research":
        return Drawn(None)
    course = Course(event for event in read_log(folder) if event is not None)
    quotes = _quotes(result)
    figures = figures_of(metadata, result, course)
    gains = [gain[1:] for gain in _gains(metadata.id, result, quotes)]
    return Drawn([figures, alerts_of(figures), _worths(quotes, course), gains])


class _Quote(NamedTuple):
    """A ledger entry: what found its page, its round, and whether it is cited."""

    finders: dict[str, set[str]]
    round: str
    cited: bool


def _quotes(result: Result) -> list[_Quote]:
    told = {c.evidence_id for c in result.citations}
    told |= {i for s in result.document.sections for one in s.sentences for i in one.evidence_ids}
    by_url = {source.url: source.found_by for source in result.sources}
    made = []
    for entry in (e for topic in result.topics for e in topic.evidence):
        found = by_url.get(entry.url, ())
        round_ = _round_of(entry, result)
        finders = {
            "provider": {each.provider for each in found},
            "kind": {str(each.kind) for each in found},
            "round": {round_} if round_ else set[str](),
        }
        made.append(_Quote(finders, round_, entry.id in told))
    return made


def _round_of(entry: Evidence, result: Result) -> str:
    found = _NUMBER.search(entry.id)
    number = int(found[0]) if found else 0
    for done in result.rounds:
        if done.evidence_before < number <= done.evidence_after:
            return _name_round(done.number)
    return ""


def _name_round(round_: int) -> str:
    return f"round {round_}" if round_ else KNOWN


def figures_of(metadata: Metadata, result: Result, course: Course) -> Figures:
    """Return the figures of a finished session."""
    used, forecast, quotes = result.usage, result.forecast, _quotes(result)
    span = forecast.seconds if forecast else Span()
    read, tried = _pages(course)
    sentences = {c.sentence: c for c in result.citations}.values()
    return Figures(
        session_id=metadata.id,
        follows=metadata.follows,
        question=result.question,
        created_at=metadata.created_at.isoformat(),
        status=result.status,
        mode=result.mode,
        seconds=result.timings.get("total", 0.0),
        seconds_limit=60 * metadata.limits.minutes if metadata.limits else 0.0,
        covered=sum(topic.covered for topic in result.topics),
        topics=len(result.topics),
        evidence=len(quotes),
        cited=sum(quote.cited for quote in quotes),
        writers=Counter(c.maker for c in sentences),
        judges=Counter(c.judge for c in sentences),
        searches=used.searches,
        search_errors=used.search_errors,
        pages=used.pages,
        pages_read=read,
        pages_tried=tried,
        model_calls=used.model_calls,
        model_errors=used.model_errors,
        too_long=used.too_long,
        tokens=used.tokens_in + used.tokens_out,
        money=used.money,
        cache_hits=used.cache_hits,
        requests=used.cache_hits + used.searches + used.fetches,
        phases=_by_phase(course),
        foreseen=[span.low, span.median, span.high, forecast.runs] if forecast else [],
    )


def _pages(course: Course) -> tuple[int, int]:
    tried: dict[str, bool] = {}
    for read in course.reads:
        tried[read.url] = tried.get(read.url, False) or not read.reason
    return sum(tried.values()), len(tried)


def _by_phase(course: Course) -> list[float]:
    spent = dict.fromkeys(PHASES, 0.0)
    found = phases(course)
    spent["start"] = min((phase.after for phase in found), default=0.0)
    for phase in found:
        spent[phase.name] += phase.seconds
    return [round(seconds, 2) for seconds in spent.values()] if found else []


def _worths(quotes: Sequence[_Quote], course: Course) -> list[Worth]:
    searched = _count_searches(course)
    made = []
    for by in ("provider", "kind", "round"):
        quoted, cited, alone = Counter[str](), Counter[str](), Counter[str]()
        for quote in quotes:
            finders = quote.finders[by]
            quoted.update(finders)
            cited.update(finders if quote.cited else ())
            alone.update(finders if quote.cited and len(finders) == 1 else ())
        for name in sorted(quoted.keys() | {name for what, name in searched if what == by}):
            searches, hits = searched.get((by, name), (0, 0))
            made.append(Worth(by, name, searches, hits, quoted[name], cited[name], alone[name]))
    return made


def _count_searches(course: Course) -> dict[tuple[str, str], tuple[int, int]]:
    """Count searches and hits. A query shared by several topics counts once."""
    asked: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for event in course.searches:
        names = [("provider", event.provider), ("kind", str(event.kind))]
        names += [("round", _name_round(event.round))] if event.round else []
        hits = event.hits if isinstance(event, Searched) else 0
        for name in names:
            asked.setdefault(name, {})[event.query, event.provider] = hits
    return {name: (len(hits), sum(hits.values())) for name, hits in asked.items()}


def _gains(session_id: str, result: Result, quotes: Sequence[_Quote]) -> list[Gain]:
    """Return each round's gain, which is zero without new quotes, whatever the judge says."""
    gains: list[Gain] = []
    score = 0.0
    for n, done in enumerate(result.rounds):
        added = done.evidence_after - done.evidence_before
        before = done.score_before if n == 0 else score
        score = done.score if added > 0 else before
        cited = sum(quote.cited and quote.round == _name_round(done.number) for quote in quotes)
        quality: Any = done.quality
        gains.append(Gain(session_id, done.number, before, score, added, cited, quality))
    return gains

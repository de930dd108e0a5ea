"""What each event is in the logs: of which concern, how grave, and in which figures. Words of
users, pages and models stand in entries of level debug alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from spadework.events import (
    Asked,
    Assessed,
    Called,
    Cleaned,
    Ended,
    Event,
    Finished,
    Planned,
    Read,
    Reading,
    Scored,
    Searched,
    Selected,
    Started,
    Troubled,
    Unanswered,
)
from spadework.settings.kinds import Concern, LogLevel

Fields = Mapping[str, str | int | float | None]


class Entry(NamedTuple):
    """An entry of a log: `fields` are told from info on, `words` beside them in debug alone."""

    concern: Concern
    level: LogLevel
    event: str
    at: datetime
    seconds: float | None
    fields: Fields
    words: Fields


Told = tuple[Concern, Fields, Fields]


def entries_of(event: Event) -> Iterator[Entry]:
    """The entries of an event; none of one without a time, or that is nobody's concern."""
    level: LogLevel = "warning" if event.failed else "info"
    for concern, fields, words in _entries_of(event):
        if event.at is not None:
            yield Entry(concern, level, event.type, event.at, event.seconds, fields, words)


def _entries_of(event: Event) -> Iterator[Told]:
    if isinstance(event, Searched | Unanswered):
        yield "search", *_of_search(event)
    elif isinstance(event, Selected):
        yield "search", *_of_selection(event)
    elif isinstance(event, Read | Reading):
        yield "crawl", *_of_page(event)
        if isinstance(event, Read) and not event.reason:
            yield "clean", *_of_text(event)
    elif isinstance(event, Cleaned):
        yield "clean", *_of_cleaning(event)
    elif isinstance(event, Called):
        yield "model", *_of_call(event)
    elif told := _of_milestone(event) or _of_end(event):
        yield "orchestrator", *told


def _of_search(event: Searched | Unanswered) -> tuple[Fields, Fields]:
    fields: Fields = {"provider": event.provider, "kind": event.kind, "round": event.round}
    words: Fields = {"topic": event.topic, "query": event.query}
    if isinstance(event, Searched):
        return {**fields, "hits": event.hits}, words
    return fields, {**words, "reason": event.reason}


def _of_selection(event: Selected) -> tuple[Fields, Fields]:
    fates = [hit.fate for hit in event.hits]
    counts = {fate: fates.count(fate) for fate in ("chosen", "reserve", "left")}
    fields: Fields = {"round": event.round, "threshold": event.threshold, **counts}
    return fields, {"topic": event.topic, "note": event.note}


def _of_page(event: Read | Reading) -> tuple[Fields, Fields]:
    fields: Fields = {"host": _host(event.url), "round": event.round}
    words: Fields = {"topic": event.topic, "url": event.url, "title": event.title}
    if isinstance(event, Reading):
        return fields, words
    had: Fields = {"level": event.level, "status": event.status, "bytes": event.bytes}
    return {**fields, **had, "fetching": event.fetching}, {**words, "reason": event.reason}


def _of_text(event: Read) -> tuple[Fields, Fields]:
    fields: Fields = {"host": _host(event.url), "chars": event.chars, "by": event.cleaned_by}
    return {**fields, "cleaning": event.cleaning}, {"url": event.url}


def _of_cleaning(event: Cleaned) -> tuple[Fields, Fields]:
    fields: Fields = {"host": _host(event.url), "before": event.before, "chars": event.chars}
    return fields, {"url": event.url, "reason": event.reason}


def _of_call(event: Called) -> tuple[Fields, Fields]:
    used: Fields = {
        "tokens_in": event.tokens_in,
        "tokens_out": event.tokens_out,
        "money": event.money,
    }
    asked: Fields = {"role": event.role, "model": event.model, "shape": event.shape}
    return {**asked, "method": event.method, **used, "verdict": event.verdict}, {
        "reason": event.reason
    }


def _of_milestone(event: Event) -> tuple[Fields, Fields] | None:
    if isinstance(event, Started):
        return {"mode": event.mode, "resumed": int(event.resumed)}, {"question": event.question}
    if isinstance(event, Planned):
        names = "; ".join(topic.name for topic in event.plan.topics)
        return {"topics": len(event.plan.topics)}, {"names": names}
    if isinstance(event, Scored):
        fields = {"round": event.round, "before": event.before, "score": event.score}
        return {**fields, "by": event.by}, {"topic": event.topic, "why": event.why}
    if isinstance(event, Assessed):
        return {"round": event.round, "quotes": event.evidence}, {}
    return None


def _of_end(event: Event) -> tuple[Fields, Fields] | None:
    if isinstance(event, Troubled):
        problem = event.problem
        return {"stage": problem.stage}, {"subject": problem.subject, "reason": problem.reason}
    if isinstance(event, Asked):
        return {"kind": event.kind}, {"text": event.text}
    if isinstance(event, Finished):
        result = event.result
        return {"status": result.status, "rounds": result.iterations}, {"by": result.stopped_by}
    return ({"how": event.how}, {"text": event.text}) if isinstance(event, Ended) else None


def _host(url: str) -> str:
    """The host of an address, which may bear a key beside it."""
    return urlsplit(url).hostname or urlsplit(url).scheme

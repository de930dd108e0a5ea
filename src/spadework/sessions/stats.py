"""Statistics over sessions: what added evidence, what each round gained, what it cost, and what
should be looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from spadework.errors import SessionUnreadable
from spadework.events import Searched
from spadework.sessions.files import (
    Metadata,
    Unreadable,
    list_sessions,
    read_progress,
    read_result,
)
from spadework.sessions.log import read_log
from spadework.values import Result, Source, Value

#: Alerts (S12): shares above which, and for cached answers below which, a session should be looked
#: at.
MOST_TIME, MOST_TOO_LONG, MOST_ERRORS, LEAST_CACHED = 0.90, 0.05, 0.10, 0.50
#: Below this many requests a share says nothing.
FEW = 5


class Worth(Value):
    """What one provider, or one kind of query, brought: searches, hits, evidence that it found, and
    evidence that only it found.
    """

    name: str
    searches: int = 0
    hits: int = 0
    evidence: int = 0
    alone: int = 0


class Gain(Value):
    """One round of a session: mean coverage score (0..1) before and after it, the evidence it
    added, and the quality (0..10) in the end.

    `quality` is None where no model has rated it.
    """

    session_id: str
    round: int
    before: float
    after: float
    evidence: int
    quality: float | None = None


class Figures(Value):
    """What one session gave and cost. `seconds_limit` is the time it was given; `money` None where
    a price was not known.
    """

    session_id: str
    follows: str
    question: str
    created_at: datetime
    status: str
    mode: str
    seconds: float
    seconds_limit: float
    covered: int
    topics: int
    evidence: int
    searches: int
    pages: int
    model_calls: int
    tokens: int
    money: float | None
    cache_hits: int
    requests: int
    search_errors: int
    too_long: int


class Statistics(Value):
    """All of it: sessions newest first, providers and kinds of queries by the evidence they
    brought, rounds, alerts as sentences.
    """

    sessions: tuple[Figures, ...] = ()
    providers: tuple[Worth, ...] = ()
    kinds: tuple[Worth, ...] = ()
    gains: tuple[Gain, ...] = ()
    alerts: tuple[str, ...] = ()


def statistics(home: Path) -> Statistics:
    """The statistics of all finished sessions under `home`; one whose files cannot be read is
    named by an alert.
    """
    finished, broken = _finished(home)
    figures = [_figures(metadata, result) for metadata, result in finished]
    results = [result for _, result in finished]
    folders = [home / "sessions" / figure.session_id for figure in figures]
    searched = [event for folder in folders for event in _searched(folder)]
    alerts = [alert for figure in figures for alert in _alerts(figure)]
    return Statistics(
        sessions=tuple(figures),
        providers=_worth(
            results, "provider", Counter(e.provider for e in searched), _hits(searched)
        ),
        kinds=_worth(results, "kind", Counter(), Counter()),
        gains=tuple(gain for folder in folders for gain in _gains(folder)),
        alerts=(*alerts, *broken),
    )


def _finished(home: Path) -> tuple[list[tuple[Metadata, Result]], list[str]]:
    """The finished sessions, and what is said of those that cannot be read."""
    finished, broken = [], []
    for listed in list_sessions(home):
        if isinstance(listed, Unreadable):
            broken.append(listed.reason)
            continue
        try:
            result = read_result(home / "sessions" / listed.id)
        except SessionUnreadable as error:
            broken.append(str(error))
            continue
        if result is not None:
            finished.append((listed, result))
    return finished, broken


def _figures(metadata: Metadata, result: Result) -> Figures:
    used = result.usage
    return Figures(
        session_id=metadata.id,
        follows=metadata.follows,
        question=result.question,
        created_at=metadata.created_at,
        status=result.status,
        mode=result.mode,
        seconds=result.timings.get("total", 0.0),
        seconds_limit=60 * metadata.limits.minutes if metadata.limits else 0.0,
        covered=sum(topic.covered for topic in result.topics),
        topics=len(result.topics),
        evidence=sum(len(topic.evidence) for topic in result.topics),
        searches=used.searches,
        pages=used.pages,
        model_calls=used.model_calls,
        tokens=used.tokens_in + used.tokens_out,
        money=used.money,
        cache_hits=used.cache_hits,
        requests=used.cache_hits + used.searches + used.fetches + used.model_calls,
        search_errors=sum(problem.stage == "search" for problem in result.problems),
        too_long=sum("too long" in problem.reason for problem in result.problems),
    )


def _searched(folder: Path) -> list[Searched]:
    """The searches of a session, each once, also where a resumed run told them again."""
    events = [event for event in read_log(folder) if isinstance(event, Searched)]
    return list({(e.topic, e.query, e.provider): e for e in events}.values())


def _hits(searched: Iterable[Searched]) -> Counter[str]:
    hits: Counter[str] = Counter()
    for event in searched:
        hits[event.provider] += event.hits
    return hits


def _worth(
    results: Sequence[Result], by: str, searches: Counter[str], hits: Counter[str]
) -> tuple[Worth, ...]:
    """What each provider (`by` "provider") or kind of query ("kind") brought, by the sources in
    which the evidence stands.
    """
    evidence: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for result in results:
        found = {source.url: _finders(source, by) for source in result.sources}
        for entry in (e for topic in result.topics for e in topic.evidence):
            finders = found.get(entry.url, set())
            evidence.update(finders)
            alone.update(finders if len(finders) == 1 else ())
    names = sorted(searches.keys() | evidence.keys(), key=lambda name: (-evidence[name], name))
    return tuple(
        Worth(
            name=name,
            searches=searches[name],
            hits=hits[name],
            evidence=evidence[name],
            alone=alone[name],
        )
        for name in names
    )


def _finders(source: Source, by: str) -> set[str]:
    return {str(getattr(found, by)) for found in source.found_by}


def _gains(folder: Path) -> list[Gain]:
    """The rounds of a session, from its progress file."""
    known: dict[str, float] = {}
    rated: dict[str, float] = {}
    gains, evidence = [], 0
    for done in read_progress(folder).rounds:
        before = _mean(known.values())
        known |= {topic.topic: topic.score for topic in done.coverage}
        rated |= {topic.topic: topic.quality.mean for topic in done.coverage if topic.quality}
        gains.append(
            Gain(
                session_id=folder.name,
                round=done.round,
                before=before,
                after=_mean(known.values()),
                evidence=done.evidence - evidence,
                quality=_mean(rated.values()) if rated else None,
            )
        )
        evidence = done.evidence
    return gains


def _mean(scores: Iterable[float]) -> float:
    listed = list(scores)
    return round(sum(listed) / len(listed), 3) if listed else 0.0


def _alerts(f: Figures) -> list[str]:
    """What should be looked at in a session, each as one sentence."""
    found = []
    if f.seconds > MOST_TIME * f.seconds_limit > 0:
        found.append(f"it took {f.seconds:.0f} s of the {f.seconds_limit:.0f} s it was given")
    if f.model_calls >= FEW and f.too_long > MOST_TOO_LONG * f.model_calls:
        found.append(f"{f.too_long} of {f.model_calls} requests were too long for the model")
    asked = f.searches + f.search_errors
    if asked >= FEW and f.search_errors > MOST_ERRORS * asked:
        found.append(f"{f.search_errors} of {asked} searches failed")
    if f.requests >= FEW and f.cache_hits < LEAST_CACHED * f.requests and f.follows:
        found.append(
            f"only {f.cache_hits} of {f.requests} answers were known, though it follows up another"
            " session"
        )
    return [f"{f.session_id}: {sentence}." for sentence in found]

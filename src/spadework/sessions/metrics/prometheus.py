"""Prometheus metrics of this process. Each label has only a few values, all fixed in the code."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, get_args

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from spadework.events import Called, Event, Finished, Read, Searched, Unanswered
from spadework.sessions import admission
from spadework.sessions.metrics.session_figures import found_alerts
from spadework.sessions.record.course import Course, figures_of
from spadework.sessions.storage.files import Metadata
from spadework.settings import Role
from spadework.values import Result


def expose(accept: str, streams: int) -> tuple[bytes, str]:
    """Return the metrics and media type for an `accept` header and `streams` open event streams."""
    registry = CollectorRegistry()
    registry.register(_Numbers(streams))
    ProcessCollector(registry=registry)
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


class _Numbers(Collector):
    def __init__(self, streams: int) -> None:
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        queue = admission.here()
        sessions = {"running": queue.inside, "queued": queue.queue_length, "asking": queue.out}
        yield _gauge("build_info", "The spadework version.", {version("spadework"): 1}, "version")
        yield _gauge("sessions", "Sessions running, queued or awaiting input.", sessions, "state")
        yield _gauge("stopping", "1 if no new questions are accepted.", {(): int(queue.closed)})
        yield _gauge("streams", "Open event streams of web pages.", {(): self._streams})
        yield from _since_the_beginning()


def _since_the_beginning() -> Iterator[Metric]:
    refusals = {**TALLY.limited, "day": TALLY.refused["day"]}
    yield _counter("sessions_ended", "Ended sessions by status.", TALLY.ended, "status")
    yield _counter("model_calls", "Model calls.", TALLY.calls, "role", "verdict")
    yield _counter("model_tokens", "Tokens used by model calls.", TALLY.tokens, "role", "direction")
    yield _counter("model_dollars", "Cost in US dollars, if known.", TALLY.dollars, "role")
    yield _counter("model_seconds", "Time spent in model calls.", TALLY.seconds, "role")
    yield _counter("searches", "Queries, counted per provider.", TALLY.searches, "outcome")
    yield _counter("pages", "Pages that spadework tried to read.", TALLY.pages, "outcome")
    yield _counter("budget_refusals", "Sessions ended or refused by a limit.", refusals, "limit")
    yield _counter("questions_refused", "Questions refused by the server.", TALLY.refused, "reason")
    yield _counter("alerts", "Alerts raised for sessions.", TALLY.alerts, "about")


def _gauge(name: str, said: str, values: Mapping[Any, float], *labels: str) -> Metric:
    return _filled(GaugeMetricFamily(f"spadework_{name}", said, labels=labels), values)


def _counter(name: str, said: str, values: Mapping[Any, float], *labels: str) -> Metric:
    return _filled(CounterMetricFamily(f"spadework_{name}", said, labels=labels), values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[Any, float]) -> Metric:
    for key, value in list(values.items()):  # a run in another thread may add a key
        family.add_metric([key] if isinstance(key, str) else key, value)
    return family


_ROLES = frozenset(get_args(Role))


#: Values of `Result.stopped_by` that name a limit.
LIMITS = frozenset({"time", "calls", "searches", "pages", "tokens", "money"})


class Tally:
    """Counts of model calls, searches, pages, sessions, refused questions and alerts."""

    def __init__(self) -> None:
        self.calls = Counter[tuple[str, str]]()
        self.tokens = Counter[tuple[str, str]]()
        self.dollars = defaultdict[str, float](float)
        self.seconds = defaultdict[str, float](float)
        self.searches = Counter[str]()
        self.pages = Counter[str]()
        self.ended = Counter[str]()
        self.limited = Counter[str]()
        self.refused = Counter[str]()
        self.alerts = Counter[str]()

    @contextmanager
    def counted(self) -> Iterator[Callable[[Event], None]]:
        """Yield a function that counts a run's events. A run without a result is counted as
        `broken` if it raised an error, otherwise as `stopped`.
        """
        how = "stopped"

        def count(event: Event) -> None:
            nonlocal how
            self.saw(event)
            how = "" if isinstance(event, Finished) else how

        try:
            yield count
        except asyncio.CancelledError:
            raise
        except BaseException:
            how = how and "broken"
            raise
        finally:
            if how:
                self.ended[how] += 1

    def saw(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, Called):
            self._called(event)
        elif isinstance(event, Searched):
            self.searches["answered"] += 1
        elif isinstance(event, Unanswered):
            self.searches["unanswered"] += 1
        elif isinstance(event, Read):
            self.pages["unread" if event.reason else "known" if event.known else "read"] += 1
        elif isinstance(event, Finished):
            self.ended[event.result.status] += 1
            if event.result.stopped_by in LIMITS:
                self.limited[event.result.stopped_by] += 1

    def look_at(self, metadata: Metadata, result: Result, course: Course) -> None:
        """Count a finished run's alerts."""
        figures = figures_of(metadata, result, course)
        self.alerts.update(about for about, _ in found_alerts(figures))

    def _called(self, event: Called) -> None:
        role = event.role if event.role in _ROLES else "other"
        self.calls[role, event.verdict] += 1
        self.tokens[role, "in"] += event.tokens_in
        self.tokens[role, "out"] += event.tokens_out
        self.dollars[role] += event.money or 0.0
        self.seconds[role] += event.seconds or 0.0


TALLY = Tally()

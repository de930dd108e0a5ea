"""Prometheus metrics of this process. Every label has few values, fixed in the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from spadework.sessions import admission
from spadework.sessions.metrics.statistics import TALLY


def expose(accept: str, streams: int) -> tuple[bytes, str]:
    """Return the metrics in the format of the `accept` header, and their media type. `streams` is
    the number of open streams.
    """
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
        yield _gauge("sessions", "Sessions by state; asking: awaiting input.", sessions, "state")
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

"""Export a finished session to OpenTelemetry, following the GenAI semantic conventions. Page URLs
and page text are left out.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from spadework.errors import how_to_install
from spadework.events import Called, Cleaned, Event, Read, Searched, Timed, Unanswered
from spadework.sessions.record.course import Course
from spadework.values import Result

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Tracer, TracerProvider


NAME = "spadework"
SECONDS = 2.0
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_LOG = logging.getLogger(__name__)

Attributes = dict[str, str | int | float]


class Span(NamedTuple):
    """A step of a run, exported as a span. `error` is "" if the step succeeded."""

    name: str
    attributes: Attributes
    error: str


class Providers(NamedTuple):
    """The OpenTelemetry providers to export to."""

    traces: TracerProvider
    metrics: MeterProvider


def providers() -> Providers | None:
    """Return this process's OpenTelemetry providers. If none are set, create and set providers that
    send OTLP over HTTP. Return None if no endpoint is set or the packages are not installed.
    """
    if not os.environ.get(ENDPOINT):
        return None
    try:
        from opentelemetry import metrics, trace
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        what = "%s is set, but runs are not exported: install the packages with %s."
        _LOG.warning(what, ENDPOINT, how_to_install("otel"))
        return None
    resource = Resource.create({SERVICE_NAME: NAME})
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        made = TracerProvider(resource=resource)
        made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=SECONDS)))
        trace.set_tracer_provider(made)
    if not isinstance(metrics.get_meter_provider(), MeterProvider):
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(timeout=SECONDS))
        metrics.set_meter_provider(MeterProvider([reader], resource=resource))
    return Providers(trace.get_tracer_provider(), metrics.get_meter_provider())


def tell(course: Course, result: Result) -> None:
    """Export a finished session, waiting up to SECONDS for each provider to flush."""
    if (to := providers()) is None:
        return
    _trace(course, result, to.traces.get_tracer(NAME))
    _measure(course, to.metrics)
    for provider in to:
        if flush := getattr(provider, "force_flush", None):
            flush(int(1000 * SECONDS))


def _trace(course: Course, result: Result, tracer: Tracer) -> None:
    from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

    timed = [event for event in course.events if event.at]
    if not timed:
        return
    run = tracer.start_span(
        f"invoke_agent {NAME}", attributes=_of_run(result), start_time=min(map(_began, timed))
    )
    inside = set_span_in_context(run)
    for event in timed:
        if told := span_of(event):
            attributes = {**told.attributes, "gen_ai.conversation.id": result.session_id}
            span = tracer.start_span(
                told.name,
                context=inside,
                kind=SpanKind.CLIENT,
                attributes=attributes,
                start_time=_began(event),
            )
            if told.error:
                span.set_attribute("error.type", told.error)
                span.set_status(Status(StatusCode.ERROR))
            span.end(max(_end_time(event), _began(event)))
    run.end(max(map(_end_time, timed)))


def _measure(course: Course, provider: MeterProvider) -> None:
    meter = provider.get_meter(NAME)
    tokens = meter.create_histogram("gen_ai.client.token.usage", unit="{token}")
    duration = meter.create_histogram("gen_ai.client.operation.duration", unit="s")
    tools = meter.create_histogram("gen_ai.execute_tool.duration", unit="s")
    for event in course.events:
        told = span_of(event)
        if told is None:
            continue
        known = {name: told.attributes[name] for name in _APART if name in told.attributes}
        known |= {"error.type": told.error} if told.error else {}
        if isinstance(event, Called):
            duration.record(event.seconds or 0.0, known)
            tokens.record(event.tokens_in, {**known, "gen_ai.token.type": "input"})
            tokens.record(event.tokens_out, {**known, "gen_ai.token.type": "output"})
        else:
            tools.record(event.seconds or 0.0, known)


#: Span attributes that are also attached to metrics, because each has few possible values.
_APART = (
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.tool.name",
)


def span_of(event: Event) -> Span | None:
    """Return the span to export for an event, or None if the event has none."""
    if isinstance(event, Called):
        error = "" if event.verdict == "fits" else event.verdict
        return Span(f"chat {_model(event.model)[1]}", dict(_of_call(event)), error)
    if isinstance(event, Searched | Unanswered):
        hits: Attributes = {"spadework.hits": event.hits} if isinstance(event, Searched) else {}
        where: Attributes = {"spadework.provider": event.provider, "spadework.round": event.round}
        return _tool("search", {**where, **hits}, "" if hits else "unanswered")
    if isinstance(event, Read):
        return _tool("read", dict(_of_page(event)), "unread" if event.reason else "")
    if isinstance(event, Cleaned):
        shown = {"spadework.before": event.before, "spadework.characters": event.chars}
        return _tool("clean", shown, "uncleaned" if event.reason else "")
    return None


def _tool(name: str, known: Mapping[str, str | int | float], error: str) -> Span:
    kind: Attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return Span(f"execute_tool {name}", {**kind, **known}, error)


def _of_run(result: Result) -> Attributes:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": NAME,
        "gen_ai.conversation.id": result.session_id,
        "gen_ai.usage.input_tokens": result.usage.tokens_in,
        "gen_ai.usage.output_tokens": result.usage.tokens_out,
        "spadework.status": result.status,
        "spadework.mode": result.mode,
        "spadework.rounds": result.iterations,
    }


def _of_call(event: Called) -> Iterator[tuple[str, str | int | float]]:
    provider, model = _model(event.model)
    yield "gen_ai.operation.name", "chat"
    yield "gen_ai.provider.name", provider
    yield "gen_ai.request.model", model
    yield "gen_ai.output.type", "json"
    yield "gen_ai.usage.input_tokens", event.tokens_in
    yield "gen_ai.usage.output_tokens", event.tokens_out
    yield "spadework.role", event.role
    yield "spadework.verdict", event.verdict
    if event.money is not None:
        yield "spadework.money", event.money


def _of_page(event: Read) -> Iterator[tuple[str, str | int | float]]:
    yield "server.address", urlsplit(event.url).hostname or ""
    yield "spadework.round", event.round
    if event.level is not None:
        yield "spadework.level", event.level
        yield "http.response.status_code", event.status
        yield "http.response.body.size", event.bytes
        yield "spadework.characters", event.chars


def _model(name: str) -> tuple[str, str]:
    provider, _, model = name.partition(":")
    return (provider, model) if model else ("", provider)


def _end_time(event: Timed) -> int:
    at: datetime | None = event.at
    return int(at.timestamp() * 1e9) if at else 0


def _began(event: Timed) -> int:
    return _end_time(event) - int((event.seconds or 0.0) * 1e9)

"""What OpenTelemetry is told of a run, received as it is sent."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from spadework.sessions.record import telemetry
from spadework.settings import Settings
from spadework.values import Result
from tests.world.background import Background, listen
from tests.world.sites import World

pytestmark = pytest.mark.process

ASKED = "What is known about Port Aldermere?"


class Collector:
    """A collector of OpenTelemetry on loopback."""

    def __init__(self, background: Background) -> None:
        self.bodies: dict[str, list[bytes]] = {"traces": [], "metrics": []}
        sock = listen("127.0.0.1")
        self.url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        route = Route("/v1/{kind}", self._take, methods=["POST"])
        background.serve(Starlette(routes=[route]), [sock])

    async def _take(self, request: Request) -> Response:
        body = await request.body()
        zipped = request.headers.get("content-encoding") == "gzip"
        self.bodies[request.path_params["kind"]].append(gzip.decompress(body) if zipped else body)
        return Response(media_type="application/x-protobuf")

    @property
    def spans(self) -> list[Any]:
        """All spans that came."""
        told = [ExportTraceServiceRequest.FromString(body) for body in self.bodies["traces"]]
        return [
            span
            for one in told
            for resource in one.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def sums(self, name: str) -> Counter[str]:
        """The sums of a histogram by its token type, or tool, as they came last."""
        found: Counter[str] = Counter()
        for scope in self._last().resource_metrics[0].scope_metrics:
            for metric in scope.metrics:
                for point in metric.histogram.data_points if metric.name == name else ():
                    known = attributes(point)
                    which = known.get("gen_ai.token.type") or known.get("gen_ai.tool.name") or ""
                    found[which] += point.sum
        return found

    def _last(self) -> ExportMetricsServiceRequest:
        return ExportMetricsServiceRequest.FromString(self.bodies["metrics"][-1])


def observed(url: str, **env: str) -> Result:
    """The result of a question of a process that tells a collector of it."""
    otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": url}
    done = subprocess.run(
        [sys.executable, "-m", "spadework", "ask", ASKED, "--json"],
        env={**os.environ, **otel, **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Result.model_validate_json(done.stdout)


def attributes(told: Any) -> dict[str, Any]:
    """The attributes of a span or a point."""
    return {
        one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in told.attributes
    }


def test_a_run_is_told_of_by_the_conventions_for_generative_ai(
    online: Settings, world: World, background: Background, tmp_path: Path
) -> None:
    gone = f"<title>{ASKED}</title><p>Port Aldermere and its inhabitants</p>"
    world.put("blog", "/posts/weekend-in-aldermere", gone, status=503)
    collector = Collector(background)
    result = observed(collector.url, SPADEWORK_HOME=str(tmp_path))
    [run] = [span for span in collector.spans if not span.parent_span_id]
    assert run.name == "invoke_agent spadework"
    known = attributes(run)
    assert known["gen_ai.conversation.id"] == result.session_id
    assert known["gen_ai.usage.input_tokens"] == result.usage.tokens_in
    inside = [span for span in collector.spans if span.parent_span_id]
    assert all(span.parent_span_id == run.span_id for span in inside)
    assert all(span.start_time_unix_nano >= run.start_time_unix_nano for span in inside)
    calls = [attributes(span) for span in inside if span.name == "chat world-model"]
    assert len(calls) == result.usage.model_calls
    assert sum(call["gen_ai.usage.output_tokens"] for call in calls) == result.usage.tokens_out
    assert {call["gen_ai.provider.name"] for call in calls} == {"openai"}
    assert {call["gen_ai.operation.name"] for call in calls} == {"chat"}
    searches = [span for span in inside if span.name == "execute_tool search"]
    assert len(searches) == result.usage.searches
    read = [span for span in inside if span.name == "execute_tool read"]
    failed = [attributes(span) for span in read if span.status.code]
    assert failed
    assert {one["error.type"] for one in failed} == {"unread"}
    tokens = collector.sums("gen_ai.client.token.usage")
    assert tokens == {"input": result.usage.tokens_in, "output": result.usage.tokens_out}
    assert collector.sums("gen_ai.execute_tool.duration").keys() == {"search", "read"}
    sent = b"".join(body for bodies in collector.bodies.values() for body in bodies)
    assert ASKED.encode() not in sent
    assert online.openai_api_key
    assert online.openai_api_key.get_secret_value().encode() not in sent
    for page in (tmp_path / "sessions" / result.session_id / "pages").iterdir():
        assert page.read_bytes()[:40] not in sent


@pytest.mark.full
def test_a_collector_that_is_not_there_costs_no_report(settings: Settings) -> None:
    searching = {"SPADEWORK_SEARCH": "library", "SPADEWORK_LIBRARY": str(settings.library[0])}
    assert observed("http://127.0.0.1:9", **searching).status == "completed"


def test_without_the_packages_it_is_said_that_no_run_is_exported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert telemetry.providers() is None
    assert not caplog.records
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert telemetry.providers() is None
    [said] = [record.getMessage() for record in caplog.records]
    assert "runs are not exported" in said
    assert "otel" in said

"""What a server tells those who keep it going."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from pathlib import Path

import httpx
import prometheus_client
import pytest
from prometheus_client.parser import text_string_to_metric_families

from spadework.sessions.health.check import FRESH_SECONDS, Readiness
from spadework.sessions.metrics.prometheus import expose
from spadework.settings import Settings
from spadework.values import Result
from tests.apps.web.server import Server
from tests.apps.web.test_event_stream import QUESTION, ask

pytestmark = pytest.mark.process

Numbers = dict[tuple[str, ...], float]


def numbers_of(text: str) -> Numbers:
    """Each number by the name of its family and the values of its labels."""
    return {
        (sample.name.removeprefix("spadework_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def total(numbers: Numbers, name: str, label: str = "") -> float:
    return sum(n for key, n in numbers.items() if key[0] == name and (not label or label in key))


async def test_the_numbers_are_those_of_the_results_and_no_text_is_in_them(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as page:
        before = numbers_of((await page.get("/metrics")).text)
        # In words that no other test has asked this server, so that its searches are not kept ones.
        session = await ask(page, f"{QUESTION} Count what it takes.")
        async with page.stream("GET", f"/s/{session}/events") as events:
            lines = events.aiter_lines()
            await anext(lines)
            now = numbers_of((await page.get("/metrics")).text)
            assert now["streams",] == before["streams",] + 1
            assert now["sessions", "running"] + now["sessions", "queued"] <= 1
            async for _ in lines:
                pass
        result = Result.model_validate_json((await page.get(f"/s/{session}/report.json")).text)
        answer = await page.get("/metrics")
        text = answer.text
    after = numbers_of(text)
    assert answer.headers["content-type"].startswith("text/plain; version=")

    def more(name: str, label: str = "") -> float:
        return total(after, name, label) - total(before, name, label)

    used = result.usage
    assert more("model_calls_total") - more("model_calls_total", "unpaid") == used.model_calls > 0
    assert more("model_tokens_total", "in") == used.tokens_in > 0
    assert more("model_tokens_total", "out") == used.tokens_out > 0
    assert more("model_seconds_total") > 0
    assert more("searches_total", "answered") >= used.searches - used.search_errors > 0
    assert more("pages_total", "read") > 0
    assert more("sessions_ended_total", result.status) == more("sessions_ended_total") == 1
    assert after["sessions", "running"] == 0
    assert not after["stopping",]
    assert after["process_open_fds",] > 0
    labels = {word for key in after for word in key[1:]}
    assert all(re.fullmatch(r"[a-z_ .0-9]{1,20}", word) for word in labels), labels
    assert len(after) < 120
    for word in ("Aldermere", "world-model", "127.0", session, *QUESTION.split()[3:]):
        assert word.lower() not in text.lower()


@pytest.mark.timed
def test_an_answer_on_a_connection_that_is_kept_waits_for_no_acknowledgement(
    server: Server,
) -> None:
    took = []
    with server.client() as page:
        for _ in range(20):
            began = time.perf_counter()
            page.get("/healthz")
            took.append(time.perf_counter() - began)
    assert statistics.median(took) < 0.03


def test_each_scrape_reads_the_same_numbers_and_leaves_nothing_behind() -> None:
    first, media_type = expose("application/openmetrics-text; version=1.0.0", 0)
    assert first.endswith(b"# EOF\n")
    assert media_type.startswith("application/openmetrics-text")
    second, media_type = expose("", 7)
    assert media_type.startswith("text/plain")
    assert b"spadework_streams 7.0\n" in second
    known = prometheus_client.generate_latest(prometheus_client.REGISTRY)
    assert b"spadework" not in known


async def test_a_home_that_cannot_be_written_is_no_place_to_send_questions(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    ready = Readiness(Settings.load(home=home))
    assert await ready.fault() == ""
    home.rename(away)
    home.write_text("a file in its place")
    assert await ready.fault() == "", "what was found counts for a moment"
    assert await _next_fault(ready, "") == "The home cannot be written: file exists."
    home.unlink()
    away.rename(home)
    assert await _next_fault(ready, "The home cannot be written: file exists.") == ""


async def _next_fault(ready: Readiness, before: str) -> str:
    async with asyncio.timeout(10 * FRESH_SECONDS):
        while (fault := await ready.fault()) == before:  # noqa: ASYNC110 - time must pass
            await asyncio.sleep(0.05)
    return fault

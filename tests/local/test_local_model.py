"""A question from end to end on a real model that runs here: `make test-model`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings

HERE = Path(__file__).resolve().parent
#: The Python of an environment with the model and its server; `make test-model` names it.
PYTHON = os.environ.get("SPADEWORK_TEST_MODEL", "")
ROLES = {"lead", "assessor", "judge", "cleaner", "writer", "verifier"}

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not PYTHON,
        reason="SPADEWORK_TEST_MODEL names no Python with a model: run `make test-model`.",
    ),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the model's server."""
    process = subprocess.Popen(
        [PYTHON, str(HERE / "serving.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout
        yield (
            next(line.split()[-1] for line in process.stdout if line.startswith("listening on "))
            + "/v1"
        )
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


async def test_a_small_model_ends_with_a_report_whose_citations_all_resolve(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings.load(
        search="library",
        library=(HERE.parent / "world" / "pages" / "docs",),
        model="openai:small",
        openai_base_url=address,
        minutes=20,
        iterations=1,
        model_seconds=300,
        model_parallel=2,
        context_tokens=3_000,
        reply_tokens=700,
    )
    result = await research("What is ferrolite and how do I use it?", settings)
    pages = Path(result.session_dir) / "pages"
    known = {e.id: e for topic in result.topics for e in topic.evidence}
    assert result.citations
    for citation in result.citations:
        evidence = known[citation.evidence_id]
        assert citation.sentence in result.report
        assert (pages / f"{evidence.content_hash}.md").read_text()[
            evidence.start : evidence.end
        ] == evidence.quote
    degraded = {p.stage for p in result.problems if "extractive" in p.effect}
    assert degraded <= ROLES
    assert all(
        role in result.report.partition("## Problems")[2] or role in str(result.problems)
        for role in degraded
    )
    assert result.usage.model_calls
    with capsys.disabled():
        used, covered = result.usage, sum(topic.covered for topic in result.topics)
        print(
            f"\n{len(result.topics)} topics, {covered} covered, {len(result.citations)} citations;"
            f" played by code: {sorted(degraded)}"
        )
        print(
            f"{used.model_calls} calls, {used.tokens_in} tokens in, {used.tokens_out} out,"
            f" {result.timings['total']} s"
        )
        print(
            "\n".join(f"  {p.stage}, {p.subject}: {p.reason} {p.effect}" for p in result.problems)
        )

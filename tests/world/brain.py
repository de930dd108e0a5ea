"""A scripted model that plays spadework's roles sensibly: it plans what it is told, quotes what it
is shown, writes what is proven.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.world.chat import ChatRequest
from tests.world.model import Model

_BLOCK = re.compile(r"<page_text>\n(.*?)\n</page_text>", re.DOTALL)


def play(
    model: Model,
    topics: Mapping[str, str],
    *,
    keywords: Mapping[str, str] | None = None,
    gaps: Mapping[str, str] | None = None,
) -> None:
    """Script all roles. `topics`: name → its query. `keywords`: name → a word that a passage must
    hold to prove the topic (default: any sentence will do). `gaps`: name → the query that is
    recommended while the topic is not proven.
    """

    def plan(request: ChatRequest) -> dict[str, Any]:
        made = [
            {
                "name": name,
                "question": f"What about {name}?",
                "must_cover": [],
                "queries": [{"text": query, "kind": "original"}],
            }
            for name, query in topics.items()
        ]
        head = {
            "question_type": "general",
            "complexity": "moderate",
            "freshness": "any",
            "language": "en",
            "subjects": list(topics),
        }
        return head | {"topics": made}

    def assess(request: ChatRequest) -> dict[str, Any]:
        name = re.search(r"^Topic: (.*)$", request.prompt, re.MULTILINE)[1]  # type: ignore[index]
        word = (keywords or {}).get(name, "")
        quotes = [
            s for block in passages(request) if word in block and (s := _sentence(block, word))
        ]
        gap = (gaps or {}).get(name, f"more about {name}")
        return assessment(quotes[:4], gap="" if quotes else gap)

    model.script("PlanAnswer", plan)
    model.script("AssessmentAnswer", assess)
    model.script("HitsAnswer", {"against": []})
    model.script("SectionAnswer", lambda request: section(evidence(request)))


def passages(request: ChatRequest) -> list[str]:
    """The passages that an assessor is shown."""
    return _BLOCK.findall(request.prompt.partition("Passages:")[2])


def evidence(request: ChatRequest) -> list[tuple[str, str]]:
    """The evidence that a writer is shown, as (id, quote)."""
    listed = "\n".join(_BLOCK.findall(request.prompt.partition("Evidence, one entry")[2]))
    return re.findall(r"^(E\d+): (.*?) \([^()\n]*\)$", listed, re.DOTALL | re.MULTILINE)


def assessment(quotes: list[str], *, gap: str = "", covered: bool | None = None) -> dict[str, Any]:
    """An assessor's answer with these quotes; a gap leaves the topic open."""
    quality = dict.fromkeys(
        ("accuracy", "completeness", "relevance", "source_quality", "clarity"), 8
    )
    done = bool(quotes) and not gap if covered is None else covered
    return {
        "covered": done,
        "score": 0.95 if done else 0.3,
        "evidence": [{"quote": quote} for quote in quotes],
        "gaps": [f"Missing: {gap}"] if gap else [],
        "gap_queries": [{"query": gap, "purpose": "fill the gap", "priority": "high"}]
        if gap
        else [],
        "quality": quality,
    }


def section(items: list[tuple[str, str]]) -> dict[str, Any]:
    """A writer's answer that repeats each quote as its sentence."""
    return {
        "sentences": [
            {"text": " ".join(quote.split()), "evidence_ids": [id_], "code": False}
            for id_, quote in items[:6]
        ]
    }


def _sentence(block: str, word: str) -> str:
    """The first prose sentence of a passage that holds the word."""
    prose = [
        line
        for line in block.split("\n")
        if line and not line.startswith(("#", "|", "`", "-", "*"))
    ]
    found = (s.strip() for line in prose for s in re.split(r"(?<=[.!?])\s", line))
    return next((s for s in found if word in s and len(s) > 30 and s.endswith(".")), "")

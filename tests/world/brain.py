"""A scripted model that plays spadework's roles sensibly: it plans what it is told, quotes what it
is shown, writes what is proven.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.naming import passages

_BLOCK = re.compile(r"<page_text>\n(.*?)\n</page_text>", re.DOTALL)


def play(
    model: Model,
    topics: Mapping[str, str],
    *,
    keywords: Mapping[str, str] | None = None,
    gaps: Mapping[str, str] | None = None,
    language: str = "en",
) -> None:
    """Script all roles. `topics`: name → its query. `keywords`: name → a word that a passage must
    hold to prove the topic (default: any sentence will do). `gaps`: name → the query that is
    recommended while the topic is not proven. `language` is that of the report.
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
            "language": language,
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
    model.script("SummaryAnswer", summary)
    model.script("OutlineAnswer", outline)


def evidence(request: ChatRequest) -> list[tuple[str, str]]:
    """The evidence that a writer is shown, as (id, quote)."""
    listed = request.prompt.partition("Evidence, each entry")[2]
    found = re.findall(
        r"^\[(E\d+)\] .*\n<page_text>\n((?s:.*?))\n</page_text>", listed, re.MULTILINE
    )
    marked = (
        (id_, re.search(r"^¶\n((?s:.*?))\n¶$", told, re.MULTILINE), told) for id_, told in found
    )
    return [(id_, quote[1] if quote else told) for id_, quote, told in marked]


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
    return written(*((" ".join(quote.split()), [id_]) for id_, quote in items[:6]))


def written(*told: tuple[str, list[str]]) -> dict[str, Any]:
    """A writer's answer: each text with the ids of its evidence, in a paragraph of its own."""
    return {"markdown": "\n\n".join(_marked(text, ids) for text, ids in told)}


def _marked(text: str, ids: list[str]) -> str:
    safe = re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)
    return f"{safe} [{', '.join(ids)}]" if ids else safe


def summary(request: ChatRequest) -> dict[str, Any]:
    """A writer's summary: the first sentence of every section, on the same evidence."""
    first = (re.search(r"^(.*) \[(E.*)\]$", b, re.MULTILINE) for b in _BLOCK.findall(request.user))
    return written(*((found[1], found[2].split(", ")) for found in first if found))


def outline(request: ChatRequest) -> dict[str, Any]:
    """A section for every topic, with the entries of the ledger that speak of nothing else."""
    names = re.findall(r"^- (.*?): What about", request.user, re.MULTILINE)
    ids = re.findall(r"^(E\d+) ·", request.user, re.MULTILINE)
    share = max(1, -(-len(ids) // max(1, len(names))))
    sections = [
        {
            "heading": name,
            "shows": f"What about {name}?",
            "form": "prose",
            "columns": [],
            "evidence_ids": ids[n * share : (n + 1) * share],
            "words": 50,
        }
        for n, name in enumerate(names)
    ]
    return {"title": "", "answer": "", "sections": sections}


def _sentence(block: str, word: str) -> str:
    """The first prose sentence of a passage that holds the word."""
    prose = [
        line
        for line in block.split("\n")
        if line and not line.startswith(("#", "|", "`", "-", "*"))
    ]
    found = (s.strip() for line in prose for s in re.split(r"(?<=[.!?])\s", line))
    return next((s for s in found if word in s and len(s) > 30 and s.endswith(".")), "")

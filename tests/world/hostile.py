"""Models that are hostile or broken, each in one way: what becomes of every answer of a model that
plays its roles sensibly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.world.brain import written
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.script import Plain, Twist

#: What the inventive ones say; nothing of it may ever stand in a report.
LIE = "Port Aldermere was bought by a consortium of clockmakers in 1999, and 77,001 people left."
EVIL_HOST = "evil.example"


def _each(schema: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Twist:
    """A twist of the answers of one shape; the others stay."""

    def twist(request: ChatRequest, answer: Plain) -> Plain:
        return (
            change(answer) if request.schema_name == schema and isinstance(answer, dict) else answer
        )

    return twist


def _sentences(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Twist:
    """A twist of every sentence of a section, as its text and the ids of its evidence."""

    def changed(paragraph: str) -> tuple[str, list[str]]:
        text, _, ids = paragraph.rpartition(" [")
        said = {"text": text, "evidence_ids": ids.rstrip("]").split(", ")}
        said |= change(said)
        return said["text"], said["evidence_ids"]

    return _each("SectionAnswer", lambda a: written(*map(changed, a["markdown"].split("\n\n"))))


def _fails(fault: Fault) -> Twist:
    return lambda request, answer: fault


def _invents_urls(request: ChatRequest, answer: Plain) -> Plain:
    if not isinstance(answer, dict):
        return answer
    if request.schema_name == "SectionAnswer":
        more = f" More at https://{EVIL_HOST}/page. ["
        return {"markdown": answer["markdown"].replace(" [", more)}
    if request.schema_name == "PlanAnswer":
        return answer | {
            "topics": [
                t | {"queries": [*t["queries"], _query(f"https://{EVIL_HOST}/plan")]}
                for t in answer["topics"]
            ]
        }
    return answer | {"gaps": [f"see https://{EVIL_HOST}/gap"]}


def _query(text: str) -> dict[str, str]:
    return {"text": text, "kind": "specific"}


#: A behaviour by name. Those of FAILING never give an answer that can be used.
FAILING: dict[str, Twist] = {
    "invalid JSON for ever": lambda request, answer: "Certainly! Here you are: {'covered': yes,",
    "empty answers": _fails(Fault("empty")),
    "truncation": _fails(Fault("truncated")),
    "429 storm": _fails(Fault("limited", retry_after=0.01)),
    "hangs": _fails(Fault("hang")),
    "context too long": _fails(Fault("too_long")),
    "refusal": _fails(Fault("refusal")),
}

LYING: dict[str, Twist] = {
    "a thought before JSON": lambda request, answer: (
        f'<think>So {{"covered": 1}}? No.</think>\n{json.dumps(answer)}'
    ),
    "invented quotes": _each(
        "AssessmentAnswer",
        lambda a: a | {"covered": True, "score": 1.0, "evidence": [{"quote": LIE}]},
    ),
    "invented URLs": _invents_urls,
    "invented evidence ids": _sentences(lambda s: {"text": LIE, "evidence_ids": ["E777"]}),
    "changed numbers": _sentences(
        lambda s: {"text": re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), s["text"])}
    ),
    "covers everything without evidence": _each(
        "AssessmentAnswer", lambda a: a | {"covered": True, "score": 1.0, "evidence": []}
    ),
    "never covers anything": _each(
        "AssessmentAnswer", lambda a: a | {"covered": False, "score": 0.0, "gap_queries": []}
    ),
}

"""What a model that judges rightly says of the sentences it is shown: those of the examination by
what is known of them, all others hold.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

from tests.world.chat import ChatRequest

_ITEM = re.compile(r"^(\d+)\. (.*) \[(.*)\](?: \(a conclusion\))?$", re.MULTILINE)
#: The sentence before one that leans on it.
_BEFORE = re.compile(r" \(it comes after “.*”\)$")
#: What an honest reader looks for in what is shown: words with capitals, and figures.
_MARKED = re.compile(r"\b(?:[A-Z]\w{3,}|\d[\d,.]*\d|\d)")


def told(request: ChatRequest) -> list[tuple[int, str]]:
    """The sentences that a verifier is shown, by their numbers."""
    shown = request.prompt.rpartition("Sentences, each with the evidence it cites:")[2]
    return [(int(n), _BEFORE.sub("", sentence)) for n, sentence, _ in _ITEM.findall(shown)]


def in_examination(request: ChatRequest) -> bool:
    """Whether the request is the examination of a judge."""
    return any(sentence in _truths() for _, sentence in told(request))


def verdicts(request: ChatRequest, verdict: str = "") -> dict[str, Any]:
    """The right verdicts on the sentences of the examination; `verdict` on all others, or as who
    reads names and figures gives them.
    """
    shown = request.prompt.rpartition("Sentences, each with the evidence it cites:")[0].lower()
    said = []
    for n, sentence in told(request):
        holds = _truths().get(sentence)
        if holds is None:
            words = _MARKED.findall(sentence)
            holds = all(word.lower() in shown for word in words)
            found = verdict or ("supported" if holds else "unsupported")
        else:
            found = "supported" if holds else "contradicted"
        said.append({"number": n, "verdict": found, "missing": ""})
    return {"verdicts": said}


@lru_cache(maxsize=1)
def _truths() -> dict[str, bool]:
    text = (files("spadework.agents.llm") / "examination.json").read_text(encoding="utf-8")
    return {case["sentence"]: case["holds"] for case in json.loads(text)}

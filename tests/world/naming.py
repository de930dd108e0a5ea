"""The quotes of a scripted model as an assessor names them: by the numbers that stand before the
parts of what it is shown.
"""

from __future__ import annotations

import re
from typing import Any

from tests.world.chat import ChatRequest

_BLOCK = re.compile(r"<page_text>\n(.*?)\n</page_text>", re.DOTALL)
_NUMBER = re.compile(r"¶(\d+)[ \n]")
#: The number of a quote that nobody is shown.
NOWHERE = 99_999


def passages(request: ChatRequest) -> list[str]:
    """The passages that an assessor is shown, without their numbers."""
    return [_NUMBER.sub("", block) for block in _shown(request)]


def named(request: ChatRequest, answer: Any) -> Any:
    """An answer with numbers in the place of each `quote` of its evidence."""
    if request.schema_name not in ("AssessmentAnswer", "ReadingAnswer") or not isinstance(
        answer, dict
    ):
        return answer
    evidence = [
        _place(request, item["quote"]) | {k: v for k, v in item.items() if k != "quote"}
        if isinstance(item, dict) and "quote" in item
        else item
        for item in answer.get("evidence", [])
    ]
    return answer | {"evidence": evidence}


def _place(request: ChatRequest, quote: str) -> dict[str, Any]:
    words = "".join(quote.split())
    for block in _shown(request):
        # The text of each part without white space, as quotes may be wrapped otherwise.
        parts = [
            (int(number), "".join(part.split()))
            for number, part in zip(*[iter(_NUMBER.split(block)[1:])] * 2, strict=True)
        ]
        at = "".join(part for _, part in parts).find(words)
        if at >= 0:
            ends, end = [], 0
            for number, part in parts:
                end += len(part)
                ends.append((number, end))
            first = next(number for number, end in ends if end > at)
            last = next(number for number, end in ends if end >= at + len(words))
            return {"first": first, "last": last}
    return {"first": NOWHERE, "last": NOWHERE, "claim": quote}


def _shown(request: ChatRequest) -> list[str]:
    return _BLOCK.findall(request.prompt.partition("Passages:")[2])

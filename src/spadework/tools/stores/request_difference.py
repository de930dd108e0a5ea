"""In what a request to a model differs from those that were recorded, in one sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

#: Characters that are shown before and after the first difference.
BEFORE, AFTER = 20, 60
#: The names under which messages are spoken of.
_NAMES = {"system": "system message", "human": "user message", "ai": "own earlier answer"}


def difference(sent: dict[str, Any], recorded: Sequence[dict[str, Any]]) -> str:
    """What differs from the recorded request of the same shape that is most like it."""
    same = [other for other in recorded if other.get("shape") == sent["shape"]]
    if not same:
        return f"no request for {sent['shape']} was recorded."
    nearest = max(same, key=lambda other: _likeness(sent, other))
    pairs = zip(_parts(sent), _parts(nearest), strict=False)
    said = " ".join(filter(None, (_describe_difference(*pair) for pair in pairs)))
    return said or "it has more or fewer messages than the recorded one."


def _likeness(sent: dict[str, Any], other: dict[str, Any]) -> tuple[int, int]:
    """How many parts are the same, and how much of the others is up to their first difference."""
    pairs = list(zip(_parts(sent), _parts(other), strict=False))
    same = sum(mine == theirs for mine, theirs in pairs)
    return same, sum(_shared_prefix(mine[1], theirs[1]) for mine, theirs in pairs)


def _parts(request: dict[str, Any]) -> list[tuple[str, str]]:
    """The parts of a request with their names."""
    schema = json.dumps(request["schema"], sort_keys=True)
    told = ((_NAMES.get(kind, str(kind)), text) for kind, text in request["messages"])
    asked = (("model", str(request["model"])), ("way of asking", str(request["method"])))
    return [*asked, ("schema", schema), *told]


def _describe_difference(mine: tuple[str, str], theirs: tuple[str, str]) -> str:
    name, now = mine
    before = theirs[1]
    if now == before:
        return ""
    at = _shared_prefix(now, before)
    return f"its {name} differs at {_near(now, at)}, where {_near(before, at)} was recorded."


def _shared_prefix(one: str, other: str) -> int:
    """How many characters at their beginnings are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _near(text: str, at: int) -> str:
    """The place of a difference in a text, on one line."""
    return f"“{' '.join(text[max(0, at - BEFORE) : at + AFTER].split())}”"

"""What is drawn of a session from its record, without what a clock says: two runs that did the same
have the same, also where one of them was killed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from spadework.sessions.metrics.session_index import METADATA

#: What a clock says in the files that are JSON.
_TIMES = frozenset({"at", "seconds", "fetch_seconds", "cleaning", "began", "after", "fetched_at"})
#: What is counted anew when a run is taken up, as answers that it knows already, or hangs on what
#: has come by then, as the batches in which texts are embedded.
_ANEW = frozenset({"cache_hits", "total", "embedding_calls", "embedding_tokens"})
#: The same in a line of a log.
_TIMED = re.compile(rf" (?:{'|'.join(sorted(_TIMES))})=\S+")
_SECONDS = re.compile(r"\d+(\.\d+)? s\b")


def drawn(home: Path) -> dict[str, Any]:
    """The work products, the ledger, the progress, the measures and the logs of the only session in
    a home.
    """
    # One that was killed before it had written down what it was asked has left an empty folder.
    [folder] = (path.parent for path in home.glob(f"sessions/*/{METADATA}"))
    products = {
        path.name.rsplit("_", 2)[0]: _SECONDS.sub("… s", path.read_text())
        for path in sorted(folder.glob("*_workproduct_*.md"))
    }
    progress = json.loads((folder / "progress_tracking.json").read_text())
    metadata = json.loads((folder / METADATA).read_text())
    ledger = [json.loads(line) for line in (folder / "evidence.jsonl").read_text().splitlines()]
    return {
        **products,
        "progress": _timeless(progress),
        "ledger": _timeless(ledger),
        "measures": _measures(metadata["performance_metrics"]),
        "logs": {path.name: _lines(path) for path in sorted((folder / "logs").iterdir())},
    }


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What differs between two of them, with the first lines that do."""
    return [
        f"{name}: {_first(one.get(name), other.get(name))}"
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def _measures(metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in metrics.items()
        if name not in _ANEW and not name.endswith("_seconds")
    }


def _lines(path: Path) -> list[str]:
    """The lines of a log, in no order: that of things done side by side is chance. That a run was
    taken up is not among them.
    """
    lines = (line.partition(" ")[2] for line in path.read_text().splitlines())
    return sorted(_TIMED.sub("", line) for line in lines if " resumed=1" not in line)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(one) for name, one in value.items() if name not in _TIMES}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def _first(one: Any, other: Any) -> str:
    left, right = (_split(value) for value in (one, other))
    gone = [line for line in left if line not in right][:2]
    new = [line for line in right if line not in left][:2]
    return f"{gone} → {new}" if gone or new else "another order"


def _split(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.splitlines()
    if isinstance(value, dict):
        return [f"{name} {line}" for name, one in value.items() for line in _split(one)]
    return [json.dumps(one) for one in value] if isinstance(value, list) else [json.dumps(value)]

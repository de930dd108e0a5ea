"""What the reception takes small talk, chores and questions for, by rules alone:
`python benchmarks/reception.py [--show]`.

`reception/messages.jsonl` holds messages in ten languages, `reception/requests.jsonl` requests in
the forms of four chat clients, worded anew. Every second line is *test*; with `--show` the mistakes
on the others are printed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from spadework.agents.receptionist import by_rules, chore_of

_SETS = Path(__file__).parent / "reception"


def main() -> None:
    """Print what each half is taken for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the mistakes on dev")
    show = parser.parse_args().show
    for name in ("messages", "requests"):
        lines = (_SETS / f"{name}.jsonl").read_text("utf-8").splitlines()
        asked = [json.loads(line) for line in lines]
        for half, found in (("dev", asked[::2]), ("test", asked[1::2])):
            print(f"{name}, {half}:", _figures(found))
            for each in found if show and half == "dev" else ():
                if _kind(each) != _wanted(each):
                    print("  ", _wanted(each), "taken for", _kind(each), "|", _said(each)[:300])


def _figures(asked: list[dict[str, Any]]) -> str:
    counts = Counter((_wanted(each), _kind(each)) for each in asked)
    return ", ".join(f"{a} taken for {b}: {n}" for (a, b), n in sorted(counts.items()))


def _said(each: dict[str, Any]) -> str:
    if "text" in each:
        return str(each["text"])
    said = [m for m in each["messages"] if m["role"] == "user"] or each["messages"]
    return str(said[-1]["content"])


def _wishes(each: dict[str, Any]) -> str:
    said = [m["content"] for m in each.get("messages", ()) if m["role"] in ("system", "developer")]
    return "\n\n".join(map(str, said))


def _wanted(each: dict[str, Any]) -> str:
    return str(each["kind"]) if each["kind"] in ("chore", "talk") else "research"


def _kind(each: dict[str, Any]) -> str:
    if chore_of(_said(each), _wishes(each), each.get("body", {}).get("max_tokens", 0)):
        return "chore"
    found = by_rules(_said(each))
    return found.kind if found else "doubtful"


if __name__ == "__main__":
    main()

"""Whether what is shown as a disagreement is one: `python benchmarks/disagreements.py [--sweep]`.

`disagreements.jsonl` holds pairs of sentences, half of them *dev*, half *test*: those that disagree
(`kind` says how) are written for it; those that only look so (`kind` is empty) are written, or come
from reports of `answers.py` on the same half, where an earlier rule took them for disagreements.
Those whose source is *like* were written for comparing like with like: seasons, parts of names,
other units, figures that are rounded or converted. `titles` are those of their pages, `asked` the
words that the question asks about its subject.

`--sweep` prints *dev* with each constant of the rule at other values, and with each of its steps
left out; `--show` names the pairs of *dev* that are judged wrongly.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from spadework.tools.ranking import conflicts as disagreement, statements
from spadework.tools.text.facts import stems

PAIRS = Path(__file__).with_name("disagreements.jsonl")
HALVES = ("dev", "test")
VALUES: dict[str, tuple[float, ...]] = {
    "SAME": (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8),
    "SAME_BUT_DENIED": (0.7, 0.75, 0.8, 0.85, 0.9),
    "NEAR": (2, 3, 4, 5, 6, 99),
    "DATED": (1, 2, 3, 4, 5, 8, 99),
    "TITLED": (0.34, 0.5, 0.67, 1),
}
#: Steps of the rule, each with what it says where it is left out.
STEPS = {"_pages_are_of_others": False, "_names_others": False, "_contrast": False}
Pair = dict[str, Any]


def pairs(half: str) -> list[Pair]:
    """The pairs of a half."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["half"] == half]


def shown(pair: Pair) -> bool:
    """Whether a pair is taken for a disagreement."""
    asked, titles = stems(pair["asked"]), tuple(pair["titles"])
    return bool(disagreement.disagreement(pair["one"], pair["other"], asked, titles))


def figures(rows: Sequence[Pair]) -> dict[str, float]:
    """How many disagreements are shown, precision and recall; and how many of the pairs from
    reports, none of which is one, are shown.
    """
    found = [row for row in rows if shown(row)]
    right = sum(bool(row["kind"]) for row in found)
    return {
        "shown": len(found),
        "precision": right / len(found) if found else 0.0,
        "recall": right / sum(bool(row["kind"]) for row in rows),
        "shown_of_reports": sum(row["source"] == "report" for row in found),
    }


def told(name: str, rows: Sequence[Pair]) -> str:
    """The figures as a line."""
    each = figures(rows)
    return f"{name:<24}" + "  ".join(f"{key} {value:.3g}" for key, value in each.items())


def sweep(rows: Sequence[Pair]) -> list[str]:
    """The figures at other values of each constant, and without each step."""
    lines = []
    for name, values in VALUES.items():
        for value in values:
            module = statements if hasattr(statements, name) else disagreement
            with patch.object(module, name, value):
                statements.statements.cache_clear()
                lines.append(told(f"{name} {value:g}", rows))
    statements.statements.cache_clear()
    for name, answer in STEPS.items():
        with patch.object(disagreement, name, lambda *_, answer=answer: answer):
            lines.append(told(f"without {name}", rows))
    return lines


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    for half in HALVES:
        print(told(f"{half} ({len(pairs(half))} pairs)", pairs(half)))
    if options.sweep:
        print("\n".join(sweep(pairs("dev"))))
    for pair in pairs("dev") if options.show else []:
        if shown(pair) != bool(pair["kind"]):
            print(f"{pair['kind'] or 'none'}: {pair['one']} <> {pair['other']}")


if __name__ == "__main__":
    main()

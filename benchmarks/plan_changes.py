"""What rules make of changes of a plan that are said in words: `python benchmarks/plan_changes.py`.

`plan_changes.jsonl` has 80 of them with the plans they should give, written by somebody who had not
seen the rules. What the rules leave is for the lead's model; what they make wrong nobody mends but
the user, who sees the plan again.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from spadework.agents.plan_wording import by_words
from spadework.values import Plan, Topic


def outcome(row: dict[str, Any], plan: Plan) -> str:
    """What became of a change: right, wrong, or left."""
    made = by_words(plan, str(row["said"]))
    if not made.understood:
        return "left"
    names = [topic.name.casefold() for topic in made.plan.topics]
    wanted = [str(name).casefold() for name in row["want"]]
    fits = names == wanted and made.plan.freshness == row["want_freshness"]
    return "right" if fits else "wrong"


if __name__ == "__main__":
    lines = Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    told: Counter[str] = Counter()
    for row in map(json.loads, lines):
        topics = tuple(Topic(name=name, question=name) for name in row["topics"])
        found = outcome(row, Plan(question="?", topics=topics, freshness=row["freshness"]))
        told[found] += 1
        if found == "wrong":
            print(f"wrong: {row['said']}")
    print(", ".join(f"{count} {name}" for name, count in told.most_common()))

"""Whether a follow-up that a session's evidence answers is answered from it, and no other, without
a model: `python benchmarks/reception_follow_ups.py [--half test] [--show]`.

`reception/follow_ups.jsonl` holds questions over the documentation that is installed with Python,
each with follow-ups and the words that answer them, [] where it is not known that anything does.
Each first question is researched; a follow-up counts as *held* where its words stand in the ledger
of that run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result

_SET = Path(__file__).parent / "reception" / "follow_ups.jsonl"


def main() -> None:
    """Ask each question and its follow-ups; print how many were answered from evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("dev", "test"), default="dev")
    parser.add_argument("--show", action="store_true", help="print each follow-up")
    given = parser.parse_args()
    rows = [json.loads(line) for line in _SET.read_text("utf-8").splitlines()]
    counts = Counter[str]()
    with TemporaryDirectory() as home:
        settings = Settings.load(search="library", home=Path(home), iterations=1)
        for row in (row for row in rows if row["half"] == given.half):
            for text, found in asyncio.run(_asked(row, settings)):
                counts[found] += 1
                if given.show:
                    print(f"  {found}: {row['question']} {text}")
    print(f"{given.half}:", ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))


async def _asked(row: dict[str, Any], settings: Settings) -> list[tuple[str, str]]:
    """Each follow-up of a question, and what came of it."""
    first = await research(row["question"], settings)
    made = []
    for asked in row["follow_ups"]:
        result = await research(asked["text"], settings, follows=first.session_id)
        made.append((asked["text"], _judged(first, result, asked["any"])))
    return made


def _judged(first: Result, result: Result, words: list[str]) -> str:
    held = "held" if _holds(first, words) else "not held"
    if result.stopped_by != "known":
        return f"{held}, researched"
    return f"{held}, answered {'rightly' if _holds(result, words) else 'wrongly'}"


def _holds(result: Result, words: list[str]) -> bool:
    said = " ".join(e.quote for topic in result.topics for e in topic.evidence).lower()
    return any(word.lower() in said for word in words)


if __name__ == "__main__":
    main()

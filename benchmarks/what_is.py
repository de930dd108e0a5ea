"""Whether "What is X?" is answered by the sentence that says so: `python benchmarks/what_is.py
[--half test]`.

X are the packages installed here whose description has a sentence "X is a …"; their documentation
is the library that is searched without settings. Split by the hash of their names; those of *dev*
are among the questions on which the judge is fitted. No model.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
from importlib.metadata import distributions
from typing import Any

from answers_match import blocks, body, met

from spadework.sessions.one_call import research
from spadework.settings import Settings

#: Words of the sentence by which it is known.
WORDS = 7


def main() -> None:
    """Ask of each package what it is; print how many answers begin with the sentence, hold it, and
    are called answers.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("dev", "test"), default="dev")
    half = parser.parse_args().half
    asked = rows(half)
    first = held = claimed = 0
    for row in asked:
        found, answered = asyncio.run(_asked(row["question"]))
        begins, holds = met(row["facts"][0], found[:1]), met(row["facts"][0], found)
        first, held, claimed = first + begins, held + holds, claimed + answered
        print(f"{'first' if begins else 'held' if holds else 'MISSING'}: {row['question']}")
    print(
        f"{half}: {len(asked)} packages, {first} begin with it, {held} hold it, {claimed} claimed"
    )


def rows(half: str) -> list[dict[str, Any]]:
    """The questions of a half, in the form of `answers/questions.jsonl`."""
    made = []
    for package in distributions():
        name, text = package.metadata["Name"], str(package.metadata.get_payload() or "")
        said = re.search(
            rf"^(?:\*\*|`)?({re.escape(name)})(?:\*\*|`)? is an? [^\n]{{20,300}}", text, re.M | re.I
        )
        if said and half_of(name) == half:
            words = " ".join(said[0].split()[:WORDS]).rstrip(".,[(")
            fact = {"value": words, "any": [[words]]}
            row = {"question": f"What is {said[1]}?", "kind": "definition", "facts": [fact]}
            made.append(row | {"id": said[1], "answerable": True, "paraphrases": []})
    return sorted(made, key=lambda row: str(row["id"]).lower())


def half_of(name: str) -> str:
    """The half that a package is of."""
    return ("dev", "test")[hashlib.sha256(name.lower().encode()).digest()[0] % 2]


async def _asked(question: str) -> tuple[list[str], bool]:
    result = await research(question, Settings.load(search="library", iterations=1))
    # Sentences that stand in one paragraph of the report are compared one by one.
    said = [blocks(line) for line in body(result.report).replace(". ", ".\n\n").split("\n\n")]
    return [each for found in said for each in found], all(t.covered for t in result.topics)


if __name__ == "__main__":
    main()

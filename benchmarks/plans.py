"""What the lead without a model plans: `python benchmarks/plans.py [--half test] [--show]`.

`plans.jsonl` holds ordinary questions with what a careful person would plan: `asks`, the question
of each topic (any of several wordings; the question itself where it is missing); `sides`, what is
compared; `aspects`, what is asked of them or of one thing; `code`, whether source code is wanted.
Every second one of a kind and language is *test*; `--show` prints the mistakes.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spadework.agents.evidence.expectation import Standard, shortfalls
from spadework.agents.extractive.lead import plan
from spadework.values import Evidence, Plan, Question

QUESTIONS = Path(__file__).with_suffix(".jsonl")
HALVES = ("dev", "test")
_ARTICLE = re.compile(r"^(?:the|an?|de[rnms]|die|das|eine?[nmrs]?)\s+", re.IGNORECASE)
Row = dict[str, Any]


def rows(half: str) -> list[Row]:
    """The questions of a half."""
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["half"] == half]


def planned(row: Row) -> Plan:
    """The plan of a question by its words alone."""
    return plan(Question(text=row["question"], earlier=tuple(row.get("earlier", ()))), ())


def mistakes(row: Row, made: Plan) -> list[str]:
    """In what a plan differs from that of a careful person; nothing where it is right."""
    found = {
        "topics": _has_topics(row, made),
        "sides": _has_sides(row.get("sides", []), made),
        "aspects": all(_is_sought(aspect, made) for aspect in row.get("aspects", [])),
        "cut": not any(_cuts(row, query) for query in _beside(made)),
        "code": row.get("code") in (None, _wants_code(made)),
    }
    return [name for name, right in found.items() if not right]


def figures(asked: Sequence[Row]) -> dict[str, tuple[int, int]]:
    """How many questions of each kind, and of all, are planned rightly, and how many there are."""
    right = [(row["kind"], not mistakes(row, planned(row))) for row in asked]
    kinds = dict.fromkeys(kind for kind, _ in right)
    told = {kind: [one for of, one in right if of == kind] for kind in kinds}
    told["all"] = [one for _, one in right]
    return {kind: (sum(ones), len(ones)) for kind, ones in told.items()}


def _has_topics(row: Row, made: Plan) -> bool:
    wanted = row.get("asks", [[row["question"]]])
    # A follow-up stands as it was typed, with what it is about in brackets.
    said = [_plain(re.sub(r" \([^()]*\)(?=\W*$)", "", topic.question)) for topic in made.topics]
    return len(said) == len(wanted) and all(
        one in map(_plain, any_of) for one, any_of in zip(said, wanted, strict=True)
    )


def _has_sides(sides: Sequence[str], made: Plan) -> bool:
    """Whether what is compared is told, nothing else is, and each side is searched by itself."""
    told = [m for t in made.topics if t.expects == "both sides" for m in t.must_cover]
    alone = all(any(_holds(query, side) for query in _beside(made)) for side in sides)
    return sorted(map(_plain, told)) == sorted(map(_plain, sides)) and alone


def _is_sought(aspect: str, made: Plan) -> bool:
    """Whether an aspect must be covered, or is searched by words that leave something else out."""
    told = [must for topic in made.topics for must in topic.must_cover]
    return any(_holds(text, aspect) for text in (*told, *_beside(made)))


def _cuts(row: Row, query: str) -> bool:
    """Whether a search has a part of what belongs together, and not the whole of it."""
    units = [*row.get("sides", []), *row.get("aspects", [])]
    left = query
    for unit in sorted(filter(lambda unit: _holds(query, unit), units), key=len, reverse=True):
        left = re.sub(re.escape(unit), " ", left, flags=re.IGNORECASE)
    words = {word for word in _words(left) if len(word) > 1}
    return any(words & set(_words(unit)) for unit in units if not _holds(query, unit))


def _beside(made: Plan) -> Iterator[str]:
    """The searches beside the question in its own words."""
    own = {made.question, *(topic.question for topic in made.topics)}
    yield from (q.text for topic in made.topics for q in topic.queries if q.text not in own)


def _wants_code(made: Plan) -> bool:
    """Whether that no quote is code counts as a lack."""
    day = datetime(2026, 1, 1, tzinfo=UTC)
    proven = [
        Evidence(
            id=f"E{n}", topic=topic.name, claim="", quote="Nothing of the kind is told here.",
            kind="text", url="library://a/b", start=0, end=1, content_hash="0", fetched_at=day,
            origin="a",
        )
        for n, topic in enumerate(made.topics)
    ]  # fmt: skip
    lacks = shortfalls(made, {}, proven, Standard(quality=0, domains=1))
    return any(lack.kind == "code" for lack in lacks)


def _holds(text: str, unit: str) -> bool:
    return f" {' '.join(_words(_plain(unit)))} " in f" {' '.join(_words(text))} "


def _plain(text: str) -> str:
    return _ARTICLE.sub("", text.strip(" ?.!,;")).casefold()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def main() -> None:
    """Print how many of a half are planned rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="dev")
    parser.add_argument("--show", action="store_true", help="print the mistakes")
    told = parser.parse_args()
    asked = rows(told.half)
    print(*(f"{kind} {right}/{of}" for kind, (right, of) in figures(asked).items()), sep=", ")
    for row in asked if told.show else ():
        made = planned(row)
        if wrong := mistakes(row, made):
            print(f"\n{', '.join(wrong)}: {row['question']}", *row.get("earlier", []), sep=" < ")
            for topic in made.topics:
                print("   ", topic.question, topic.must_cover, [q.text for q in topic.queries[1:]])


if __name__ == "__main__":
    main()

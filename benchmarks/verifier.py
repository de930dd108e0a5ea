"""What becomes of sentences whose truth is known: how many true ones code refuses, how many false
ones it lets pass unseen.

    python benchmarks/verifier.py FILE.jsonl … [--half dev|test] [--show] [--verdicts FOLDER]

A line of FILE is a sentence with its evidence and a label (see benchmarks/README.md).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spadework.agents.report.checks import Known, find_unfounded, note_doubts, reason_to_refuse
from spadework.agents.report.material import entries_of
from spadework.agents.verifier import VerdictsAnswer
from spadework.prompts import render
from spadework.tools.text.page_text import PageText
from spadework.values import Evidence, Sentence

TRUE, BEYOND = "supported", "inference or beyond its quotes"
#: Sentences of a request, as the recorded answers took them.
BATCH = 20
#: What answers stand in the file of corrections, next to the cases of our own.
CORRECTIONS = Path(__file__).parent / "verifier" / "verify-dev-labels.json"


def cases(path: Path, half: str) -> Iterator[dict[str, Any]]:
    """The cases of a file, with corrected labels; `half` "" for all."""
    corrected = {}
    if path.name == "verify-dev.jsonl" and CORRECTIONS.exists():
        corrected = {c["line"]: c["label"] for c in json.loads(CORRECTIONS.read_text())}
    for n, line in enumerate(path.read_text().splitlines(), 1):
        case = json.loads(line)
        if not half or case.get("half", half) == half:
            yield case | {"label": corrected.get(n, case["label"])}


def evidence(case: dict[str, Any]) -> tuple[list[Evidence], dict[str, str]]:
    """The evidence of a case, and what is known of its pages: the words around each quote."""
    made, pages = [], {}
    for one in case["evidence"]:
        pages[one["id"]] = one["before"] + one["quote"] + one["after"]
        start, is_row = len(one["before"]), one["quote"].startswith("|")
        text = PageText(pages[one["id"]])
        # A row is cited with its column names, and other quotes with the sentences around them.
        near = (one["before"], "") if is_row else text.neighbours(start, start + len(one["quote"]))
        made.append(
            Evidence(
                id=one["id"],
                topic=case["section"],
                quote=one["quote"],
                url=one["url"],
                start=start,
                end=start + len(one["quote"]),
                content_hash=one["id"],
                fetched_at=datetime(2025, 1, 1, tzinfo=UTC),
                published_at=_day(one["date"]),
                origin=one["url"],
                title=one["title"],
                heading=one["heading"],
                before=near[0],
                after=near[1],
                kind="row" if is_row else "text",
            )
        )
    return made, pages


def found_by_code(case: dict[str, Any]) -> tuple[str, str]:
    """Return why code refuses the sentence of a case whoever judges, and what it flags in it."""
    cited, pages = evidence(case)
    there, question = [Known(text) for text in pages.values()], Known(case["section"])
    said = Sentence(text=case["sentence"], evidence_ids=tuple(e.id for e in cited))
    refused = reason_to_refuse(said, cited, there, question)
    return refused, find_unfounded(said, cited, [*there, question]) or note_doubts(said, cited)


def _day(date: str) -> datetime | None:
    """A date of a case: a day, a month or a year."""
    parts = [int(part) for part in date.split("-") if part] + [1, 1]
    return datetime(parts[0], parts[1], parts[2], tzinfo=UTC) if date else None


def requests(path: Path, half: str) -> Iterator[tuple[list[int], str]]:
    """The numbers of the cases that are put before a model in one call, mixed, and what it is
    shown.
    """
    numbered = list(enumerate(cases(path, half), 1))
    random.Random(path.name).shuffle(numbered)
    for n in range(0, len(numbered), BATCH):
        group = numbered[n : n + BATCH]
        entries, items = [], []
        for number, case in group:
            cited, _ = evidence(case)
            own = [e.model_copy(update={"id": f"E{number}{e.id.lower()}"}) for e in cited]
            entries += entries_of(own, around=True)
            refused, note = found_by_code(case)
            items.append(
                {
                    "sentence": case["sentence"],
                    "ids": [e.id for e in own],
                    "code": False,
                    "inferred": False,
                    "note": "" if refused else note,
                }
            )
        prompt = render("verifier", items=items, evidence=entries)
        yield [number for number, _ in group], f"{prompt.system}\n---\n{prompt.user}"


def judged(path: Path, half: str, folder: Path) -> None:
    """Write the requests to a folder, or print the figures of the answers that stand there, less
    what code refuses: NAME-01.request.txt is answered by NAME-01.answer.json.
    """
    known = list(cases(path, half))
    said: dict[int, str] = {}
    for n, (numbers, shown) in enumerate(requests(path, half), 1):
        file = folder / f"{path.stem}-{n:02}.answer.json"
        if file.exists():
            answer = VerdictsAnswer.model_validate_json(file.read_text())
            said |= {numbers[v.number - 1]: v.verdict for v in answer.verdicts}
        else:
            folder.mkdir(parents=True, exist_ok=True)
            file.with_name(f"{path.stem}-{n:02}.request.txt").write_text(shown)
    supported = {
        n
        for n, verdict in said.items()
        if verdict == "supported" and not found_by_code(known[n - 1])[0]
    }
    true = {n for n, case in enumerate(known, 1) if case["label"] == TRUE}
    false = {n for n, case in enumerate(known, 1) if case["label"] not in (TRUE, BEYOND)}
    right = len(supported & true)
    print(
        f"{path.name}: {len(said)} verdicts; supported: precision"
        f" {right / max(1, len(supported & (true | false))):.3f}, recall"
        f" {right / max(1, len(true & said.keys())):.3f}; beyond called supported:"
        f" {len(supported - true - false)}"
    )
    for n in sorted((supported & false) | (true & said.keys()) - supported):
        print(f"  {n} {said[n]} ({known[n - 1]['kind']}): {known[n - 1]['sentence']}")


def main() -> None:
    """Print the figures of code alone."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--half", default="", choices=["", "dev", "test"])
    parser.add_argument("--show", action="store_true", help="print what is refused and flagged")
    parser.add_argument("--verdicts", type=Path, help="folder of a model's requests and answers")
    given = parser.parse_args()
    for path in given.files:
        if given.verdicts:
            judged(path, given.half, given.verdicts)
            continue
        counts: Counter[tuple[str, str]] = Counter()
        for case in cases(path, given.half):
            why, note = found_by_code(case)
            found = "refused" if why else "flagged" if note else "passed"
            label = {TRUE: "true", BEYOND: "beyond"}.get(case["label"], "false")
            counts[label, found] += 1
            if given.show and (why or note) and label == "true":
                print(f"{label} {found}: {why or note}\n   {case['sentence']}")
            if given.show and label == "false" and found == "passed":
                print(f"{label} {found} ({case['kind']}): {case['sentence']}")
        for label in ("true", "beyond", "false"):
            told = {found: counts[label, found] for found in ("refused", "flagged", "passed")}
            print(f"{path.name} {label}: {told}")


if __name__ == "__main__":
    main()

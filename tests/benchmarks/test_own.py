"""The questions over own files, and how their answers are compared."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest

from benchmarks.answers_match import blocks, in_order, met, opening

OWN = Path(__file__).parents[2] / "benchmarks" / "own"


def text(path: Path) -> str:
    """A file as plain text, its tables as Markdown."""
    said = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        article = said.split("<article>")[1].split("</article>")[0]
        return unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(?:p|h1|div)>", "\n\n", article)))
    if path.suffix == ".csv":
        return "\n".join(f"| {' | '.join(row)} |" for row in csv.reader(said.splitlines()))
    return said


@pytest.mark.parametrize(
    ("questions", "over"),
    [("dev.jsonl", ("notes", "news", "languages")), ("club.jsonl", ("club",))],
)
def test_every_fact_stands_in_the_files_that_are_named(
    questions: str, over: tuple[str, ...]
) -> None:
    lines = (OWN / questions).read_text(encoding="utf-8").splitlines()
    files = {
        path.relative_to(top).as_posix(): path
        for top in (OWN / name for name in over)
        for path in top.rglob("*.*")
    }
    for row in map(json.loads, lines):
        assert row["answerable"] == bool(row["facts"]) == bool(row["where"]), row["id"]
        for path in map(files.__getitem__, row["where"]):
            if path.suffix in (".pdf", ".docx") or row.get("computed"):
                continue
            found = blocks(text(path))
            assert all(met(fact, found) for fact in row["facts"]), (row["id"], path.name)
            assert not row.get("ordered") or in_order(row["facts"], text(path)), row["id"]


def test_steps_in_another_order_are_not_in_order() -> None:
    facts = [{"any": [["open"]]}, {"any": [["drain"], ["empty"]]}]
    assert in_order(facts, "1. Open it.\n2. Empty it.")
    assert not in_order(facts, "1. Drain it.\n2. Open it.")


def test_the_opening_takes_a_list_whole_and_a_table_by_its_rows() -> None:
    steps = "1. One\n2. Two\n3. Three\n4. Four"
    assert opening(f"First.\n{steps}\n\nThird. No more.") == f"First.\n\n{steps}\n\nThird."
    rows = [f"| {n} |" for n in range(4)]
    table = "\n".join(["| n |", "| - |", *rows])
    assert opening(table) == "\n\n".join(rows[:3])
    assert opening(table, of_rows=True) == table

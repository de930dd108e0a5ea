"""The figures of `answers.py`: facts, the claim "answered", calibration, with their intervals."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

Row = dict[str, Any]
KINDS = ("fact", "definition", "howto", "list", "count", "row", "comparison", "two-page")
TURNS, BINS = 2_000, 5


def figures(rows: Sequence[Row]) -> str:
    """All figures of a run, as lines of text."""
    known = [row for row in rows if row["answerable"]]
    lines = [f"{len(rows)} questions, {len(rows) - len(known)} of them unanswerable"]
    lines.append(
        f"gold pages read {_mean([row['gold_read'] for row in known]):.3f}, "
        f"pages read {_mean([row['read'] for row in rows]):.1f}, "
        f"{_mean([row['seconds'] for row in rows]):.1f} s and "
        f"{_mean([row['chars'] for row in rows]):.0f} characters a question"
    )
    lines.append(
        "facts                     product  plain | at equal length: product  plain  ratio"
    )
    groups = {"all": known} | {kind: [r for r in known if r["kind"] == kind] for kind in KINDS}
    if len({row["language"] for row in known}) > 1:
        groups |= {
            language: [r for r in known if r["language"] == language]
            for language in sorted({row["language"] for row in known})
        }
    lines += [_facts(name, own) for name, own in groups.items() if own]
    lines += _claims(rows)
    return "\n".join(lines)


def _facts(name: str, rows: Sequence[Row]) -> str:
    whole, plain = _share(rows, "report"), _share(rows, "plain")
    ours, theirs = _share(rows, "same_length"), _share(rows, "plain_same_length")
    low, high = _paired(rows)
    facts = sum(len(row["facts"]["report"]) for row in rows)
    return (
        f"  {name:<11}{facts:>4} facts     {whole:.3f}   {plain:.3f} |"
        f"                  {ours:.3f}  {theirs:.3f}  {ours / theirs if theirs else 0:.2f}"
        f"  (difference {low:+.3f} to {high:+.3f}; in what was read {_share(rows, 'read'):.3f})"
    )


def _share(rows: Sequence[Row], name: str) -> float:
    return _mean([met for row in rows for met in row["facts"][name]])


def _paired(rows: Sequence[Row]) -> tuple[float, float]:
    """The 95 % interval of the difference at equal length, by a paired bootstrap over questions."""

    def difference(drawn: Sequence[Row]) -> float:
        return _share(drawn, "same_length") - _share(drawn, "plain_same_length")

    return _interval(rows, difference)


def _interval(rows: Sequence[Row], figure: Callable[[Sequence[Row]], float]) -> tuple[float, float]:
    chance = random.Random(1)
    drawn = sorted(figure(chance.choices(rows, k=len(rows))) for _ in range(TURNS))
    return drawn[int(TURNS * 0.025)], drawn[int(TURNS * 0.975)]


def right(row: Row) -> bool:
    """Whether the report holds the answer: all facts of one or two, else two thirds of them."""
    found = row["facts"]["report"]
    share = sum(found) / len(found)
    return bool(row["answerable"]) and (share == 1 or (len(found) > 2 and share >= 2 / 3))


def _claims(rows: Sequence[Row]) -> list[str]:
    claimed = [row for row in rows if row["answered"]]
    true = sum(map(right, claimed))
    due = sum(map(right, rows))
    known = sum(bool(row["answerable"]) for row in rows)
    wrong = sum(not row["answerable"] for row in claimed)
    lines = [
        f"called answered: {len(claimed)}, of them right {true}: precision "
        f"{_with_interval(true, len(claimed))}, recall {_with_interval(true, due)} of the {due} "
        f"reports that hold the answer ({true / known if known else 0:.2f} of the answerable)",
        f"unanswerable called answered: {wrong} of {len(rows) - known}",
    ]
    told = [(row["confidence"], right(row)) for row in rows if row["confidence"] is not None]
    if told:
        base = _mean([outcome for _, outcome in told])
        brier = _mean([(p - outcome) ** 2 for p, outcome in told])
        lines.append(
            f"confidence of {len(told)}: calibration error {_calibration(told):.3f}, Brier "
            f"{brier:.3f} against {base * (1 - base):.3f} of the base rate {base:.2f}"
        )
    return lines


def _with_interval(part: int, of: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    if not of:
        return "-"
    share, z = part / of, 1.96
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{share:.2f} ({middle - half:.2f} to {middle + half:.2f})"


def _calibration(told: Sequence[tuple[float, bool]]) -> float:
    """The mean distance of confidence and outcome over five bins of equal mass."""
    ordered = sorted(told)
    bins = [ordered[len(ordered) * n // BINS : len(ordered) * (n + 1) // BINS] for n in range(BINS)]
    return sum(
        len(each) / len(ordered) * abs(_mean([p for p, _ in each]) - _mean([o for _, o in each]))
        for each in bins
        if each
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0

"""The figures of `answers.py`: facts, the claim "answered", calibration, with their intervals. As
data first, by their names; the text is printed from these.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

Row = dict[str, Any]
#: Figures by name; those of one kind of question or one language stand as `kind.name`. One that
#: there is nothing to make of is left out.
Figures = dict[str, float]
KINDS = ("fact", "definition", "howto", "list", "count", "row", "comparison", "two-page")
TURNS, BINS = 2_000, 5


def figures(rows: Sequence[Row]) -> Figures:
    """All figures of a run."""
    known = [row for row in rows if row["answerable"]]
    made: Figures = {
        "questions": len(rows),
        "unanswerable": len(rows) - len(known),
        "gold_read": _mean([row["gold_read"] for row in known]),
        "pages": _mean([row["read"] for row in rows]),
        "seconds": _mean([row["seconds"] for row in rows]),
        "chars": _mean([row["chars"] for row in rows]),
    }
    for prefix, own in _groups(known):
        made |= {f"{prefix}{name}": value for name, value in _facts(own).items()}
    return made | _claims(rows) | _confidence(rows)


def as_text(told: Mapping[str, float]) -> str:
    """The figures as lines of text."""
    lines = [
        f"{told['questions']:.0f} questions, {told['unanswerable']:.0f} of them unanswerable",
        (
            f"gold pages read {told['gold_read']:.3f}, pages read {told['pages']:.1f}, "
            f"{told['seconds']:.1f} s and {told['chars']:.0f} characters a question"
        ),
        "facts                     product  plain | at equal length: product  plain  ratio",
    ]
    groups = [name.removesuffix("facts") for name in told if name.split(".")[-1] == "facts"]
    lines += [_line(prefix, told) for prefix in groups]
    return "\n".join([*lines, *_claimed(told)])


def _groups(known: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """All questions, those of each kind, and where there are several those of each language, with
    what the names of their figures begin with.
    """
    languages = sorted({row["language"] for row in known})
    if known:
        yield "", list(known)
    for kind in KINDS:
        if own := [row for row in known if row["kind"] == kind]:
            yield f"{kind}.", own
    for language in languages if len(languages) > 1 else ():
        yield f"{language}.", [row for row in known if row["language"] == language]


def _facts(rows: Sequence[Row]) -> Figures:
    low, high = _paired(rows)
    return {
        "facts_known": sum(len(row["facts"]["report"]) for row in rows),
        "facts": _share(rows, "report"),
        "facts_equal_length": _share(rows, "same_length"),
        "facts_read": _share(rows, "read"),
        "plain": _share(rows, "plain"),
        "plain_equal_length": _share(rows, "plain_same_length"),
        "difference_low": low,
        "difference_high": high,
    }


def _line(prefix: str, told: Mapping[str, float]) -> str:
    """The facts of one group of questions."""
    of = {
        name.removeprefix(prefix): value for name, value in told.items() if name.startswith(prefix)
    }
    ours, theirs = of["facts_equal_length"], of["plain_equal_length"]
    return (
        f"  {prefix.rstrip('.') or 'all':<11}{of['facts_known']:>4.0f} facts     "
        f"{of['facts']:.3f}   {of['plain']:.3f} |"
        f"                  {ours:.3f}  {theirs:.3f}  {ours / theirs if theirs else 0:.2f}"
        f"  (difference {of['difference_low']:+.3f} to {of['difference_high']:+.3f};"
        f" in what was read {of['facts_read']:.3f})"
    )


def _share(rows: Sequence[Row], name: str) -> float:
    return _mean([met for row in rows for met in row["facts"][name]])


def _paired(rows: Sequence[Row]) -> tuple[float, float]:
    """The 95 % interval of the difference at equal length, by a paired bootstrap over questions."""
    chance = random.Random(1)
    samples = (chance.choices(rows, k=len(rows)) for _ in range(TURNS))
    drawn = sorted(_share(own, "same_length") - _share(own, "plain_same_length") for own in samples)
    return drawn[int(TURNS * 0.025)], drawn[int(TURNS * 0.975)]


def right(row: Row) -> bool:
    """Whether the report holds the answer: all facts of one or two, else two thirds of them."""
    found = row["facts"]["report"]
    share = sum(found) / len(found)
    return bool(row["answerable"]) and (share == 1 or (len(found) > 2 and share >= 2 / 3))


def _claims(rows: Sequence[Row]) -> Figures:
    """What was called answered. `unanswerable_answered` is a count."""
    claimed = [row for row in rows if row["answered"]]
    true, due = sum(map(right, claimed)), sum(map(right, rows))
    known = sum(bool(row["answerable"]) for row in rows)
    made: Figures = {
        "answered": len(claimed),
        "answered_rightly": true,
        "answer_held": due,
        "unanswerable_answered": sum(not row["answerable"] for row in claimed),
    }
    if claimed:
        made["answered_precision"] = true / len(claimed)
    if due:
        made["answered_recall"] = true / due
    if known:
        made["answered_of_answerable"] = true / known
    return made


def _confidence(rows: Sequence[Row]) -> Figures:
    told = [(row["confidence"], right(row)) for row in rows if row["confidence"] is not None]
    if not told:
        return {}
    return {
        "confidences": len(told),
        "calibration_error": _calibration(told),
        "brier": _mean([(p - outcome) ** 2 for p, outcome in told]),
        "base_rate": _mean([outcome for _, outcome in told]),
    }


def _claimed(told: Mapping[str, float]) -> Iterator[str]:
    true, due = int(told["answered_rightly"]), int(told["answer_held"])
    yield (
        f"called answered: {told['answered']:.0f}, of them right {true}: precision "
        f"{_with_interval(true, int(told['answered']))}, recall {_with_interval(true, due)} of the "
        f"{due} reports that hold the answer ({told.get('answered_of_answerable', 0):.2f} of the "
        "answerable)"
    )
    yield (
        f"unanswerable called answered: {told['unanswerable_answered']:.0f} of "
        f"{told['unanswerable']:.0f}"
    )
    if "confidences" in told:
        base = told["base_rate"]
        yield (
            f"confidence of {told['confidences']:.0f}: calibration error "
            f"{told['calibration_error']:.3f}, Brier {told['brier']:.3f} against "
            f"{base * (1 - base):.3f} of the base rate {base:.2f}"
        )


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

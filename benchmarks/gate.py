"""Whether the figures still hold: `python benchmarks/gate.py DATA [--only NAME …]`.

Runs every benchmark whose data is in DATA and compares its figures with `floors.json`, a map from
the name of a figure to its floor (">= 0.381") or its ceiling ("<= 14"). It fails and names every
figure that does not keep to it. What has no data is said to be skipped and counts as nothing; of
the questions of answers.py only *dev* is asked. A figure is compared as it is printed, with three
decimals.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

FLOORS = Path(__file__).with_name("floors.json")
DECIMALS = 3
Figures = dict[str, float]


class Bound(NamedTuple):
    """What a figure must keep to; `sign` is ">=" for a floor and "<=" for a ceiling."""

    figure: str
    sign: str
    value: float

    def keeps(self, measured: float) -> bool:
        """Whether a figure keeps to it."""
        shown = round(measured, DECIMALS)
        return shown >= self.value if self.sign == ">=" else shown <= self.value


class Judged(NamedTuple):
    """The bounds that were kept, those that were broken, each with what was measured (None: the
    benchmark ran and did not give the figure), and those of benchmarks that did not run.
    """

    kept: list[tuple[Bound, float]]
    broken: list[tuple[Bound, float | None]]
    skipped: list[Bound]

    @property
    def passed(self) -> bool:
        """Whether something was compared, and all of it was kept."""
        return bool(self.kept) and not self.broken


class Benchmark(NamedTuple):
    """A benchmark: what its figures begin with, what it needs in DATA, and what measures it in DATA
    and a folder of its own to work in.
    """

    name: str
    needs: tuple[str, ...]
    measure: Callable[[Path, Path], Figures]

    def lacks(self, data: Path) -> str:
        """The first thing that is not in DATA, "" where all is there."""
        return next((path for path in self.needs if not (data / path).exists()), "")


def bounds_in(text: str, names: Collection[str]) -> list[Bound]:
    """The bounds of a file of floors. Raises ValueError for one that says neither floor nor
    ceiling, or of no benchmark in `names`: it would never be compared.
    """
    made = []
    for figure, said in json.loads(text).items():
        sign, _, value = str(said).partition(" ")
        if sign not in (">=", "<="):
            raise ValueError(f"{figure} must be like '>= 0.5' or '<= 0.5', not {said!r}.")
        if not benchmark_of(figure, names):
            raise ValueError(f"{figure} is a figure of no benchmark: {', '.join(names)}.")
        made.append(Bound(figure, sign, float(value)))
    return made


def benchmark_of(figure: str, names: Collection[str]) -> str:
    """The name of the benchmark that gives a figure, or ""."""
    return next((name for name in names if figure.startswith(f"{name}.")), "")


def judged(bounds: Sequence[Bound], figures: Mapping[str, float], ran: Collection[str]) -> Judged:
    """The bounds beside the figures of the benchmarks that `ran`."""
    made = Judged([], [], [])
    for bound in bounds:
        measured = figures.get(bound.figure)
        if not benchmark_of(bound.figure, ran):
            made.skipped.append(bound)
        elif measured is not None and bound.keeps(measured):
            made.kept.append((bound, measured))
        else:
            made.broken.append((bound, measured))
    return made


def as_text(found: Judged, why: Mapping[str, str]) -> str:
    """What was found, a line a figure; `why` the benchmarks that did not run did not."""
    return "\n".join(_lines(found, why))


def _lines(found: Judged, why: Mapping[str, str]) -> Iterator[str]:
    for bound, measured in found.kept:
        yield f"kept     {bound.figure:<44}{measured:>8.3f}   {bound.sign} {bound.value:g}"
    for bound in found.skipped:
        yield f"skipped  {bound.figure:<44}{why[benchmark_of(bound.figure, why)]}"
    for bound, value in found.broken:
        shown = "not measured" if value is None else f"{value:>8.3f}"
        yield f"BROKEN   {bound.figure:<44}{shown}   {bound.sign} {bound.value:g}"
    yield (
        f"{len(found.kept)} kept, {len(found.broken)} broken, {len(found.skipped)} skipped"
        + ("" if found.kept or found.broken else ": nothing was measured")
    )


def _answers(data: Path, work: Path) -> Figures:
    import answers
    import answers_figures
    import answers_paraphrases as rephrased

    rows = answers.questions("dev", languages=False)
    done = answers.run(rows, data, work, work / "dev.jsonl")
    made = rephrased.paraphrased(rows, answers.indexed(data, work))
    return _named("dev", answers_figures.figures(done)) | _named(
        "paraphrases", rephrased.figures(rows, made)
    )


def _recall(name: str, pages: int, data: Path, work: Path) -> Figures:
    import recall

    run = recall.settings(work, pages, recall.library(data))
    return asyncio.run(recall.figures(recall.questions(data, name), run))


def _reading(name: str, data: Path, work: Path) -> Figures:
    import reading

    told = reading.measure(data / name, readers={"spadework": reading.ours})["spadework"]
    return {figure.replace(" ", "_"): value for figure, value in told.items()}


def _named(prefix: str, figures: Mapping[str, float]) -> Figures:
    return {f"{prefix}.{name}": value for name, value in figures.items()}


WEB, DOCS = "reading-web-dev.jsonl.xz", "reading-docs-dev.jsonl.xz"
RECALL = {"wiki2": 20, "mtrag_first_turn": 20, "deepscholar": 40}
BENCHMARKS = (
    Benchmark("reading.web", (WEB,), partial(_reading, WEB)),
    Benchmark("reading.docs", (DOCS,), partial(_reading, DOCS)),
    Benchmark("answers", ("web/sites", WEB), _answers),
    *(
        Benchmark(
            f"recall.{name}", ("web/sites", f"eval/dev/{name}.jsonl"), partial(_recall, name, pages)
        )
        for name, pages in RECALL.items()
    ),
)


def main() -> int:
    """Measure, compare, print; 1 where a figure does not hold or nothing was measured."""
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with the data of the benchmarks")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--work", type=Path, default=Path("build"))
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"DATA is no folder: {options.data}")
    bounds = bounds_in(FLOORS.read_text(encoding="utf-8"), names)
    figures: Figures = {}
    why: dict[str, str] = {}
    for one in BENCHMARKS:
        if one.name not in options.only:
            why[one.name] = "not asked for"
        elif missing := one.lacks(options.data):
            why[one.name] = f"no {missing} in {options.data}"
        else:
            print(f"Measuring {one.name} …", file=sys.stderr)
            folder = options.work / one.name.partition(".")[0]
            figures |= _named(one.name, one.measure(options.data, folder))
    found = judged(bounds, figures, [name for name in names if name not in why])
    print(as_text(found, why))
    return 0 if found.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())

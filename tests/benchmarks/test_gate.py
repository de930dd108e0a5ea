"""The gate names every figure that does not keep to its floor, and counts nothing as kept that was
not measured.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gate import BENCHMARKS, FLOORS, Benchmark, Bound, as_text, bounds_in, judged

FLOOR, CEILING = Bound("answers.dev.facts", ">=", 0.4), Bound("answers.dev.brier", "<=", 0.2)


@pytest.mark.parametrize(
    ("bound", "measured", "kept"),
    [
        (FLOOR, 0.5, True),
        (FLOOR, 0.4, True),
        (FLOOR, 0.3996, True),
        (FLOOR, 0.399, False),
        (CEILING, 0.1, True),
        (CEILING, 0.2, True),
        (CEILING, 0.2004, True),
        (CEILING, 0.201, False),
    ],
)
def test_a_floor_holds_from_below_and_a_ceiling_from_above_as_they_are_printed(
    bound: Bound, measured: float, kept: bool
) -> None:
    found = judged([bound], {bound.figure: measured}, ["answers"])
    assert (found.kept, found.broken) == (
        ([(bound, measured)], []) if kept else ([], [(bound, measured)])
    )
    assert found.passed is kept


def test_every_figure_that_is_broken_is_named_also_one_that_was_not_given() -> None:
    found = judged([FLOOR, CEILING], {CEILING.figure: 0.3}, ["answers"])
    assert found.broken == [(FLOOR, None), (CEILING, 0.3)]
    said = as_text(found, {}).splitlines()
    assert [line.split() for line in said] == [
        ["BROKEN", "answers.dev.facts", "not", "measured", ">=", "0.4"],
        ["BROKEN", "answers.dev.brier", "0.300", "<=", "0.2"],
        ["0", "kept,", "2", "broken,", "0", "skipped"],
    ]


def test_what_did_not_run_is_skipped_and_alone_is_no_pass() -> None:
    other = Bound("recall.wiki2.recall", ">=", 0.9)
    found = judged([FLOOR, other], {FLOOR.figure: 0.5}, ["answers"])
    assert (found.skipped, found.passed) == ([other], True)
    assert "no sites in DATA" in as_text(found, {"recall.wiki2": "no sites in DATA"})
    nothing = judged([FLOOR, other], {}, [])
    assert (nothing.skipped, nothing.passed) == ([FLOOR, other], False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"answers.dev.facts": 0.4}', "must be like"),
        ('{"answers.dev.facts": "> 0.4"}', "must be like"),
        ('{"answer.dev.facts": ">= 0.4"}', "a figure of no benchmark"),
    ],
)
def test_a_bound_that_would_never_be_compared_is_an_error(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        bounds_in(text, ["answers"])


def test_the_floors_are_of_benchmarks_that_there_are() -> None:
    names = [benchmark.name for benchmark in BENCHMARKS]
    bounds = bounds_in(FLOORS.read_text(encoding="utf-8"), names)
    assert {bound.sign for bound in bounds} == {">=", "<="}


def test_a_benchmark_says_what_it_lacks(tmp_path: Path) -> None:
    one = Benchmark("answers", ("web/sites", "pages.xz"), lambda data, work: {})
    (tmp_path / "web" / "sites").mkdir(parents=True)
    assert one.lacks(tmp_path) == "pages.xz"
    (tmp_path / "pages.xz").touch()
    assert one.lacks(tmp_path) == ""


@pytest.mark.process
def test_without_data_the_command_fails_and_says_that_nothing_was_measured(tmp_path: Path) -> None:
    gate = FLOORS.with_name("gate.py")
    done = subprocess.run([sys.executable, gate, tmp_path], capture_output=True, text=True)
    assert done.returncode == 1
    assert "nothing was measured" in done.stdout
    assert "kept  " not in done.stdout

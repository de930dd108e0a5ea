"""Hostile runs: `python benchmarks/hostile.py [--runs 200] [--at-once 3] [--load 0]`, from the
repository's root.

Each run is an attack of `tests/hostile` drawn from its seed: faults of connections, TLS, headers,
bodies, redirects and names at every service that a run talks to, faults of the disk, and signals.
`--load` adds as many processes that do nothing but reckon. A run that was not as it must be is
printed with its seed, which `python -m tests.hostile SEED` lets happen again; at the end how late
the runs were. The exit code is 1 where something was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: Ends of the classes of lateness, in seconds after the deadline.
CLASSES = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
IMPOSSIBLE = 77


def run(seed: int, stretch: float) -> dict[str, Any] | None:
    """One attack and what came of it; None where it is not possible here."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile", str(seed), "--json", f"--stretch={stretch}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode == IMPOSSIBLE:
        return None
    if not done.stdout:
        raise RuntimeError(f"seed {seed}: the attack itself broke down: {done.stderr[-2000:]}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def told(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The figures of all runs, in lines."""
    late = sorted(run["late"] for run in runs)
    wrong = sum(bool(r["wrong"]) for r in runs)
    yield f"{len(runs)} runs, of which something was wrong with {wrong}"
    lower = float("-inf")
    for upper in (*CLASSES, float("inf")):
        yield f"  {lower:g} to {upper:g} s late: {sum(lower < each <= upper for each in late)}"
        lower = upper
    past = [each for each in late if each > 0] or [0.0]
    yield f"late ones: median {statistics.median(past):.2f} s, latest {late[-1]:.2f} s"
    printed = sorted(r["printed"] - r["seconds"] for r in runs)
    yield f"last words: latest {printed[-1]:.2f} s after the deadline"
    yield f"exit codes: {dict(Counter(r['code'] for r in runs).most_common())}"
    done = sum((Counter(each) for r in runs for each in r["did"].values()), Counter[str]())
    yield f"requests: {done.total()}, of which honestly answered {done['honest']}"


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes reckon meanwhile."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def main() -> int:
    """Run, print what was wrong as it comes, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--load", type=int, default=0, help="processes that reckon meanwhile")
    parser.add_argument("--stretch", type=float, default=1.0, help="how much longer deadlines are")
    parser.add_argument("--keep", type=Path, help="write what came of each run to this file")
    asked = parser.parse_args()
    runs = []
    with busy(asked.load), ThreadPoolExecutor(asked.at_once) as pool:
        seeds = range(asked.first, asked.first + asked.runs)
        for came in pool.map(run, seeds, [asked.stretch] * asked.runs):
            if came is None:
                continue
            runs.append(came)
            if asked.keep:
                with asked.keep.open("a") as kept:
                    kept.write(json.dumps(came) + "\n")
            for each in came["wrong"]:
                print(f"seed {came['seed']}: {each}", flush=True)
    print(f"load at the end: {os.getloadavg()[0]:.1f}")
    print("\n".join(told(runs)))
    return any(r["wrong"] for r in runs)


if __name__ == "__main__":
    sys.exit(main())

"""How long the nearest passages to a question take to be found, by the number of passages and of
dimensions.

    python benchmarks/dense.py --passages 10000 100000 --dimensions 384 1536

Vectors are random. Printed are the bytes of the file, the seconds to keep the vectors, the
milliseconds of a question (median and worst of so many, on the clock and of the processor) and the
most memory of this process beyond what it had before.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from spadework.tools.ranking.vectors import Passage, Vectors

QUESTIONS, BATCH = 15, 256


def filled(path: Path, passages: int, dimensions: int) -> Vectors:
    """A file of random vectors, kept as they are when an index is embedded."""
    chance, vectors = np.random.default_rng(1), Vectors(path, "mark", "model")
    for first in range(0, passages, BATCH):
        numbers = range(first, min(passages, first + BATCH))
        made = chance.normal(size=(len(numbers), dimensions))
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        texts = [f"text {n}" for n in numbers]
        vectors.keep(
            [Passage(n, 0, 9, text, text) for n, text in zip(numbers, texts, strict=True)],
            dict(zip(texts, made, strict=True)),
        )
    return vectors


def measure(passages: int, dimensions: int) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.sqlite"
        began = time.monotonic()
        vectors = filled(path, passages, dimensions)
        keeping = time.monotonic() - began
        before, most = psutil.Process().memory_info().rss, 0
        clocks, works, few = [], [], []
        for _ in range(QUESTIONS):
            question = [random.gauss() for _ in range(dimensions)]
            clock, work = time.monotonic(), time.process_time()
            vectors.nearest(question, 120)
            clocks.append((time.monotonic() - clock) * 1000)
            works.append((time.process_time() - work) * 1000)
            most = max(most, psutil.Process().memory_info().rss - before)
            among = [(random.randrange(passages), 0) for _ in range(200)]
            clock = time.monotonic()
            vectors.nearest(question, 120, among)
            few.append((time.monotonic() - clock) * 1000)
        size = path.stat().st_size / 1e6
    figures = (
        f"{statistics.median(clocks):.0f}, {max(clocks):.0f} | {statistics.median(works):.0f} |"
        f" {statistics.median(few):.1f}"
    )
    return (
        f"| {passages:,} | {dimensions:,} | {size:.0f} | {keeping:.1f} | {figures} |"
        f" {most / 1e6:.0f} |"
    )


def main() -> None:
    """Measure every size asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, nargs="+", default=[10_000])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[384, 1_536])
    options = parser.parse_args()
    print(
        "| passages | dimensions | MB | kept in, s | a question, ms: median, worst | CPU, ms | 200"
        " candidates, ms | memory, MB |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for passages in options.passages:
        for dimensions in options.dimensions:
            print(measure(passages, dimensions), flush=True)


if __name__ == "__main__":
    main()

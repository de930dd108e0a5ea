"""The library at 10,000 to a million passages: building, opening, searching, memory.

`python benchmarks/library.py DATA --passages 10000 100000 1000000 --plot docs/images/library.svg`

DATA holds `web/sites/` (pages) and `eval/dev/*.jsonl` (questions). The pages are read once; their
texts are repeated with changes (one word in ten replaced by others of the same texts, so that the
vocabulary and the counts grow as in new texts) and go through the path of a real build: cut in two
worker processes, stored, indexed and committed by one writer. Reading files is left out, and
measured beside it: the passages a second of a whole build of the real pages. Every figure is from a
process of its own; memory is the most that process and its children had, resident (RSS, with the
mapped files of the index) and without files (anonymous).
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from spadework.tools.library.build import StoreWriter
from spadework.tools.library.document import Cut, Document, StoreReader, cut_document
from spadework.tools.library.search import Searcher
from spadework.tools.library.source_reader import files, read_files, workers

CHANGED = 10  # one word in so many is replaced in a copy
QUESTIONS, LIMIT = 300, 15
MB = 1_000_000
Figures = dict[str, float]


def measured(work: Callable[[], Figures]) -> Figures:
    """What `work` gives, with the peak memory of this process and its children, sampled ten times a
    second.
    """
    own, done = psutil.Process(), threading.Event()
    peak = {"rss_mb": 0.0, "anonymous_mb": 0.0}

    def watch() -> None:
        while not done.wait(0.1):
            known = [each for each in [own, *own.children(recursive=True)] if each.is_running()]
            infos = [info for each in known if (info := _memory(each))]
            peak["rss_mb"] = max(peak["rss_mb"], sum(info.rss for info in infos) / MB)
            peak["anonymous_mb"] = max(
                peak["anonymous_mb"], sum(info.rss - info.shared for info in infos) / MB
            )

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return work() | peak
    finally:
        done.set()
        watcher.join()


def _memory(process: psutil.Process) -> Any:
    try:
        return process.memory_info()
    except psutil.NoSuchProcess:
        return None


def read_sites(data: Path, kept: Path) -> Figures:
    """Read every page once into a library of its own: its texts are what is repeated."""
    started, cpu = time.monotonic(), _cpu()
    with StoreWriter(kept) as store:
        passages = 0
        for file, read in read_files(
            (file, "") for file in files(sorted((data / "web" / "sites").iterdir()))
        ):
            store.note(file.url)
            passages += sum(len(cut.passages) for cut in read.cuts if store.add(cut))
    seconds = time.monotonic() - started
    return {
        "passages": passages,
        "seconds": seconds,
        "per_second": passages / seconds,
        "per_cpu_second": passages / (_cpu() - cpu),
    }


def _cpu() -> float:
    """CPU seconds of this process and its ended children."""
    times = psutil.Process().cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def variants(kept: Path) -> Iterator[Document]:
    """The documents of a library, again and again: first as they are, then with other words."""
    store = StoreReader(kept)
    numbers = list(range(1, store.count() + 1))
    random.Random(7).shuffle(numbers)
    for turn in itertools.count():
        for at in range(0, len(numbers), 100):
            for each in store.by_numbers(numbers[at : at + 100]).values():
                yield _changed(each.document, turn) if turn else each.document


def _changed(document: Document, turn: int) -> Document:
    chance = random.Random(f"{turn} {document.url}")
    words = document.markdown.split(" ")
    for _ in range(len(words) // CHANGED):
        words[chance.randrange(len(words))] = chance.choice(words) + (
            "" if chance.random() < 0.9 else str(turn)
        )
    return replace(document, url=f"{document.url}-{turn}", markdown=" ".join(words))


def build(kept: Path, folder: Path, wanted: int) -> Figures:
    """Index so many passages. Making the texts is not counted."""
    passages = documents = 0
    spent, cpu, making = 0.0, _cpu(), 0.0
    source = variants(kept)
    with workers() as pool, StoreWriter(folder) as store:
        while passages < wanted:
            before = time.process_time()
            batch = list(itertools.islice(source, 500))
            making += time.process_time() - before
            started = time.monotonic()
            for cut in pool.map(cut_document, batch, chunksize=25):
                if passages < wanted:
                    passages += _stored(store, cut)
                    documents += 1
            spent += time.monotonic() - started
        started = time.monotonic()
    seconds = spent + time.monotonic() - started
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MB
    used = {"per_second": passages / seconds, "per_cpu_second": passages / (_cpu() - cpu - making)}
    return {
        "passages": passages,
        "documents": documents,
        "seconds": seconds,
        "index_mb": size,
    } | used


def _stored(store: StoreWriter, cut: Cut) -> int:
    return len(cut.passages) if store.add(cut) else 0


def search(data: Path, folder: Path) -> Figures:
    """Ask real questions, each once, of an index nobody has asked before."""
    started = time.monotonic()
    searcher = Searcher(folder)
    opened = time.monotonic() - started
    asked = [
        json.loads(line)["question"]
        for path in sorted((data / "eval" / "dev").glob("*.jsonl"))
        for line in path.open()
    ]
    random.Random(5).shuffle(asked)
    clock, cpu = [], []
    for question in asked[: QUESTIONS + 20]:
        started, before = time.monotonic(), time.process_time()
        searcher.search(question, LIMIT)
        clock.append((time.monotonic() - started) * 1000)
        cpu.append((time.process_time() - before) * 1000)
    return (
        {"open_ms": opened * 1000, "first_ms": clock[0]}
        | _spread(clock[20:], "")
        | _spread(cpu[20:], "cpu_")
    )


def _spread(values: list[float], name: str) -> Figures:
    ordered = sorted(values)
    return {
        f"{name}p50_ms": ordered[len(ordered) // 2],
        f"{name}p95_ms": ordered[int(len(ordered) * 0.95)],
    }


def alone(*arguments: object) -> Figures:
    """The figures of one step, from a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--step", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def step(name: str, *given: str) -> None:
    """One step, in this process; its figures go to standard output."""
    paths = [Path(each) for each in given[:2]]
    steps: dict[str, Callable[[], Figures]] = {
        "read": lambda: read_sites(*paths),
        "build": lambda: build(*paths, int(given[2])),
        "search": lambda: search(*paths),
    }
    print(json.dumps(measured(steps[name])))


def main() -> None:
    """Read what is asked for, measure it, print it, and draw how it grows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--passages", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument(
        "--work", type=Path, help="Folder for the indexes. Default: a temporary one."
    )
    parser.add_argument("--plot", type=Path, help="Where to write how the figures grow, as SVG.")
    options = parser.parse_args()
    work = options.work or Path(tempfile.mkdtemp())
    kept = work / "sites"
    if not kept.exists():
        print("real pages, read and indexed:", _line(alone("read", options.data, kept)), flush=True)
    grown = []
    for wanted in options.passages:
        folder = work / str(wanted)
        shutil.rmtree(folder, ignore_errors=True)
        built = alone("build", kept, folder, wanted)
        print(f"{wanted:>9} built:   ", _line(built), flush=True)
        asked = alone("search", options.data, folder)
        print(f"{wanted:>9} searched:", _line(asked), flush=True)
        grown.append({"built": built, "asked": asked})
    (work / "figures.json").write_text(json.dumps(grown, indent=1))
    if options.plot:
        from library_growth import drawn  # beside this script

        options.plot.write_text(drawn(grown))
    if not options.work:
        shutil.rmtree(work)


def _line(figures: Figures) -> str:
    return ", ".join(f"{name} {value:,.1f}" for name, value in figures.items())


if __name__ == "__main__":
    step(*sys.argv[2:]) if "--step" in sys.argv[:2] else main()

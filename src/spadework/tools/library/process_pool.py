"""Reading many files or packages in worker processes; one that ends its reader is one lost."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from spadework.tools.library.folders import File
from spadework.tools.library.source_reading import (
    SourceText,
    cut_file,
    cut_package,
    package_url,
    start_worker,
)

WORKERS = 2
#: So many files are under way at once, so that workers never wait, and texts that were read do not
#: pile up.
_AT_ONCE = 8 * WORKERS
#: Plain text up to so many bytes is read in this process: nothing in it can break its reader, and a
#: worker takes a second to start.
PLAIN_BYTES, PLAIN = 50_000, frozenset(("text/plain", "text/markdown"))
_SPAWN = multiprocessing.get_context("spawn")
_BROKEN = "its reader broke down or took too long"

Source = TypeVar("Source")
Text = TypeVar("Text")


def workers(count: int = WORKERS) -> ProcessPoolExecutor:
    """Processes that read files and packages."""
    return ProcessPoolExecutor(count, _SPAWN, start_worker)


def read_files(files: Iterable[tuple[File, str]]) -> Iterator[tuple[File, SourceText]]:
    """Read files, each given with the digest it had before, or ""."""
    waiting = deque[tuple[File, str]]()
    for file, known in files:
        if file.media_type in PLAIN and file.size <= PLAIN_BYTES:
            yield file, cut_file(file, known)
        else:
            waiting.append((file, known))
    reader = Reader(_cut_known, lambda asked, reason: SourceText.lost(asked[0].url, reason))
    yield from ((file, read) for (file, _), read in reader.read(waiting))


def read_packages(places: Iterable[Path | None]) -> Iterator[tuple[Path | None, SourceText]]:
    """Read the packages whose metadata lie at these places; None is the standard library."""
    reader = Reader(cut_package, lambda place, why: SourceText.lost(package_url(place), why))
    return reader.read(deque(places))


def _cut_known(asked: tuple[File, str]) -> SourceText:
    return cut_file(*asked)


@dataclass(frozen=True)
class Reader(Generic[Source, Text]):
    """Reads sources in workers. What ends its worker, or cannot be handed over, is `lost`."""

    cut: Callable[[Source], Text]
    lost: Callable[[Source, str], Text]

    def read(self, waiting: deque[Source]) -> Iterator[tuple[Source, Text]]:
        """Read all, in any order. When a worker ends, those it may have been at are read alone."""
        under_way: dict[Future[Text], Source] = {}
        while waiting or under_way:
            try:
                with workers() as pool:
                    while waiting or under_way:
                        while waiting and len(under_way) < _AT_ONCE:
                            under_way[pool.submit(self.cut, waiting[0])] = waiting[0]
                            waiting.popleft()
                        for job in wait(under_way, return_when=FIRST_COMPLETED).done:
                            text = self._outcome(job, under_way[job])
                            yield under_way.pop(job), text
            except BrokenProcessPool:
                suspects, under_way = list(under_way.values()), {}
                yield from ((source, self._alone(source)) for source in suspects)

    def _outcome(self, job: Future[Text], source: Source) -> Text:
        """What a reader gave. Raises BrokenProcessPool when its worker has ended."""
        error: BaseException | None = job.exception()
        if isinstance(error, BrokenProcessPool):
            raise error
        if error is not None:
            return self.lost(source, f"its reader failed ({type(error).__name__})")
        return job.result()

    def _alone(self, source: Source) -> Text:
        try:
            with workers(1) as pool:
                return self._outcome(pool.submit(self.cut, source), source)
        except BrokenProcessPool:
            return self.lost(source, _BROKEN)

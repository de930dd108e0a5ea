"""Reading many files at once, in worker processes; a file that ends its reader is one file lost."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from spadework.tools.library.folders import File
from spadework.tools.library.reading import FileText, cut_file, start_worker

WORKERS = 2
#: So many files are under way at once, so that workers never wait, and texts that were read do not
#: pile up.
_AT_ONCE = 8 * WORKERS
#: Plain text up to so many bytes is read in this process: nothing in it can break its reader, and a
#: worker takes a second to start.
PLAIN_BYTES, PLAIN = 50_000, frozenset(("text/plain", "text/markdown"))
_SPAWN = multiprocessing.get_context("spawn")


def workers(count: int = WORKERS) -> ProcessPoolExecutor:
    """Processes that read files and packages."""
    return ProcessPoolExecutor(count, _SPAWN, start_worker)


def read_files(files: Iterable[tuple[File, str]]) -> Iterator[tuple[File, FileText]]:
    """Read files, each given with the digest it had before, or "". When one ends its worker, those
    it may have been are read alone.
    """
    waiting = deque[tuple[File, str]]()
    for file, known in files:
        if file.media_type in PLAIN and file.size <= PLAIN_BYTES:
            yield file, cut_file(file, known)
        else:
            waiting.append((file, known))
    under_way: dict[Future[FileText], tuple[File, str]] = {}
    while waiting or under_way:
        try:
            with workers() as pool:
                while waiting or under_way:
                    while waiting and len(under_way) < _AT_ONCE:
                        under_way[pool.submit(cut_file, *waiting[0])] = waiting[0]
                        waiting.popleft()
                    for job in wait(under_way, return_when=FIRST_COMPLETED).done:
                        read = job.result()
                        yield under_way.pop(job)[0], read
        except BrokenProcessPool:
            suspects, under_way = list(under_way.values()), {}
            yield from ((file, _read_alone(file, known)) for file, known in suspects)


def _read_alone(file: File, known: str) -> FileText:
    try:
        with workers(1) as pool:
            return pool.submit(cut_file, file, known).result()
    except BrokenProcessPool:
        return FileText("", None, "its reader broke down or took too long")

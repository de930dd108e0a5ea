"""Building a library's index, in a process of its own: `python -m spadework.tools.library.build`.

Reads a request as JSON from standard input and writes lines of JSON: {"done": 3, "of": 150} as it goes, {"error": "…"} when it failed.
A process of its own can be ended at any time, gives its memory back, and needs no guard in the program that asked for it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from spadework.errors import SettingsError
from spadework.tools.library.document import cut_document
from spadework.tools.library.folders import File, files
from spadework.tools.library.packages import installed
from spadework.tools.library.plan import Plan
from spadework.tools.library.reading import FileText, cut_file, cut_package, start_worker
from spadework.tools.library.store import StoreReader, StoreWriter

WORKERS = 2
#: Folders of the same sources in former states that are kept; others may still be reading them.
_KEPT = 2
#: So many files may be under way in a pool of workers.
_SUSPECTS = 2 * WORKERS + 1
_ABANDONED_SECONDS = 86_400


def build(plan: Plan) -> None:
    """Build the folder of a plan, unless another process has put it there by then."""
    plan.shelf.mkdir(parents=True, exist_ok=True)
    _sweep(plan)
    draft = Path(tempfile.mkdtemp(dir=plan.shelf, prefix=".draft-"))
    try:
        _fill(plan, draft)
        with contextlib.suppress(OSError):  # another process was first: its folder holds the same
            draft.rename(plan.folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _sweep(plan: Plan) -> None:
    """Remove what former builds left behind."""
    old = [path for path in plan.shelf.glob(".draft-*") if path.stat().st_mtime < time.time() - _ABANDONED_SECONDS]
    for path in [*plan.relatives[_KEPT:], *plan.outdated, *old]:
        shutil.rmtree(path, ignore_errors=True)


def _fill(plan: Plan, draft: Path) -> None:
    if plan.paths:
        _fill_from_files(plan, draft)
    else:
        _fill_from_packages(draft)


def _fill_from_packages(draft: Path) -> None:
    places = [None, *sorted(installed(), key=_weight, reverse=True)]  # the longest work first
    with _pool() as pool:
        jobs = [pool.submit(cut_package, place) for place in places]
        with StoreWriter(draft) as store:
            for done, job in enumerate(as_completed(jobs), start=1):
                for each in job.result():
                    store.add(each)
                _tell(done=done, of=len(jobs))


def _weight(place: Path) -> int:
    """The size of a distribution's list of files."""
    record = place / "RECORD"
    return record.stat().st_size if record.exists() else 0


def _fill_from_files(plan: Plan, draft: Path) -> None:
    found = files(plan.paths)
    known = _Known(plan)
    fresh = [file for file in found if not known.has(file)]
    with StoreWriter(draft) as store:
        for file in found:
            if entry := known.entry(file):
                _store(store, file, entry)
        for done, (file, read) in enumerate(_read(fresh), start=1):
            _store(store, file, known.same(file, read) or read)
            _tell(done=done, of=len(fresh))


def _store(store: StoreWriter, file: File, read: FileText) -> None:
    number = store.add(read.document) if read.document else None
    store.note(file.url, file.size, file.mtime, read.digest, number, read.reason)


def _read(fresh: list[File]) -> Iterator[tuple[File, FileText]]:
    """Read files in parallel. When one of them ends its worker, those that may have been it are read one by one, so that one is lost."""
    waiting = dict.fromkeys(fresh)
    while waiting:
        try:
            with _pool() as pool:
                jobs: dict[Future[FileText], File] = {pool.submit(cut_file, file): file for file in waiting}
                for job in as_completed(jobs):
                    read = job.result()
                    del waiting[jobs[job]]
                    yield jobs[job], read
        except BrokenProcessPool:
            for file in list(waiting)[:_SUSPECTS]:
                del waiting[file]
                yield file, _read_alone(file)


def _read_alone(file: File) -> FileText:
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            return pool.submit(cut_file, file).result()
    except BrokenProcessPool:
        return FileText("", None, "its reader broke down or took too long")


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn"), start_worker)


class _Known:
    """The files of the library's last state, whose texts need not be read again."""

    def __init__(self, plan: Plan) -> None:
        self._store = StoreReader(plan.relatives[0]) if plan.relatives else None
        self._files = {row[0]: row for row in self._store.files()} if self._store else {}

    def has(self, file: File) -> bool:
        """Whether the file is as it was, by size and time."""
        row = self._files.get(file.url)
        return row is not None and row[1:3] == (file.size, file.mtime)

    def entry(self, file: File) -> FileText | None:
        """What an unchanged file gave."""
        return self._text(file) if self.has(file) else None

    def same(self, file: File, read: FileText) -> FileText | None:
        """What the file gave before, when only its time has changed."""
        row = self._files.get(file.url)
        return self._text(file) if row is not None and row[3] == read.digest and read.digest else None

    def _text(self, file: File) -> FileText:
        _, _, _, digest, number, reason = self._files[file.url]
        document = self._store.by_numbers([number]).get(number) if self._store and number is not None else None
        return FileText(digest, cut_document(document) if document else None, reason)


def _tell(**said: Any) -> None:
    print(json.dumps(said), flush=True)  # noqa: T201 - the one who asked reads it


def main() -> int:
    """Build what standard input asks for. Returns the exit code."""
    gc.disable()
    asked = json.load(sys.stdin)
    plan = Plan(tuple(map(Path, asked["paths"])), Path(asked["shelf"]), asked["family"], asked["state"], asked["words"])
    try:
        build(plan)
    except SettingsError as error:
        _tell(error=str(error))
        return 2
    except OSError as error:
        _tell(error=f"The library's index cannot be written in {plan.shelf}: {(error.strerror or str(error)).lower()}.")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

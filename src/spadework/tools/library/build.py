"""Builds a library's index as a child process: `python -m spadework.tools.library.build`.

Reads a JSON request from standard input and writes JSON lines: {"done": 3, "of": 150} as progress,
{"error": "…"} on failure. A child process can be killed at any time, frees its memory, and needs no
main guard in the calling program.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from spadework.errors import SettingsError
from spadework.tools.library.document import DAMAGED, cut_document
from spadework.tools.library.folders import File, files
from spadework.tools.library.full_text import no_panic
from spadework.tools.library.index_writer import StoreWriter
from spadework.tools.library.installed import installed_packages
from spadework.tools.library.shelf import Plan
from spadework.tools.library.source_reader import SourceText, changed_at, read_files, read_packages
from spadework.tools.stores.private_files import private_folder

#: Seconds to wait for another process that builds the same library.
WAIT_SECONDS = 1_200
#: Older states kept, since other processes may be reading them.
_KEPT = 2
_ABANDONED_SECONDS = 86_400


def build(plan: Plan) -> None:
    """Build a plan's folder, or wait for another process that is building it."""
    private_folder(plan.shelf)
    with _exclusive(plan):
        if plan.folder.exists():
            return
        _sweep(plan)
        _prepare(plan)
        with _draft(plan) as store:
            _fill_from_files(plan, store) if plan.paths else _fill_from_packages(store)
        plan.draft.rename(plan.folder)


@contextlib.contextmanager
def _exclusive(plan: Plan) -> Iterator[None]:
    """Hold the library's lock, which the system releases however this process ends."""
    lock = FileLock(plan.shelf / f".{plan.family}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        _tell(waits=True)
        try:
            lock.acquire(timeout=WAIT_SECONDS)
        except Timeout:
            raise SettingsError(
                f"Another process has been building this library's index for {WAIT_SECONDS}"
                " seconds."
            ) from None
    with lock:
        yield


def _sweep(plan: Plan) -> None:
    since = time.time() - _ABANDONED_SECONDS
    drafts = (path for path in plan.shelf.glob(".*-*") if path.is_dir())
    old = [path for path in drafts if path.stat().st_mtime < since]
    for path in [*plan.relatives[_KEPT:], *plan.outdated, *old]:
        shutil.rmtree(path, ignore_errors=True)


def _prepare(plan: Plan) -> None:
    """Start the draft from the last state. Index files never change, so they are hard-linked."""
    if plan.draft.exists() or not plan.relatives:
        return
    copy = Path(tempfile.mkdtemp(dir=plan.shelf, prefix=".copy-"))
    shutil.copytree(
        plan.relatives[0],
        copy,
        dirs_exist_ok=True,
        copy_function=_link,
        ignore=shutil.ignore_patterns("*.lock"),
    )
    copy.rename(plan.draft)


def _draft(plan: Plan) -> StoreWriter:
    """Open the draft, starting over if it is damaged, as the state it came from may be."""
    try:
        with no_panic():
            return StoreWriter(plan.draft)
    except sqlite3.OperationalError:  # a full disk is not damage
        raise
    except DAMAGED:
        shutil.rmtree(plan.draft)
    return StoreWriter(plan.draft)


def _link(source: str, target: str) -> None:
    name = Path(source)
    if name.suffix in (".json", ".db"):
        shutil.copyfile(source, target)
        return
    try:
        Path(target).hardlink_to(source)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _fill_from_packages(store: StoreWriter) -> None:
    """Read new packages: a package's documents are those of its exact version."""
    # longest work first
    places = [None, *sorted(installed_packages(), key=_weight, reverse=True)]
    store.forget_others(map(_source, places))
    fresh = [place for place in places if store.source(_source(place)) is None]
    if fresh:
        _tell(done=0, of=len(fresh))
    for done, (place, read) in enumerate(read_packages(fresh), start=1):
        for cut in read.cuts:
            store.add(cut, _source(place))
        store.note(_source(place), skipped=read.skipped)
        _tell(done=done, of=len(fresh))


def _source(place: Path | None) -> str:
    return place.stem if place else f"python-{sys.version}"


def _weight(place: Path) -> int:
    """Return the size of a distribution's file list."""
    record = place / "RECORD"
    return record.stat().st_size if record.exists() else 0


def _fill_from_files(plan: Plan, store: StoreWriter) -> None:
    """Read files that are new or changed, by size and time; delete those that are gone."""
    fresh: list[tuple[File, str]] = []
    store.forget_others(_looked_at(plan, store, fresh))
    if fresh:
        _tell(done=0, of=len(fresh))
    for done, (file, read) in enumerate(read_files(fresh), start=1):
        _store(store, file, read)
        _tell(done=done, of=len(fresh))


def _looked_at(plan: Plan, store: StoreWriter, fresh: list[tuple[File, str]]) -> Iterator[str]:
    """Yield the names of all files; add those to be read to `fresh`, with their previous digest."""
    for file in files(plan.paths):
        known = store.source(file.url)
        if known is None or known[:2] != (file.size, file.mtime):
            fresh.append((file, known[2] if known else ""))
        yield file.url


def _store(store: StoreWriter, file: File, read: SourceText) -> None:
    cuts, skipped = read.cuts, read.skipped
    if read.same:
        skipped = store.skipped(file.url)
        known = store.documents(file.url)
        cuts = [cut_document(replace(each, changed_at=changed_at(file))) for each in known]
    store.forget(file.url)
    store.note(file.url, file.size, file.mtime, read.digest, skipped)
    for cut in cuts:
        store.add(cut, file.url)


def _tell(**said: Any) -> None:
    print(json.dumps(said), flush=True)  # noqa: T201 - the parent process reads it


def _keep_output() -> None:
    """Keep standard output from the workers: a reader would wait for them if this process is
    killed.
    """
    sys.stdout = os.fdopen(os.dup(1), "w")
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def _tell_fault(kind: type[BaseException], error: BaseException, trace: object) -> None:
    said = traceback.format_exception_only(error)[-1].strip()
    _tell(error=f"The library's index could not be built: {said[:200]}.")


def main() -> int:
    """Build the library requested on standard input. Returns the exit code."""
    gc.disable()
    _keep_output()
    sys.excepthook = _tell_fault
    os.umask(0o077)  # indexed files may be private, and the index creates files by itself
    asked = json.load(sys.stdin)
    asked |= {"paths": tuple(map(Path, asked["paths"])), "shelf": Path(asked["shelf"])}
    plan = Plan(**asked)
    try:
        build(plan)
    except SettingsError as error:
        _tell(error=str(error))
        return 2
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        _tell(error=f"The library's index cannot be written in {plan.shelf}: {why}.")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

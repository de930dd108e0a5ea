"""Build an index in a child process, which can be killed at any time. The process reads a JSON
request from standard input. It writes JSON lines: {"done": 3, "of": 150}, {"waits": true} while
another process builds the same library, or {"error": "…"}.
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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import tantivy
from filelock import FileLock, Timeout

from spadework.errors import SettingsError
from spadework.tools.library.document import (
    COLUMNS,
    DAMAGED,
    INSERT,
    Cut,
    Document,
    Piece,
    Skipped,
    cut_document,
    document_of,
    open_to_write,
    packages_of,
    places,
    row_of,
)
from spadework.tools.library.full_text import (
    no_panic,
    open_index,
    open_writer,
    signed_terms,
    space_signs,
    spread,
    subject,
)
from spadework.tools.library.installed import Wanted, installed_packages, package_name
from spadework.tools.library.library import Plan
from spadework.tools.library.python_sources import count_uses
from spadework.tools.library.source_reader import (
    File,
    SourceText,
    changed_at,
    files,
    read_files,
    read_packages,
)
from spadework.tools.stores.private_files import private_folder

#: Commit after this many passages or seconds, to limit what a killed process loses.
COMMIT_PASSAGES, COMMIT_SECONDS = 50_000, 20.0
_HEAP_BYTES = 64_000_000


class StoreWriter:
    """A context manager that writes a new or unfinished index folder."""

    def __init__(self, folder: Path) -> None:
        (folder / "index").mkdir(parents=True, exist_ok=True)
        self._db = open_to_write(folder)
        self._writer = open_writer(open_index(folder / "index"), _HEAP_BYTES)
        (self._indexed,) = self._db.execute("select indexed from state").fetchone()
        self._recover()
        self._begin()

    def _recover(self) -> None:
        for (number,) in self._db.execute("select document from removed"):
            self._writer.delete_documents_by_term("document", number)
        query = f"select id, {COLUMNS} from documents where batch > ?"
        for number, *row in self._db.execute(query, (self._indexed,)):
            self._writer.delete_documents_by_term("document", number)
            self._index(number, cut_document(document_of(row)))
        (last,) = self._db.execute("select coalesce(max(batch), 0) from documents").fetchone()
        self._settle(max(last, self._indexed))

    def add(self, cut: Cut, source: str = "") -> int | None:
        """Store a document and return its number, or None if its URL is already stored."""
        document = cut.document
        names = " ".join(cut.used), " ".join(cut.defined)
        made = (cut.sketch, *names, source or document.url, self._batch)
        cursor = self._db.execute(INSERT, (*row_of(document), *made))
        if not cursor.rowcount or cursor.lastrowid is None:
            return None
        self._index(cursor.lastrowid, cut)
        self._passages += len(cut.passages)
        if self._passages >= COMMIT_PASSAGES or time.monotonic() > self._due:
            self.commit()
        return cursor.lastrowid

    def note(
        self,
        source: str,
        size: int = 0,
        mtime: int = 0,
        digest: str = "",
        skipped: Iterable[Skipped] = (),
    ) -> None:
        """Record that a source was read, and which of its parts were skipped."""
        self._db.execute(
            "insert or replace into sources values (?, ?, ?, ?)", (source, size, mtime, digest)
        )
        rows = ((source, each.url, each.reason) for each in skipped)
        self._db.executemany("insert into skipped values (?, ?, ?)", rows)

    def forget(self, source: str) -> None:
        """Delete a source and its documents."""
        query = "select id from documents where source = ?"
        for (number,) in self._db.execute(query, (source,)).fetchall():
            self._db.execute("delete from documents where id = ?", (number,))
            self._db.execute("insert into removed values (?, ?)", (number, self._batch))
            self._writer.delete_documents_by_term("document", number)
        self._db.execute("delete from skipped where source = ?", (source,))
        self._db.execute("delete from sources where name = ?", (source,))

    def forget_others(self, kept: Iterable[str]) -> None:
        """Delete every source that is not in `kept`."""
        self._db.execute("create temp table kept (name text primary key)")
        self._db.executemany("insert or ignore into kept values (?)", ((name,) for name in kept))
        query = "select name from sources where name not in kept"
        for (name,) in self._db.execute(query).fetchall():
            self.forget(name)
        self._db.execute("drop table kept")

    def source(self, name: str) -> tuple[int, int, str] | None:
        """Return a source's last size, mtime (ns) and digest, or None if it was never read."""
        row: tuple[int, int, str] | None = self._db.execute(
            "select size, mtime, digest from sources where name = ?", (name,)
        ).fetchone()
        return row

    def documents(self, source: str) -> list[Document]:
        """Return the documents of a source."""
        rows = self._db.execute(f"select {COLUMNS} from documents where source = ?", (source,))
        return [document_of(row) for row in rows]

    def skipped(self, source: str) -> list[Skipped]:
        """Return the parts of a source that could not be read."""
        rows = self._db.execute("select url, reason from skipped where source = ?", (source,))
        return [Skipped(*row) for row in rows]

    def commit(self) -> None:
        """Commit everything written so far."""
        self._db.execute("commit")
        self._settle(self._batch)
        self._begin()

    def _begin(self) -> None:
        self._db.execute("begin")
        self._batch = self._indexed + 1
        self._passages, self._due = 0, time.monotonic() + COMMIT_SECONDS

    def _settle(self, batch: int) -> None:
        self._writer.commit()
        with self._db:
            self._db.execute("begin")
            self._db.execute("update state set indexed = ?", (batch,))
            self._db.execute("delete from removed")
        self._indexed = batch

    def _index(self, number: int, cut: Cut) -> None:
        document = cut.document
        within = places(document.url)
        dated = document.published_at or document.changed_at
        for entry in index_passages(number, document, cut.passages):
            for place in within:
                entry.add_text("places", place)
            if document.kind:
                entry.add_text("kind", document.kind)
            if dated:
                entry.add_integer("day", dated.toordinal())
            self._writer.add_document(entry)

    def finish(self) -> None:
        """Count how often the names defined in each document are used, and complete the folder."""
        self._note_uses()
        self.commit()
        self._db.execute("commit")
        self._writer.wait_merging_threads()
        self._db.execute("pragma journal_mode=delete")

    def _note_uses(self) -> None:
        query = "select id, defined, used from documents where used != '' or defined != ''"
        documents = (
            (number, defined.split(), frozenset(used.split()))
            for number, defined, used in self._db.execute(query)
        )
        counted = list(count_uses(documents))
        self._db.execute("delete from used")
        self._db.execute("update documents set uses = 0 where uses > 0")
        for uses, number in counted:
            self._db.execute("update documents set uses = ? where id = ?", (uses, number))
            query = "select url from documents where id = ?"
            (url,) = self._db.execute(query, (number,)).fetchone()
            users = ((name, uses, number) for name in packages_of(url))
            self._db.executemany("insert into used values (?, ?, ?)", users)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *fault: object) -> None:
        if kind is None:
            self.finish()
        self._db.close()


def index_passages(
    number: int, document: Document, passages: Sequence[Piece]
) -> Iterator[tantivy.Document]:
    """Yield an index entry for each passage of a document."""
    title, address = spread(document.title), document.url.partition("://")[2].replace("/", " ")
    for passage in passages:
        body = document.markdown[passage.start : passage.end]
        entry = tantivy.Document(document=number, start=passage.start, end=passage.end)
        entry.add_text("title", title)
        entry.add_text("heading", spread(passage.heading))
        entry.add_text("body", space_signs(body))
        entry.add_text("names", f"{document.title} {address} {passage.heading}")
        if terms := signed_terms(f"{document.title} {body}"):
            entry.add_text("signed", " ".join(terms))
        if passage is passages[0]:
            entry.add_text("subject", subject(document.title))
        yield entry


#: Seconds to wait for another process building the same library.
WAIT_SECONDS = 1_200
#: Number of older index folders kept for other processes that may be reading them.
_KEPT = 2
_ABANDONED_SECONDS = 86_400


def build(plan: Plan) -> None:
    """Build a plan's index folder, or wait until another process has built it."""
    private_folder(plan.shelf)
    with _exclusive(plan):
        if plan.folder.exists():
            return
        _sweep(plan)
        _prepare(plan)
        with _draft(plan) as store:
            _fill_from_files(plan, store) if plan.paths else _fill_from_packages(plan, store)
        plan.draft.rename(plan.folder)


@contextlib.contextmanager
def _exclusive(plan: Plan) -> Iterator[None]:
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
                " seconds. Try again later."
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
    try:
        with no_panic():
            return StoreWriter(plan.draft)
    except sqlite3.OperationalError:  # for example a full disk, which damages nothing
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
    except OSError:  # the file system does not support links
        shutil.copyfile(source, target)


def _fill_from_packages(plan: Plan, store: StoreWriter) -> None:
    """Read the packages whose current versions are not stored yet."""

    def is_whole(place: Path | None) -> bool:
        named = plan.named is None or package_name(place) in plan.named
        return named or store.source(_source((place, True))) is not None

    # Begin with the largest packages, because they take longest.
    places = [None, *sorted(installed_packages(), key=_weight, reverse=True)]
    wanted = [(place, whole) for place in places if (whole := is_whole(place)) or place]
    store.forget_others(map(_source, wanted))
    fresh = [one for one in wanted if store.source(_source(one)) is None]
    if fresh:
        _tell(done=0, of=len(fresh))
    for done, (one, read) in enumerate(read_packages(fresh), start=1):
        for cut in read.cuts:
            store.add(cut, _source(one))
        store.note(_source(one), skipped=read.skipped)
        _tell(done=done, of=len(fresh))


def _source(wanted: Wanted) -> str:
    place, whole = wanted
    name = place.stem if place else f"python-{sys.version}"
    return name if whole else f"{name} description"


def _weight(place: Path) -> int:
    record = place / "RECORD"
    return record.stat().st_size if record.exists() else 0


def _fill_from_files(plan: Plan, store: StoreWriter) -> None:
    fresh: list[tuple[File, str]] = []
    store.forget_others(_looked_at(plan, store, fresh))
    if fresh:
        _tell(done=0, of=len(fresh))
    for done, (file, read) in enumerate(read_files(fresh), start=1):
        _store(store, file, read)
        _tell(done=done, of=len(fresh))


def _looked_at(plan: Plan, store: StoreWriter, fresh: list[tuple[File, str]]) -> Iterator[str]:
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
    """Redirect file descriptor 1 to the null device, so that workers do not keep stdout open."""
    sys.stdout = os.fdopen(os.dup(1), "w")
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def _tell_fault(kind: type[BaseException], error: BaseException, trace: object) -> None:
    said = traceback.format_exception_only(error)[-1].strip()
    _tell(error=f"The library's index could not be built: {said[:200]}.")


def main() -> int:
    """Build the library requested on standard input. Return the exit code."""
    gc.disable()
    _keep_output()
    sys.excepthook = _tell_fault
    os.umask(0o077)  # indexed files may be private
    asked = json.load(sys.stdin)
    named = asked.get("named")
    asked |= {"named": named if named is None else frozenset(named)}
    asked |= {"paths": tuple(map(Path, asked["paths"])), "shelf": Path(asked["shelf"])}
    plan = Plan(**asked)
    try:
        build(plan)
    except SettingsError as error:
        _tell(error=str(error))
        return 2
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        _tell(error=f"The library's index cannot be written to {plan.shelf}: {why}.")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

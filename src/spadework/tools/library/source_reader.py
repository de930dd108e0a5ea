"""Reading of a library's sources, packages and files, in worker processes."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import hashlib
import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Generic, TypeVar
from urllib.parse import unquote

from spadework.errors import FetchError, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.office.office import modern, old_office
from spadework.tools.library.document import Cut, Document, Part, Skipped, cut_document
from spadework.tools.library.folders import File
from spadework.tools.library.installed import package_at, parts_of

MAX_FILE_BYTES = 50_000_000
#: Seconds after which a file or document is skipped.
FILE_SECONDS = 60
#: Of these, seconds for LibreOffice to convert an old Office file.
OFFICE_SECONDS = 45

T = TypeVar("T")


@dataclass(frozen=True)
class SourceText:
    """What a file or package yielded, and what could not be read. `digest` is a file's; `same`
    means it is unchanged and was not read.
    """

    cuts: list[Cut]
    skipped: list[Skipped]
    digest: str = ""
    same: bool = False

    @classmethod
    def lost(cls, url: str, reason: str, digest: str = "") -> SourceText:
        """Return an empty result with the reason."""
        return cls([], [Skipped(url, reason)], digest)


def start_worker() -> None:
    """Prepare a worker without garbage collection: syntax trees have no cycles, and looking for
    them takes half the time.
    """
    gc.disable()


def cut_package(place: Path | None) -> SourceText:
    """Return the documents of the package at `place`, None for the standard library. Never
    raises.
    """
    parts = _try_reading(lambda: list(parts_of(package_at(place))))
    if isinstance(parts, str):
        return SourceText.lost(package_url(place), parts)
    text = SourceText([], [])
    for part in parts:
        cut = _try_reading(partial(_cut_part, part))
        if isinstance(cut, str):
            text.skipped.append(Skipped(part.url, cut))
        elif cut:
            text.cuts.append(cut)
    return text


def package_url(place: Path | None) -> str:
    """Return the URL prefix of a package's documents."""
    name = place.stem if place else "python-" + ".".join(map(str, sys.version_info[:3]))
    return f"library://{name}"


def _cut_part(part: Part) -> Cut | None:
    with _no_longer():
        document = part.read()
        return cut_document(document) if document else None


def cut_file(file: File, known: str = "") -> SourceText:
    """Return a file's document, read only if its digest is not the `known` one. Never raises."""
    if file.size > MAX_FILE_BYTES:
        return SourceText.lost(file.url, f"it is larger than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        body = Path(file.path).read_bytes()
    except OSError as error:
        return SourceText.lost(file.url, (error.strerror or "it cannot be read").lower())
    digest = hashlib.sha256(body).hexdigest()
    if digest == known:
        return SourceText([], [], digest, same=True)
    is_utf16 = body.startswith((b"\xff\xfe", b"\xfe\xff"))
    if file.media_type.startswith("text/") and b"\0" in body[:8_000] and not is_utf16:
        return SourceText.lost(file.url, "it is not text", digest)
    cut = _try_reading(lambda: _cut_body(file, body))
    if isinstance(cut, str):
        return SourceText.lost(file.url, cut, digest)
    return SourceText([cut], [], digest)


def _cut_body(file: File, body: bytes) -> Cut:
    with _no_longer():
        media_type = file.media_type
        if old := old_office(body):
            body, media_type = asyncio.run(modern(body, old, seconds=OFFICE_SECONDS)), ""
        read = read_document(body, media_type=media_type, url=file.url)
    if not read.markdown.strip():
        raise Unreadable("it has no text")
    name = PurePosixPath(unquote(file.url)).stem.replace("_", " ").replace("-", " ").strip()
    title = " ".join(read.title.split()) or name
    document = Document(
        file.url,
        title,
        read.markdown,
        read.published_at,
        kind=file.kind,
        changed_at=changed_at(file),
        author=read.author,
    )
    return cut_document(document)


def changed_at(file: File) -> datetime:
    """Return when a file was last changed."""
    return datetime.fromtimestamp(file.mtime // 10**9, UTC)


def _try_reading(read: Callable[[], T]) -> T | str:
    """Return what a reader returns, or the reason why it failed."""
    try:
        return read()
    except FetchError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - this process is there for readers of untrusted files: their faults end here, by name
        return f"its reader failed ({type(error).__name__})"


@contextlib.contextmanager
def _no_longer(seconds: float = FILE_SECONDS) -> Iterator[None]:
    """End this process if this takes too long; only a C-level thread can, whatever blocks it."""
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


WORKERS = 2
#: Files in progress at once, so that workers never wait and results do not pile up.
_AT_ONCE = 8 * WORKERS
#: Plain text up to this size is read in this process: it cannot crash its reader, and a worker
#: takes a second to start.
PLAIN_BYTES, PLAIN = 50_000, frozenset(("text/plain", "text/markdown"))
_SPAWN = multiprocessing.get_context("spawn")
_BROKEN = "its reader broke down or took too long"

Source = TypeVar("Source")
Text = TypeVar("Text")


def workers(count: int = WORKERS) -> ProcessPoolExecutor:
    """Return a pool of processes that read files and packages."""
    return ProcessPoolExecutor(count, _SPAWN, start_worker)


def read_files(files: Iterable[tuple[File, str]]) -> Iterator[tuple[File, SourceText]]:
    """Read files, each given with its previous digest, or ""."""
    waiting = deque[tuple[File, str]]()
    for file, known in files:
        if file.media_type in PLAIN and file.size <= PLAIN_BYTES:
            yield file, cut_file(file, known)
        else:
            waiting.append((file, known))
    reader = Reader(_cut_known, lambda asked, reason: SourceText.lost(asked[0].url, reason))
    yield from ((file, read) for (file, _), read in reader.read(waiting))


def read_packages(places: Iterable[Path | None]) -> Iterator[tuple[Path | None, SourceText]]:
    """Read packages by their metadata folders; None is the standard library."""
    reader = Reader(cut_package, lambda place, why: SourceText.lost(package_url(place), why))
    return reader.read(deque(places))


def _cut_known(asked: tuple[File, str]) -> SourceText:
    return cut_file(*asked)


@dataclass(frozen=True)
class Reader(Generic[Source, Text]):
    """Reads sources in workers. One that kills its worker or cannot be sent becomes `lost`."""

    cut: Callable[[Source], Text]
    lost: Callable[[Source, str], Text]

    def read(self, waiting: deque[Source]) -> Iterator[tuple[Source, Text]]:
        """Read all, in any order. When a worker dies, the sources it may have been reading are read
        alone.
        """
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
                yield from ((source, self._read_alone(source)) for source in suspects)

    def _outcome(self, job: Future[Text], source: Source) -> Text:
        """Return a reader's result. Raises BrokenProcessPool if its worker died."""
        error: BaseException | None = job.exception()
        if isinstance(error, BrokenProcessPool):
            raise error
        if error is not None:
            return self.lost(source, f"its reader failed ({type(error).__name__})")
        return job.result()

    def _read_alone(self, source: Source) -> Text:
        try:
            with workers(1) as pool:
                return self._outcome(pool.submit(self.cut, source), source)
        except BrokenProcessPool:
            return self.lost(source, _BROKEN)

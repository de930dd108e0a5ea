"""Read the packages and files of a library in worker processes."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import hashlib
import multiprocessing
import os
import re
import stat
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Generic, TypeVar
from urllib.parse import quote, unquote

from spadework.errors import FetchError, SettingsError, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.library.document import Cut, Document, Part, Skipped, cut_document
from spadework.tools.library.installed import Wanted, package_at, parts_of

MEDIA_TYPES = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".mdx": "text/markdown",
    ".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml",
    ".txt": "text/plain", ".text": "text/plain", ".rst": "text/x-rst", ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".doc": "application/msword", ".xls": "application/vnd.ms-excel",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".rtf": "application/rtf", ".epub": "application/epub+zip",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".csv": "text/csv", ".tsv": "text/tab-separated-values",
    ".ipynb": "application/x-ipynb+json", ".eml": "message/rfc822",
}  # fmt: skip
#: Maps file extensions to the kinds used in filters such as `kind:pdf`. Extensions with the same
#: media type have the same kind.
KINDS = {
    suffix: next(name for name, same in MEDIA_TYPES.items() if same == kind)[1:]
    for suffix, kind in MEDIA_TYPES.items()
}
#: Folders to skip. They contain no documents, or only the source files from which Sphinx generated
#: HTML pages.
_LEFT_OUT = frozenset(("node_modules", "__pycache__", "__macosx", "_sources"))
#: Extensions of HTML pages, and of the source files from which they are generated. A source file
#: is skipped if its HTML page is in the same folder.
_PAGES, _MADE_FROM = (".html", ".htm", ".xhtml"), (".txt", ".text", ".rst", ".md", ".markdown")
#: Matches the names of text files without an extension.
_BARE = re.compile(r"readme|install|news|todo|faq|howto|manual", re.I)
#: Matches names that need no escaping in a URL.
_PLAIN = re.compile(r"[\w.~-]*", re.ASCII).fullmatch
_SIGNS = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class File:
    """A file to read. `mtime` is in nanoseconds. `kind` is a value of `KINDS`, such as "pdf"."""

    path: str
    url: str
    kind: str
    size: int
    mtime: int

    @property
    def media_type(self) -> str:
        """The media type, such as text/markdown."""
        return MEDIA_TYPES[f".{self.kind}"]


def collections(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the paths in order, keyed by unique names derived from their folders. Raises
    SettingsError if a path is missing or unreadable.
    """
    found: dict[str, Path] = {}
    given = dict.fromkeys(Path(each).expanduser().absolute() for each in paths)
    for path in given:
        _check(path)
    folders = {path: path if path.is_dir() else path.parent for path in given}
    alike = Counter(_name(folder) for folder in set(folders.values()))
    for path, folder in folders.items():
        name = _name(folder)
        if alike[name] > 1 and folder.parent.name:
            name = _name(folder.parent) + f"-{name}"
        number = 2
        unique = name
        while unique in found:
            unique = f"{name}-{number}"
            number += 1
        found[unique] = path
    return found


def _name(folder: Path) -> str:
    return _SIGNS.sub("-", folder.name or "library").strip("-.").lower() or "library"


def _check(path: Path) -> None:
    if not path.exists():
        raise SettingsError(
            f"The library path {path} does not exist.", hint="Name an existing file or folder."
        )
    if not os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK):
        raise SettingsError(
            f"The library path {path} cannot be read: permission denied.",
            hint="Give your user account read access to it.",
        )


def files(paths: Sequence[Path]) -> Iterator[File]:
    """Yield the documents in the paths. Hidden files, links that lead outside the paths, and files
    whose HTML version is in the same folder are skipped. Raises the same errors as `collections`.
    """
    return _files(collections(paths))


def _files(named: dict[str, Path]) -> Iterator[File]:
    for name, path in named.items():
        top = f"library://{quote(name)}/"
        if path.is_dir():
            yield from _walk(str(path), top, path.resolve())
        elif file := _file(path.name, str(path), top + _quoted(path.name), path.stat()):
            yield file


def _walk(folder: str, url: str, root: Path) -> Iterator[File]:
    """Yield a folder's files. This must stay fast for millions of files."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (PermissionError, FileNotFoundError):
        return  # unreadable or deleted
    pages = {_stem(e.name) for e in entries if e.name.lower().endswith(_PAGES)}
    for entry in entries:
        name = entry.name
        if _is_left_out(name, pages):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{url}{_quoted(name)}/", root)
        elif not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(root):
            try:
                if file := _file(name, entry.path, url + _quoted(name), entry.stat()):
                    yield file
            except OSError:
                continue  # deleted meanwhile, or a broken or circular link


def _is_left_out(name: str, pages: Collection[str]) -> bool:
    made_from = bool(pages) and name.lower().endswith(_MADE_FROM)
    return name.startswith(".") or name.lower() in _LEFT_OUT or (made_from and _stem(name) in pages)


def _quoted(name: str) -> str:
    """Percent-encode the bytes of a file name, because the name might be invalid UTF-8."""
    return name if _PLAIN(name) else quote(os.fsencode(name))


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _file(name: str, path: str, url: str, state: os.stat_result) -> File | None:
    _, dot, suffix = name.rpartition(".")
    kind = KINDS.get(f".{suffix.lower()}", "") if dot else "txt" if _BARE.match(name) else ""
    if not kind or not stat.S_ISREG(state.st_mode):
        return None
    return File(path, url, kind, state.st_size, state.st_mtime_ns)


MAX_FILE_BYTES = 50_000_000
#: Maximum number of seconds for reading a file. Files that take longer are skipped.
FILE_SECONDS = 60

T = TypeVar("T")


@dataclass(frozen=True)
class SourceText:
    """The documents of a file or package, and the parts that could not be read.
    - `digest`: the hash of a file.
    - `same`: true if the file is unchanged and was therefore not parsed.
    """

    cuts: list[Cut]
    skipped: list[Skipped]
    digest: str = ""
    same: bool = False

    @classmethod
    def lost(cls, url: str, reason: str, digest: str = "") -> SourceText:
        """Return a result without documents, for a source that could not be read."""
        return cls([], [Skipped(url, reason)], digest)


def start_worker() -> None:
    """Disable a worker's slow garbage collection, because syntax trees have no cycles."""
    gc.disable()


def cut_package(wanted: Wanted) -> SourceText:
    """Return a package's documents or only its description, depending on `wanted`. Never raises."""
    place, whole = wanted
    most = None if whole else 1  # the description comes first
    parts = _try_reading(lambda: list(islice(parts_of(package_at(place)), most)))
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
    """Read a file, but do not parse it if its digest equals `known`. Never raises."""
    if file.size > MAX_FILE_BYTES:
        return SourceText.lost(file.url, f"larger than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        body = Path(file.path).read_bytes()
    except OSError as error:
        return SourceText.lost(file.url, (error.strerror or "cannot be read").lower())
    digest = hashlib.sha256(body).hexdigest()
    if digest == known:
        return SourceText([], [], digest, same=True)
    is_utf16 = body.startswith((b"\xff\xfe", b"\xfe\xff"))
    if file.media_type.startswith("text/") and b"\0" in body[:8_000] and not is_utf16:
        return SourceText.lost(file.url, "not a text file", digest)
    cut = _try_reading(lambda: _cut_body(file, body))
    if isinstance(cut, str):
        return SourceText.lost(file.url, cut, digest)
    return SourceText([cut], [], digest)


def _cut_body(file: File, body: bytes) -> Cut:
    with _no_longer():
        read = read_document(body, media_type=file.media_type, url=file.url)
    if not read.markdown.strip():
        raise Unreadable("contains no text")
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
    try:
        return read()
    except FetchError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - this process is there for readers of untrusted files: their faults end here, by name
        return f"the reader failed ({type(error).__name__})"


@contextlib.contextmanager
def _no_longer(seconds: float = FILE_SECONDS) -> Iterator[None]:
    """End this process if the `with` block takes too long, even if the code in it is stuck."""
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


WORKERS = 2
#: Maximum number of sources submitted to the workers at once. It keeps the workers busy without a
#: long backlog.
_AT_ONCE = 8 * WORKERS
#: Files of at most PLAIN_BYTES bytes and of these media types are read in this process, not in a
#: worker. They cannot crash the process, and starting a worker takes a second.
PLAIN_BYTES, PLAIN = 50_000, frozenset(("text/plain", "text/markdown"))
_SPAWN = multiprocessing.get_context("spawn")
_BROKEN = "the reader crashed or took too long"

Source = TypeVar("Source")
Text = TypeVar("Text")


def workers(count: int = WORKERS) -> ProcessPoolExecutor:
    """Return a pool of processes that read files and packages."""
    return ProcessPoolExecutor(count, _SPAWN, start_worker)


def read_files(files: Iterable[tuple[File, str]]) -> Iterator[tuple[File, SourceText]]:
    """Read files. Each is given with its last known digest, or "" if there is none."""
    waiting = deque[tuple[File, str]]()
    for file, known in files:
        if file.media_type in PLAIN and file.size <= PLAIN_BYTES:
            yield file, cut_file(file, known)
        else:
            waiting.append((file, known))
    reader = Reader(_cut_known, lambda asked, reason: SourceText.lost(asked[0].url, reason))
    yield from ((file, read) for (file, _), read in reader.read(waiting))


def read_packages(wanted: Iterable[Wanted]) -> Iterator[tuple[Wanted, SourceText]]:
    """Read packages, either in full or just their descriptions."""
    reader = Reader(cut_package, lambda one, why: SourceText.lost(package_url(one[0]), why))
    return reader.read(deque(wanted))


def _cut_known(asked: tuple[File, str]) -> SourceText:
    return cut_file(*asked)


@dataclass(frozen=True)
class Reader(Generic[Source, Text]):
    """Reads sources in worker processes. `lost` returns the result if a source cannot be read."""

    cut: Callable[[Source], Text]
    lost: Callable[[Source, str], Text]

    def read(self, waiting: deque[Source]) -> Iterator[tuple[Source, Text]]:
        """Yield texts in any order. If a worker dies, retry the sources in progress one by one."""
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
        error: BaseException | None = job.exception()
        if isinstance(error, BrokenProcessPool):
            raise error
        if error is not None:
            return self.lost(source, f"the reader failed ({type(error).__name__})")
        return job.result()

    def _read_alone(self, source: Source) -> Text:
        try:
            with workers(1) as pool:
                return self._outcome(pool.submit(self.cut, source), source)
        except BrokenProcessPool:
            return self.lost(source, _BROKEN)

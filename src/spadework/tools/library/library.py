"""Open the user's folders or the installed documentation as a library."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import sqlite3
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

from spadework.errors import NotAllowed, SearchError, SettingsError, Unreadable
from spadework.tools.library.document import DAMAGED, Document, Skipped, StoreReader
from spadework.tools.library.full_text import UNDERSTOOD, Words, needed_words, related_packages
from spadework.tools.library.installed import installed_packages, packages_in
from spadework.tools.library.search import Dense, Searcher, no_passages, passages
from spadework.tools.library.source_reader import collections, files
from spadework.tools.ranking.embedder import Meaning, fill
from spadework.tools.ranking.query_operators import without_operators
from spadework.tools.ranking.vectors import Passage, Vectors
from spadework.tools.text.language import ENGLISH
from spadework.tools.web.background_threads import kill_group
from spadework.values import Hit, SourceKind

#: Version of the index format. Increase it when stored data, parsing or splitting changes.
FORMAT = 6
_FAMILY = re.compile(r"(?:installed|folders)-(\d+)-")


@dataclass(frozen=True)
class Plan:
    """A library to open.
    - `paths`: the files and folders to index, or () for the installed documentation.
    - `shelf`: the folder that contains all index folders.
    - `family`: an identifier of the sources.
    - `state`: an identifier of the sources' content.
    - `words`: a description of the library for users.
    - `named`: the packages to read in full (None: all). Of others, only the description is read.
    """

    paths: tuple[Path, ...]
    shelf: Path
    family: str
    state: str
    words: str
    named: frozenset[str] | None = None

    @property
    def folder(self) -> Path:
        """The index folder, which may not exist yet."""
        return self.shelf / f"{self.family}-{self.state}"

    @property
    def draft(self) -> Path:
        """The folder of an unfinished build, which can be continued."""
        return self.shelf / f".draft-{self.family}"

    @property
    def relatives(self) -> list[Path]:
        """Index folders built from other versions of the same sources, newest first."""
        others = [path for path in self.shelf.glob(f"{self.family}-*") if path != self.folder]
        return sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)

    @property
    def outdated(self) -> list[Path]:
        """Index folders in older formats, which can no longer be read."""
        return [
            path
            for path in self.shelf.iterdir()
            if (kind := _FAMILY.match(path.name)) and int(kind[1]) < FORMAT
        ]


def plan(paths: Sequence[Path], home: Path) -> Plan:
    """Return a plan for the paths or, if there are none, for the installed documentation. Raises
    SettingsError if a path is missing or unreadable.
    """
    shelf = home / "library"
    if not paths:
        names = [place.stem for place in installed_packages()]
        words = ENGLISH("scope_installed", count=len(names))
        return Plan((), shelf, f"installed-{FORMAT}", _digest([sys.version, *names]), words)
    named = collections(paths)
    state = (f"{file.url} {file.size} {file.mtime}" for file in files(paths))
    family = f"folders-{FORMAT}-" + _digest([f"{name} {path}" for name, path in named.items()])
    *first, last = named
    kind = "scope_libraries" if first else "scope_library"
    words = ENGLISH(kind, others=", ".join(first), library=last)
    return Plan(tuple(named.values()), shelf, family, _digest(state), words)


def narrowed(whole: Plan, named: frozenset[str]) -> Plan:
    """Return a plan that reads only the `named` packages in full."""
    words = ENGLISH("scope_related", what=whole.words)
    state = _digest([whole.state, *sorted(named)])
    return replace(whole, state=state, words=words, named=named)


def _digest(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16]


BUILD_SECONDS = 1_800
#: Maximum number of failed attempts to read the same additional packages in full.
TRIES = 2
PAUSE_SECONDS = 10.0


async def build(plan: Plan, progress: Callable[[str], None] | None) -> None:
    """Build a plan's index folder in a child process. Raises SettingsError if that fails."""
    # The option -P keeps the current folder off the import path. PYTHONPATH lets the child import
    # the same modules.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "spadework.tools.library.build"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(BUILD_SECONDS):
            await _attend(process, plan, progress or (lambda text: None))
    except TimeoutError:
        raise SettingsError(
            f"Building the library's index took more than {BUILD_SECONDS} seconds.",
            hint="Choose fewer folders.",
        ) from None
    finally:
        if process.returncode != 0:  # the child or its workers might still be running
            kill_group(process)
            await process.wait()


async def _attend(process: Process, plan: Plan, progress: Callable[[str], None]) -> None:
    assert process.stdin and process.stdout
    said = asdict(plan) | {"named": None if plan.named is None else sorted(plan.named)}
    process.stdin.write(json.dumps(said, default=str).encode())
    process.stdin.close()
    error = "The library's index could not be built: its process was killed."
    subject = "the library" if plan.paths else "the installed documentation"
    at = time.monotonic()
    async for line in process.stdout:
        said = json.loads(line)
        error = said.get("error", error)
        if "waits" in said:
            progress(f"Waiting for another process that is building the index of {subject}.")
        elif "done" in said:
            done, of, now = said["done"], said["of"], time.monotonic()
            if done == of or now - at >= PAUSE_SECONDS:
                at = now
                progress(f"Building the index of {subject}: {done} of {of} done.")
    await process.wait()
    if process.returncode:
        raise SettingsError(error)


T = TypeVar("T")


class Shelved:
    """The index of a plan. Its `searcher` is None until the index is built."""

    searcher: Searcher | None = None

    def __init__(self, wanted: Plan, progress: Callable[[str], None] | None) -> None:
        self._plan, self._progress = wanted, progress
        self._whole, self._former = wanted, list[Searcher]()
        self._building: asyncio.Task[Searcher] | None = None
        self._widening: asyncio.Task[None] | None = None
        self._failed = Counter[str]()
        self._is_named, self._needs_all = False, False
        self._words: Words | None = None
        self._related = frozenset[str]()
        self._choosing = asyncio.Lock()
        self._anew = False
        self._lock = asyncio.Lock()

    @classmethod
    async def open(
        cls,
        wanted: Plan,
        progress: Callable[[str], None] | None,
        *,
        lazily: bool = False,
        rebuilds: bool = True,
    ) -> Self:
        """Open the index of a plan, building it if it is missing. If it is damaged and `rebuilds`
        is true, rebuild it once.

        If `lazily` is true, a missing index is built later, by `widen` or `built`. For installed
        packages, it contains only descriptions until `widen` adds full documentation.

        Raises SearchError if the index stays damaged, or SettingsError if it cannot be written.
        """
        shelved = cls(wanted, progress)
        shelved._anew = not rebuilds
        if lazily and not await asyncio.to_thread(wanted.folder.exists):
            shelved._plan = wanted if wanted.paths else narrowed(wanted, frozenset())
            return shelved
        try:
            await shelved.built()
        except BaseException:
            await shelved.close()
            raise
        return shelved

    async def built(self) -> Searcher:
        """Return the searcher of the index, building the index if it is missing. Raises
        SettingsError if the index cannot be written, or SearchError if it is damaged beyond
        repair.
        """
        if self.searcher:
            return self.searcher
        if self._building is None or self._building.done():
            self._building = asyncio.create_task(self._build())
        return await asyncio.shield(self._building)

    async def _build(self) -> Searcher:
        async with self._lock:
            self.searcher = self.searcher or await self._opened(self._plan)
            return self.searcher

    async def _opened(self, wanted: Plan) -> Searcher:
        try:
            return await self._read(wanted)
        except DAMAGED as error:
            return await self._made_anew(wanted, error)

    async def _read(self, wanted: Plan) -> Searcher:
        if not await asyncio.to_thread(wanted.folder.exists):
            await build(wanted, self._progress)
        understood = frozenset[str]() if wanted.paths else UNDERSTOOD
        return await asyncio.to_thread(Searcher, wanted.folder, understood)

    @property
    def words(self) -> str:
        """A description of the index for users."""
        if not self.searcher or not self._plan.paths:
            return self._plan.words
        held = self.searcher.documents
        phrase = "scope_document" if held == 1 else "scope_documents"
        return ENGLISH(phrase, what=self._plan.words, held=held)

    @property
    def kind(self) -> SourceKind:
        """The documents' source kind: "own" for the user's files, otherwise ""."""
        return "own" if self._plan.paths else ""

    async def widen(self, text: str) -> None:
        """Read in full the packages that a text names. If no text so far has named a package, read
        the packages related to the first text, or all packages if a later text has keywords that
        the first lacks. Raises SettingsError or SearchError.
        """
        if self._plan.named is None:
            return
        named = await asyncio.to_thread(packages_in, text)
        async with self._choosing:
            self._is_named = self._is_named or bool(named)
            if not self._is_named:
                await self._relate(needed_words(text))
        while (wanted := self._wider(named)) != self._plan and self._failed[wanted.state] < TRIES:
            if self._widening is None or self._widening.done():
                self._widening = asyncio.create_task(self._swap(wanted))
            await asyncio.shield(self._widening)

    def _wider(self, named: frozenset[str]) -> Plan:
        if self._plan.named is None:
            return self._plan
        if self._needs_all:
            return self._whole
        return narrowed(self._whole, named | self._related | self._plan.named)

    async def _relate(self, words: Words) -> None:
        if self._words is None:
            self._related = await asyncio.to_thread(related_packages, words)
            self._words = words
        self._needs_all = self._needs_all or not words <= self._words

    async def _swap(self, wanted: Plan) -> None:
        async with self._lock:
            try:
                searcher = await self._opened(wanted)
            except (SettingsError, SearchError):
                self._failed[wanted.state] += 1
                raise
            self._former += [self.searcher] if self.searcher else []
            self.searcher, self._plan = searcher, wanted

    async def close(self) -> None:
        """Close the current and earlier indexes, and cancel a running build."""
        for task in filter(None, (self._building, self._widening)):
            if task.cancel():  # False for a finished task, whose event loop may be closed
                await asyncio.gather(task, return_exceptions=True)
        for searcher in filter(None, (*self._former, self.searcher)):
            searcher.store.close()

    async def ask(self, work: Callable[[Searcher], T]) -> T:
        """Run `work` on the index in a thread. If the index is damaged, rebuild it and run `work`
        again. Raises SearchError if the index is still damaged.
        """
        searcher = await self.built()
        try:
            return await asyncio.to_thread(work, searcher)
        except sqlite3.ProgrammingError:
            raise SearchError("The library is closed.") from None
        except DAMAGED as error:
            async with self._lock:  # one call rebuilds the index while the others wait
                if self.searcher is searcher:
                    self.searcher = await self._made_anew(self._plan, error)
        try:
            return await asyncio.to_thread(work, await self.built())
        except DAMAGED as error:
            raise self._given_up() from error

    async def _made_anew(self, wanted: Plan, damage: Exception) -> Searcher:
        if self._anew:
            raise self._given_up() from damage
        with suppress(FileNotFoundError):  # another process has moved the damaged index
            aside = wanted.shelf / f".damaged-{secrets.token_hex(4)}"
            await asyncio.to_thread(wanted.folder.rename, aside)
        try:
            searcher = await self._read(wanted)
        except DAMAGED as error:
            self._anew = True
            raise self._given_up() from error
        self._anew = True  # set only now, because a cancelled rebuild does not count
        return searcher

    def _given_up(self) -> SearchError:
        return SearchError(f"The library's index is damaged. Delete {self._plan.shelf} to fix it.")


SCHEME = "library://"


class Library:
    """An open library. Files added after it was opened are ignored."""

    def __init__(self, index: Shelved, dense: Dense | None = None) -> None:
        self._index = index
        self._dense = dense

    @property
    def documents(self) -> int:
        """The number of indexed documents, or 0 until the index is built."""
        return self._index.searcher.documents if self._index.searcher else 0

    @property
    def describe(self) -> str:
        """A description of the index for users."""
        return self._index.words

    @property
    def skipped(self) -> Sequence[Skipped]:
        """Files and packages that could not be read."""
        return self._index.searcher.skipped if self._index.searcher else ()

    @classmethod
    async def open(
        cls,
        paths: Sequence[Path],
        *,
        home: Path,
        progress: Callable[[str], None] | None = None,
        meaning: Meaning | None = None,
        lazily: bool = False,
    ) -> Library:
        """Open the library of `paths`, or of the installed documentation, and build its index.

        If `lazily` is true, a missing index is built later, by `build` or the first search. For
        installed packages, it first contains only descriptions, and each search adds the full
        documentation of relevant packages.

        With `meaning`, searches also use the vectors made by `embed`, and `lazily` has no effect.
        `progress` receives status messages.

        Raises SettingsError if a path is missing or unreadable, or the index cannot be written, and
        SearchError if the index is damaged and cannot be repaired.
        """
        wanted = await asyncio.to_thread(plan, paths, home)
        index = await Shelved.open(wanted, progress, lazily=lazily and not meaning)
        if meaning is None:
            return cls(index)
        vectors = Vectors(wanted.shelf / "vectors.sqlite", wanted.family, meaning.embeds.name)
        return cls(index, Dense(vectors, meaning, "Run `spadework index`."))

    @classmethod
    async def open_built(cls, paths: Sequence[Path], *, home: Path) -> tuple[str, Library | None]:
        """Open a library without building its index. Return its description, and the library or
        None. It is None if there is no index, or if folders have changed since they were
        indexed. Raises SettingsError if a path is missing or unreadable, or SearchError if the
        index is damaged.
        """
        wanted = await asyncio.to_thread(plan, paths, home)
        if not await asyncio.to_thread(wanted.folder.exists):
            others = [] if paths else await asyncio.to_thread(lambda: wanted.relatives)
            if not others:
                return wanted.words, None
            state = others[0].name.rpartition("-")[2]
            wanted = replace(narrowed(wanted, frozenset()), state=state)
        return wanted.words, cls(await Shelved.open(wanted, None, rebuilds=False))

    async def build(self, text: str = "") -> None:
        """Build the index if it is missing. Read in full the packages that are relevant to `text`.
        Raises SettingsError or SearchError.
        """
        if text:
            await self._index.widen(text)
        await self._index.built()

    async def search(self, text: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` documents, best first, each with a relevance from 0 to 1."""
        await self._index.widen(text)
        nearest = await self._dense.nearest(without_operators(text)) if self._dense else no_passages
        found = await self._index.ask(lambda searcher: searcher.search(text, limit, nearest))
        return [
            Hit(
                url=each.document.url,
                title=each.document.title,
                snippet=each.snippet,
                position=position,
                provider="library",
                query=text,
                kind=self._index.kind,
                published_at=each.document.published_at,
                relevance=each.score,
            )
            for position, each in enumerate(found, start=1)
        ]

    async def embed(self, progress: Callable[[int], None] = lambda documents: None) -> int:
        """Embed new passages and return how many texts the model received. `progress` receives the
        number of documents done. Raises ModelError, but keeps finished vectors.
        """
        if self._dense is None:
            return 0
        vectors, store = self._dense.vectors, (await self._index.built()).store
        there = set(await asyncio.to_thread(store.numbers))
        known = await asyncio.to_thread(vectors.numbers)
        asked = await fill(
            vectors, self._dense.meaning.embeds, _passages(store, sorted(there - known)), progress
        )
        await asyncio.to_thread(vectors.forget, known - there)
        families = await asyncio.to_thread(
            lambda: {path.name.rpartition("-")[0] for path in vectors.path.parent.iterdir()}
        )
        await asyncio.to_thread(vectors.forget_others, families)
        return asked

    async def document(self, url: str) -> Document:
        """Return a document. Raises Unreadable if none exists, NotAllowed for non-library URLs."""
        if not url.startswith(SCHEME):
            raise NotAllowed(f"{url[:200]} is not the address of a document in the library.")
        at = url.partition("#")[0]
        found = await self._index.ask(lambda searcher: searcher.store.by_url(at))
        if found is None:
            raise Unreadable(f"There is no document {url[:200]} in {self.describe}.")
        return found

    async def some(self, most: int) -> list[Document]:
        """Return up to `most` documents, spread evenly over the library."""

        def spread(searcher: Searcher) -> list[Document]:
            numbers = searcher.store.numbers()
            chosen = numbers[:: max(1, -(-len(numbers) // most))]
            return [document for document, _ in searcher.store.by_numbers(chosen).values()]

        return await self._index.ask(spread)

    async def close(self) -> None:
        """Close the index and cancel a running build."""
        await self._index.close()


def _passages(store: StoreReader, numbers: Sequence[int]) -> Iterator[list[Passage]]:
    for number in numbers:
        yield passages(number, store.by_numbers([number])[number][0])

"""Location of a library's index, which a child process builds if missing."""

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
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self, TypeVar

from spadework.errors import SearchError, SettingsError
from spadework.tools.library.document import DAMAGED
from spadework.tools.library.folders import collections, files
from spadework.tools.library.installed import installed_packages
from spadework.tools.library.search import Searcher
from spadework.tools.web.process_groups import kill_group

#: Raise it when stored data, parsing or chunking changes.
FORMAT = 5
_FAMILY = re.compile(r"(?:installed|folders)-(\d+)-")


@dataclass(frozen=True)
class Plan:
    """A library to open: of `paths`, or of the installed documentation.

    `family` identifies the sources, `state` their current content; `words` describe them.
    """

    paths: tuple[Path, ...]
    shelf: Path
    family: str
    state: str
    words: str

    @property
    def folder(self) -> Path:
        """The index's folder, existing or not."""
        return self.shelf / f"{self.family}-{self.state}"

    @property
    def draft(self) -> Path:
        """The folder where one process at a time builds, continuing what a killed one left."""
        return self.shelf / f".draft-{self.family}"

    @property
    def relatives(self) -> list[Path]:
        """Folders of the same sources in other states, newest first."""
        others = [path for path in self.shelf.glob(f"{self.family}-*") if path != self.folder]
        return sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)

    @property
    def outdated(self) -> list[Path]:
        """Folders of former formats, no longer readable."""
        return [
            path
            for path in self.shelf.iterdir()
            if (kind := _FAMILY.match(path.name)) and int(kind[1]) < FORMAT
        ]


def plan(paths: Sequence[Path], home: Path) -> Plan:
    """Return the current plan for these paths. Raises SettingsError if one is missing or
    unreadable.
    """
    shelf = home / "library"
    if not paths:
        names = [place.stem for place in installed_packages()]
        count = f"{len(names)} installed Python packages"
        words = f"the documentation of {count} and the standard library"
        return Plan((), shelf, f"installed-{FORMAT}", _digest([sys.version, *names]), words)
    named = collections(paths)
    state = (f"{file.url} {file.size} {file.mtime}" for file in files(paths))
    family = f"folders-{FORMAT}-" + _digest([f"{name} {path}" for name, path in named.items()])
    *first, last = named
    kind = f"libraries {', '.join(first)} and" if first else "library"
    words = f"the {kind} {last}"
    return Plan(tuple(named.values()), shelf, family, _digest(state), words)


def _digest(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16]


#: Maximum seconds of a build.
BUILD_SECONDS = 1_800
#: Progress is reported at every tenth and after this pause: the largest packages come first, so
#: that a tenth of them is half the work.
STEP, PAUSE_SECONDS = 0.1, 5.0


async def build(plan: Plan, progress: Callable[[str], None] | None) -> None:
    """Build a plan's folder in a child process that ends with this call. Raises SettingsError."""
    # -P keeps the current folder out of the module path; the child can import whatever this process
    # can.
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
            hint="Name fewer folders.",
        ) from None
    finally:
        if process.returncode != 0:  # still running, or killed while its workers run
            kill_group(process)
            await process.wait()


async def _attend(process: Process, plan: Plan, progress: Callable[[str], None]) -> None:
    """Send the plan and report the build's progress, but not every step."""
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(asdict(plan), default=str).encode())
    process.stdin.close()
    error = "The library's index could not be built: its process was ended."
    subject = "the library" if plan.paths else "the installed documentation"
    told, at = -1.0, 0.0
    async for line in process.stdout:
        said = json.loads(line)
        error = said.get("error", error)
        if "waits" in said:
            progress(f"Waiting for another process that is building the index of {subject}.")
        elif "done" in said:
            done, of, now = said["done"], said["of"], time.monotonic()
            share = done / max(1, of)
            if share > told and (share - told >= STEP or now - at >= PAUSE_SECONDS or share == 1):
                told, at = share, now
                progress(f"Building the index of {subject}: {done} of {of} done.")
    await process.wait()
    if process.returncode:
        raise SettingsError(error)


T = TypeVar("T")


class Shelved:
    """A plan's opened index. `searcher` reads it."""

    searcher: Searcher

    def __init__(
        self, wanted: Plan, understood: frozenset[str], progress: Callable[[str], None] | None
    ) -> None:
        self._plan, self._understood, self._progress = wanted, understood, progress
        self._anew = False
        self._lock = asyncio.Lock()

    @classmethod
    async def open(
        cls, wanted: Plan, understood: frozenset[str], progress: Callable[[str], None] | None
    ) -> Self:
        """Open a plan's index. Raises SettingsError if it cannot be written, SearchError."""
        shelved = cls(wanted, understood, progress)
        try:
            await shelved._read()
        except DAMAGED as error:
            await shelved._made_anew(error)
        return shelved

    async def _read(self) -> None:
        if not await asyncio.to_thread(self._plan.folder.exists):
            await build(self._plan, self._progress)
        self.searcher = await asyncio.to_thread(Searcher, self._plan.folder, self._understood)

    async def ask(self, work: Callable[[Searcher], T]) -> T:
        """Run `work` on the index in a thread. Raises SearchError if it stays damaged."""
        searcher = self.searcher
        try:
            return await asyncio.to_thread(work, searcher)
        except sqlite3.ProgrammingError:
            raise SearchError("The library is closed.") from None
        except DAMAGED as error:
            async with self._lock:  # one rebuilds it, the others wait
                if self.searcher is searcher:
                    await self._made_anew(error)
        try:
            return await asyncio.to_thread(work, self.searcher)
        except DAMAGED as error:
            raise self._given_up() from error

    async def _made_anew(self, damage: Exception) -> None:
        """Set the index aside for the next build to delete, and rebuild it from the sources."""
        if self._anew:
            raise self._given_up() from damage
        self._anew = True
        with suppress(FileNotFoundError):  # another process has done so
            aside = self._plan.shelf / f".damaged-{secrets.token_hex(4)}"
            await asyncio.to_thread(self._plan.folder.rename, aside)
        try:
            await self._read()
        except DAMAGED as error:
            raise self._given_up() from error

    def _given_up(self) -> SearchError:
        return SearchError("The index of the library is damaged, though it was made anew.")

"""`spadework sessions repair`: broken files are set aside, what can be read of them stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from spadework.errors import SessionBusy
from spadework.sessions.file_check import (
    LINES,
    Broken,
    broken_caches,
    broken_files,
    no_file,
    readable_lines,
    stands,
)
from spadework.sessions.file_names import JOURNAL, METADATA, RESULT
from spadework.sessions.files import is_newer, read_report, whole_result
from spadework.sessions.lock import LOCK, hold_session
from spadework.sessions.restoring import Restored, restore_metadata
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import private_folder
from spadework.tools.stores.session_ids import is_session_id

#: Where broken files are set aside: in the folder of their session, or of the home.
ASIDE = "broken"


@dataclass(frozen=True)
class Told:
    """One sentence of what was done, or would be. `failed`: it could not be done."""

    text: str
    failed: bool = False


def repair(home: Path, *, dry_run: bool = False) -> Iterator[Told]:
    """Set the broken files of all sessions and of the home's caches aside, and say so one by one.
    With `dry_run` nothing is changed.
    """
    folders = sorted((home / "sessions").iterdir()) if (home / "sessions").is_dir() else []
    for folder in folders:
        if is_session_id(folder.name) and folder.is_dir() and not folder.is_symlink():
            try:
                yield from _session(home, folder, dry_run)
            except SessionBusy:
                yield Told(f"Session {folder.name} is being worked on and is left alone.")
            except OSError as error:
                why = error.strerror or str(error)
                yield Told(f"Session {folder.name} could not be repaired: {why}.", failed=True)
    for broken in broken_caches(home):
        yield _cache(home, broken, dry_run)


def _cache(home: Path, broken: Broken, dry_run: bool) -> Told:
    """What is done with a file of the home."""
    where = _place(home, broken.name)
    try:
        if not dry_run:
            _move(home, broken.name, where)
    except OSError as error:
        why = error.strerror or str(error)
        return Told(f"{broken.name} is broken and could not be set aside: {why}.", failed=True)
    effect = "it is made anew when it is needed"
    return Told(_describe_repair(broken.name, broken, where, dry_run, effect))


def _session(home: Path, folder: Path, dry_run: bool) -> list[Told]:
    """What is done with one session. Raises SessionBusy, OSError."""
    if is_newer(folder):
        return [Told(f"Session {folder.name} was written by a newer spadework and is left alone.")]
    why = no_file(folder / LOCK)
    moved = _mend_files(home, folder, [Broken(LOCK, why)], dry_run) if why else []
    return [*moved, *_repair_unlocked(home, folder, dry_run)]


def _repair_unlocked(home: Path, folder: Path, dry_run: bool) -> list[Told]:
    # The lock of a session that was never run is not made for the looking.
    with hold_session(folder) if (folder / LOCK).is_file() else nullcontext():
        broken = broken_files(folder)
        if not broken or dry_run or (folder / LOCK).is_file():
            return _mend_files(home, folder, broken, dry_run)
    with hold_session(folder):
        return _mend_files(home, folder, broken_files(folder), dry_run)


def _mend_files(home: Path, folder: Path, broken: list[Broken], dry_run: bool) -> list[Told]:
    """Set the broken files of a session aside, and keep of them what can be read."""
    names = {one.name for one in broken}
    again = restore_metadata(folder) if METADATA in names else None
    if METADATA in names and again is None:
        return [_given_up(home, folder, dry_run)]
    lines = {name: readable_lines(folder / name) for name in LINES if name in names}
    told = []
    for one in broken:
        if again and one.name == METADATA:
            effect = f"what is known of the session is put together anew from {again.source}"
        else:
            effect = _effect(folder, one.name, names, len(lines.get(one.name, ())))
        what = f"Session {folder.name}: {one.name}"
        if not stands(folder / one.name):
            told.append(Told(f"{what} is missing; {effect}."))
        else:
            where = _place(folder, one.name)
            if not dry_run:
                _move(folder, one.name, where)
            told.append(Told(_describe_repair(what, one, where, dry_run, effect)))
        if not dry_run:
            _write_anew(folder, one.name, again, lines.get(one.name, []))
    return told


def _write_anew(folder: Path, name: str, again: Restored | None, lines: list[bytes]) -> None:
    """Write what is kept of a file that was set aside."""
    if again and name == METADATA:
        write_atomically(folder / name, again.metadata.model_dump_json(indent=1).encode())
    elif lines:
        write_atomically(folder / name, b"".join(line + b"\n" for line in lines))


def _describe_repair(what: str, broken: Broken, where: str, dry_run: bool, effect: str) -> str:
    moved = "would be set aside" if dry_run else "is set aside"
    return f"{what} is broken ({broken.why[:150].rstrip('.')}) and {moved} as {where}; {effect}."


def _effect(folder: Path, name: str, broken: set[str], lines: int) -> str:
    """What becomes of a session without one of its files."""
    resume = f"`spadework resume {folder.name}`"
    if name == RESULT and JOURNAL not in broken and (folder / JOURNAL).exists():
        return f"{resume} writes it anew"
    if name == RESULT:
        kept = "its report is still shown, and " if read_report(folder) else ""
        return f"{kept}{resume} begins its research anew"
    if name == JOURNAL:
        done = whole_result(folder) is not None
        return "its report stays" if done else f"{resume} begins its research anew"
    if name in LINES:
        return f"{lines} lines of it are kept"
    if name.startswith("pages/"):
        return "quotes of that page cannot be checked any more"
    return "all else of the session stays"


def _given_up(home: Path, folder: Path, dry_run: bool) -> Told:
    """A session of which nothing tells what was asked."""
    name = f"sessions/{folder.name}"
    where = _place(home, name)
    if not dry_run:
        _move(home, name, where)
    moved = "would be" if dry_run else "is"
    return Told(
        f"Session {folder.name}: no file tells what was asked; its folder {moved} set aside as"
        f" {where} of the home."
    )


def _place(folder: Path, name: str) -> str:
    """Where something is set aside, beside what was set aside before."""
    for n in count(1):
        where = f"{ASIDE}/{name}" if n == 1 else f"{ASIDE}/{name}.{n}"
        if not stands(folder / where):
            return where
    raise AssertionError("count never ends")


def _move(folder: Path, name: str, where: str) -> None:
    """Move a file, with what SQLite keeps beside it, or a folder. Raises OSError."""
    private_folder((folder / where).parent)
    (folder / name).rename(folder / where)
    for beside in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            (folder / f"{name}{beside}").rename(folder / f"{where}{beside}")

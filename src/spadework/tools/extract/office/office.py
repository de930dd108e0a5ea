"""Detect Office files from before 2007, and convert doc and ppt files with LibreOffice.

LibreOffice runs without macros and external links, and without a network if the system can block
it. It is killed with its children at the deadline.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spadework.errors import TooSlow, Unreadable
from spadework.tools.web.background_threads import aside, kill_group
from spadework.tools.web.fair_queue import place

#: First bytes of Office files from before 2007.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
STORAGE = "application/x-ole-storage"
#: Maximum memory of a LibreOffice process, and maximum size of a file it writes, in kB.
MEMORY_KB, FILE_KB = 2_000_000, 500_000
#: Offset and size in bytes of an OLE file's directory entries.
_HEADER, _ENTRY = 512, 128
_APPS = "/Applications/LibreOffice.app/Contents/MacOS"


@dataclass(frozen=True)
class Old:
    """An old file format: its program, old and modern extensions, and LibreOffice component."""

    name: str
    ending: str
    modern: str
    part: str


_WORD = Old("Word", "doc", "docx", "writer")
_POWERPOINT = Old("PowerPoint", "ppt", "pptx", "impress")
#: Formats that LibreOffice converts, by a stream in the file.
_STREAMS = {"WordDocument": _WORD, "PowerPoint Document": _POWERPOINT}
#: Readers of other OLE files, by a stream in the file.
_READERS = {"Workbook": "xls", "Book": "xls", "__properties_version1.0": "msg"}
_LOCKED = ("EncryptedPackage", "EncryptionInfo")
_SETTINGS = "\n".join(
    f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
    f"<value>{value}</value></prop></item>"
    for path, name, value in (
        ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
        ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
        ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
        ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
        ("Inet/Settings", "ooInetProxyType", "2"),
        ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
        ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
        ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
        ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    )
)
_PROFILE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<oor:items'
    f' xmlns:oor="http://openoffice.org/2001/registry">\n{_SETTINGS}\n</oor:items>\n'
)


def old_office(body: bytes) -> Old | None:
    """Return the format of an old doc or ppt file, or None. Raises Unreadable if the file is
    locked.
    """
    if not body.startswith(OLE):
        return None
    if any(_holds(body, name) for name in _LOCKED):
        raise Unreadable("The document is protected by a password.")
    return next((old for name, old in _STREAMS.items() if _holds(body, name)), None)


def storage_reader(body: bytes) -> str:
    """Return the reader for an OLE file: `xls`, `msg`, or `old` for locked and all other files."""
    if any(_holds(body, name) for name in (*_LOCKED, *_STREAMS)):
        return "old"
    return next((reader for name, reader in _READERS.items() if _holds(body, name)), "old")


def _holds(body: bytes, stream: str) -> bool:
    name = f"{stream}\0".encode("utf-16-le")
    at = body.find(name, _HEADER)
    while at >= 0 and (at - _HEADER) % _ENTRY:
        at = body.find(name, at + 1)
    return at >= 0


def program() -> str:
    """Return the path of LibreOffice, or "" if it is not installed."""
    found = (shutil.which(name, path=_path()) for name in ("soffice", "libreoffice"))
    return next(filter(None, found), "")


def _path() -> str:
    return os.pathsep.join((os.environ.get("PATH", os.defpath), _APPS))


def not_installed(old: Old) -> Unreadable:
    """Return an error that explains how to install LibreOffice."""
    mend = f"Install LibreOffice (on Debian: libreoffice-{old.part}-nogui)."
    what = f"Old {old.name} files (.{old.ending}) need LibreOffice, which is not installed."
    return Unreadable(f"{what} {mend}", hint=mend)


async def modern(body: bytes, old: Old, *, seconds: float) -> bytes:
    """Convert a file to its modern format within `seconds`, including waiting time.

    Raises Unreadable if LibreOffice is missing or fails, and TooSlow at the deadline.
    """
    if not (soffice := await aside(program)):
        raise not_installed(old)
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    folder = Path(await aside(tempfile.mkdtemp, prefix="spadework-office-"))
    try:
        async with asyncio.timeout_at(until), place("LibreOffice", id(loop), 1):
            source = await aside(_prepare_folder, folder, body, old)
            await _run(await aside(_command, soffice, folder, source, old), folder)
        return await aside(_convert_file, folder, old)
    except TimeoutError:
        late = f"LibreOffice did not read the {old.name} file within {seconds:.3g} s."
        raise TooSlow(late) from None
    finally:
        # The clean-up must finish even if the caller is cancelled.
        await asyncio.shield(aside(shutil.rmtree, folder, ignore_errors=True))


def _prepare_folder(folder: Path, body: bytes, old: Old) -> Path:
    profile = folder / "profile" / "user"
    profile.mkdir(parents=True)
    (profile / "registrymodifications.xcu").write_text(_PROFILE, encoding="utf-8")
    source = folder / f"document.{old.ending}"
    source.write_bytes(body)
    return source


def _command(soffice: str, folder: Path, source: Path, old: Old) -> list[str]:
    said = [
        soffice,
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        *("--headless", "--norestore", "--nologo", "--nodefault", "--nolockcheck"),
        *("--convert-to", old.modern, "--outdir", str(folder / "out"), str(source)),
    ]
    if sys.platform == "win32":
        return said
    limits = f'ulimit -d {MEMORY_KB}; ulimit -f {2 * FILE_KB}; exec "$@"'
    return [*_cut_off(), "sh", "-c", limits, "sh", *said]


@cache
def _cut_off() -> tuple[str, ...]:
    """Return a command prefix that blocks the network, or () if the system has none."""
    unshare = shutil.which("unshare")
    for way in ("-n", "-rn") if unshare and sys.platform == "linux" else ():
        with suppress(OSError, subprocess.TimeoutExpired):
            tried = subprocess.run([str(unshare), way, "true"], capture_output=True, timeout=5)
            if tried.returncode == 0:
                return str(unshare), way
    return ()


async def _run(command: list[str], folder: Path) -> None:
    own = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": _path(), "LANG": "C.UTF-8"}
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    nowhere = asyncio.subprocess.DEVNULL
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
        env=own | kept,
        cwd=folder,
        start_new_session=True,
    )
    try:
        await child.wait()
    finally:
        kill_group(child)
        await asyncio.shield(child.wait())


def _convert_file(folder: Path, old: Old) -> bytes:
    try:
        return (folder / "out" / f"document.{old.modern}").read_bytes()
    except OSError:
        raise Unreadable(
            f"LibreOffice cannot read the {old.name} file, which may be damaged or protected"
            " by a password."
        ) from None

"""Export finished sessions to zip files, and import them. Anything that could affect other runs is
left out.
"""

from __future__ import annotations

import io
import re
import shutil
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path

from spadework.errors import SessionBusy, SessionUnreadable, SettingsError
from spadework.sessions.metrics.session_index import METADATA, RESULT
from spadework.sessions.storage.files import LEDGER, PROGRESS, UNTOLD, read_metadata, read_result
from spadework.tools.export.html_report import to_html
from spadework.tools.stores.private_files import is_session_id, private_folder, write_atomically
from spadework.values import PICTURE_NAME, Result

MOST_BYTES, MOST_FILE_BYTES, MOST_FILES = 1_000_000_000, 100_000_000, 10_000
_FILES = "|".join(map(re.escape, (METADATA, PROGRESS, LEDGER, RESULT)))
_KEPT = re.compile(
    rf"([^/]+)/({_FILES}|(?:research_report|editorial_review)_\d{{8}}_\d{{6}}\.md"
    rf"|pages/[0-9A-Za-z]{{1,100}}\.md|pictures/{PICTURE_NAME})",
    re.ASCII,
)
#: Metadata fields that are exported.
_TOLD = {"version", "created_at", "utc_offset", "query", "status", "kind", "results_summary"}
#: Exceptions that `zipfile` raises for damaged or unsupported archives.
_DAMAGES = (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, struct.error, zlib.error)
_ENCRYPTED = 0x1


def pack(folder: Path, result: Result) -> bytes:
    """Return a finished session, with an HTML report, as a zip file. Raises SessionUnreadable."""
    packed, told = io.BytesIO(), _files_of(folder, result)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("report.html", to_html(result))
        for name, data in told.items():
            archive.writestr(f"{folder.name}/{name}", data)
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder.parent).as_posix()
            kept = _KEPT.fullmatch(name)
            if kept and kept[2] not in told and path.is_file() and not path.is_symlink():
                archive.writestr(name, path.read_bytes())  # `write` rejects files dated before 1980
    return packed.getvalue()


def _files_of(folder: Path, result: Result) -> dict[str, bytes]:
    placeless = result.model_copy(update={"session_dir": ""})
    return {
        METADATA: read_metadata(folder).model_dump_json(include=_TOLD, indent=1).encode(),
        RESULT: placeless.model_dump_json(indent=1).encode(),
    }


def unpack(home: Path, file: Path) -> str:
    """Import a session from a zip file and return its id. Raises SettingsError if the file cannot
    be opened, or SessionBusy if the session is already stored.
    """
    private_folder(home / "sessions")
    draft = Path(tempfile.mkdtemp(dir=home / "sessions", prefix=".opened-"))
    try:
        with file.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            return _place(_extract(archive, draft), home / "sessions")
    except SessionUnreadable as error:
        raise SettingsError(f"{file.name} cannot be opened: {error}") from None
    except OSError as error:
        raise SettingsError(f"{file.name} cannot be opened: {error.strerror}.") from None
    except _DAMAGES:
        raise SettingsError(f"{file.name} is not a session exported by spadework.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _extract(archive: zipfile.ZipFile, draft: Path) -> Path:
    members = [one for one in archive.infolist() if _KEPT.fullmatch(one.filename)]
    ids = {one.filename.partition("/")[0] for one in members}
    if len(ids) != 1 or not all(map(is_session_id, ids)):
        raise zipfile.BadZipFile
    left = MOST_BYTES if len(members) <= MOST_FILES else 0
    for member in members:
        # The sizes in the headers can be forged.
        data = _read(archive, member, min(left, MOST_FILE_BYTES) + 1)
        left -= len(data)
        if len(data) > MOST_FILE_BYTES or left < 0:
            raise SessionUnreadable("The session is too large.")
        write_atomically(draft / member.filename, data)
    return draft / ids.pop()


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if not plain or member.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile
    with archive.open(member) as stream:
        return stream.read(most)


def _place(part: Path, sessions: Path) -> str:
    """Move an extracted session to `sessions`, without the exporter's settings."""
    if (sessions / part.name).exists():
        raise SessionBusy(f"Session {part.name} is already stored here.")
    if (result := read_result(part)) is None or not (part / METADATA).exists():
        raise zipfile.BadZipFile
    for name, data in (_files_of(part, result) | {UNTOLD: b""}).items():
        write_atomically(part / name, data)
    part.rename(sessions / part.name)
    return part.name

"""Reading the sources of a library, in worker processes: packages and files become documents with
their passages.
"""

from __future__ import annotations

import faulthandler
import gc
import hashlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from spadework.errors import FetchError
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Extracted
from spadework.tools.library.document import Cut, Document, cut_document
from spadework.tools.library.folders import File
from spadework.tools.library.installed import read_package
from spadework.tools.library.packages import package_at

MAX_FILE_BYTES = 50_000_000
#: A file that takes longer is left out.
FILE_SECONDS = 60


@dataclass(frozen=True)
class FileText:
    """What a file gave: its digest and its document, or the reason why there is none. `same`: its
    digest was the one known before.
    """

    digest: str
    document: Cut | None
    reason: str = ""
    same: bool = False


def start_worker() -> None:
    """Prepare a worker process: syntax trees have no cycles, and looking for some takes half of the
    time.
    """
    gc.disable()


def cut_package(place: Path | None) -> list[Cut]:
    """The documents of the package whose metadata lie at `place`, or of the standard library."""
    return [cut_document(document) for document in read_package(package_at(place))]


def cut_file(file: File, known: str = "") -> FileText:
    """The document of a file, which is only read when its digest is not the `known` one. Never
    raises for what is in it.
    """
    if file.size > MAX_FILE_BYTES:
        return FileText("", None, f"it is larger than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        body = Path(file.path).read_bytes()
    except OSError as error:
        return FileText("", None, (error.strerror or "it cannot be read").lower())
    digest = hashlib.sha256(body).hexdigest()
    if digest == known:
        return FileText(digest, None, same=True)
    if (
        file.media_type.startswith("text/")
        and b"\0" in body[:8_000]
        and not body.startswith((b"\xff\xfe", b"\xfe\xff"))
    ):
        return FileText(digest, None, "it is not text")
    try:
        read = _within_time(file, body)
    except FetchError as error:
        return FileText(digest, None, str(error))
    except Exception as error:  # noqa: BLE001 - this process is there for readers of untrusted files: their faults end here, by name
        return FileText(digest, None, f"its reader failed ({type(error).__name__})")
    if not read.markdown.strip():
        return FileText(digest, None, "it has no text")
    title = (
        " ".join(read.title.split())
        or PurePosixPath(unquote(file.url)).stem.replace("_", " ").replace("-", " ").strip()
    )
    document = Document(
        file.url,
        title,
        read.markdown,
        read.published_at,
        kind=file.kind,
        changed_at=changed_at(file),
    )
    return FileText(digest, cut_document(document))


def changed_at(file: File) -> datetime:
    """When a file was last changed."""
    return datetime.fromtimestamp(file.mtime // 10**9, UTC)


def _within_time(file: File, body: bytes) -> Extracted:
    """Read a document. When it takes too long, this process ends, whatever library holds it: only a
    thread in C can do that.
    """
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(FILE_SECONDS, exit=True, file=nowhere)
        try:
            return read_document(body, media_type=file.media_type, url=file.url)
        finally:
            faulthandler.cancel_dump_traceback_later()

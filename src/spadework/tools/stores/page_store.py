"""Cleaned Markdown by content hash, one UTF-8 file each, so that quotes can be checked by hand."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.journal_rows import claim_on
from spadework.tools.stores.private_files import make_folder
from spadework.visible import bounded, visible

#: Windows would change line ends.
_AS_IT_IS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def content_hash(text: str) -> str:
    """Return the SHA-256 of the UTF-8 text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write `data` to `path` atomically: a reader sees the old file or the new one. The file has
    the permissions `mode`, less the umask: by default only for its owner.
    """
    make_folder(path.parent)
    draft = path.with_name(f".{secrets.token_hex(8)}.draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_IT_IS, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


class PageStore:
    """Texts in `folder`, at `<content_hash>.md`, cached in memory once read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._texts: dict[str, str] = {}

    async def put(self, text: str) -> tuple[str, str]:
        """Store a text; return its hash and the text as stored, without invisible characters and
        endless lines or runs.
        """
        text = bounded(visible(text))
        digest = content_hash(text)
        if digest not in self._texts:
            path = self.path(digest)
            if claim := claim_on(self.folder.parent.name):
                await claim.keep_file(f"{self.folder.name}/{path.name}", text.encode())
            if not path.exists():
                await on_disk(self._write, path, text.encode())
            self._texts[digest] = text
        return digest, text

    async def get(self, digest: str) -> str:
        """Return the text of a hash. Raises FileNotFoundError if it was never stored."""
        if digest not in self._texts:
            data = await on_disk(self.path(digest).read_bytes)
            self._texts[digest] = data.decode()
        return self._texts[digest]

    async def texts(self, digests: Iterable[str]) -> dict[str, str]:
        """Return the texts of hashes that are readable."""
        found = {}
        for digest in dict.fromkeys(digests):
            with suppress(OSError, UnicodeDecodeError):
                found[digest] = await self.get(digest)
        return found

    def _write(self, path: Path, data: bytes) -> None:
        # Deleted during the run: recreated, it would have only some of the pages.
        if self._texts and not self.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "the folder was removed", str(self.folder))
        write_atomically(path, data)

    def path(self, digest: str) -> Path:
        """Return the file of a hash."""
        return self.folder / f"{digest}.md"

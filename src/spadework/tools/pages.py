"""The page store: cleaned Markdown by content hash, one UTF-8 file a page, so that anyone can check
a quote with a text editor.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from pathlib import Path

from spadework.visible import visible


def content_hash(text: str) -> str:
    """SHA-256 of the UTF-8 text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step: a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


class PageStore:
    """Texts of pages in `folder`, each at `<content_hash>.md`; read once, then kept in memory for
    the run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._texts: dict[str, str] = {}

    async def put(self, text: str) -> tuple[str, str]:
        """Store a text; returns its hash and the text as stored, in which nothing works unseen."""
        text = visible(text)
        digest = content_hash(text)
        if digest not in self._texts:
            path = self.path(digest)
            if not path.exists():
                await asyncio.to_thread(write_atomically, path, text.encode())
            self._texts[digest] = text
        return digest, text

    async def get(self, digest: str) -> str:
        """The text of a hash. Raises FileNotFoundError when it was never stored."""
        if digest not in self._texts:
            data = await asyncio.to_thread(self.path(digest).read_bytes)
            self._texts[digest] = data.decode()
        return self._texts[digest]

    def path(self, digest: str) -> Path:
        """Where the text of a hash lies."""
        return self.folder / f"{digest}.md"

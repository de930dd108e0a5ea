"""Bytes under keys in files that all processes share: whole, least recently used go first."""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path

import zstandard

from spadework.tools.stores.page_store import write_atomically

#: When the files take more than allowed, they are removed down to this share of it.
SWEPT_TO = 0.9
#: Sizes are added up at a process's first entry, and when this share was written since.
SWEEP_EVERY = 0.05
#: An entry over this share of what is allowed is not kept.
LARGEST = 0.1


class Store:
    """At most `most_bytes` (packed) under `folder`; 0 keeps nothing. Methods wait for the disk. A
    file that is damaged or unusable is as good as none: it can be had again.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most = most_bytes
        self._unswept = float(most_bytes)
        self._lock = threading.Lock()

    def get(self, kind: str, key: str) -> bytes | None:
        """What was put under the key, or None."""
        path = self._path(kind, key)
        if not self._most:
            return None
        try:
            data = zstandard.decompress(path.read_bytes())
            os.utime(path)
        except (OSError, MemoryError, zstandard.ZstdError):
            return None
        return data

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Keep `data`, replacing what stood under the key."""
        packed = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(data)
        if len(packed) > LARGEST * self._most:
            self.drop(kind, key)
            return
        with suppress(OSError):  # a full or read-only disk: the work goes on without a cache
            write_atomically(self._path(kind, key), packed)
            self._sweep_sometimes(len(packed))

    def drop(self, kind: str, key: str) -> None:
        """Forget what stands under the key."""
        with suppress(OSError):
            self._path(kind, key).unlink(missing_ok=True)

    def _path(self, kind: str, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / kind / name[:2] / name[2:]

    def _sweep_sometimes(self, written: int) -> None:
        with self._lock:
            self._unswept += written
            if self._unswept < SWEEP_EVERY * self._most:
                return
            self._unswept = 0
        self._sweep()

    def _sweep(self) -> None:
        """If all are too large, remove the least recently used, and drafts of killed processes."""
        found = []
        for path in self._folder.glob("*/*/*"):
            with suppress(OSError):  # another process has removed it
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        most = SWEPT_TO * self._most if total > self._most else total
        for _, size, path in sorted(found, key=lambda entry: entry[0]):
            if total <= most:
                return
            with suppress(OSError):
                path.unlink(missing_ok=True)
            total -= size

"""Cache of extracted texts, so that an unchanged body is not parsed twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from spadework.tools import extract, text
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.frames import answer, document_reply
from spadework.tools.extract.pdf.ocr import has_ocr
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.http_cache import Store

_KIND = "text"
_READ = (".py", ".txt", ".toml")
#: Libraries that affect what is read from a page.
_LIBRARIES = ("selectolax", "pypdfium2", "lxml", "striprtf", "docutils", "markdown-it-py")


class Cleaned:
    """Extracted documents by the hash of their body and of the code that reads them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def once(self, fetched: Fetched, read: Callable[[], Awaitable[Extracted]]) -> Extracted:
        """Return a page's text from the cache, or what `read` returns or raises; failures are not
        cached.
        """
        key, known = await asyncio.to_thread(self._look, fetched)
        if known is not None:
            return known
        found = await read()
        await asyncio.to_thread(self._keep, key, found)
        return found

    def _look(self, fetched: Fetched) -> tuple[str, Extracted | None]:
        said = "\0".join((_readers(), fetched.media_type, fetched.charset, fetched.url))
        key = hashlib.sha256(said.encode(errors="replace") + b"\0" + fetched.body).hexdigest()
        data = self._store.get(_KIND, key)
        try:
            return key, answer(json.loads(data)) if data else None
        except (ValueError, KeyError, TypeError):
            return key, None

    def _keep(self, key: str, found: Extracted) -> None:
        self._store.put(_KIND, key, json.dumps(document_reply(found)).encode())


@cache
def _readers() -> str:
    """Return a hash of all readers, their data, and whether OCR is available; a change invalidates
    the cache.
    """
    folders = (Path(str(package.__file__)).parent for package in (extract, text))
    # The interpreter's cached bytecode comes and goes.
    files = [f for folder in folders for f in sorted(folder.rglob("*")) if f.suffix in _READ]
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    digest.update(b"OCR" * has_ocr())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()

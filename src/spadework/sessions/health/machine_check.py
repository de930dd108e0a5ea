"""Health of the system, home, knowledge store and embedding server."""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from spadework.backend import backend_of
from spadework.errors import SpadeworkError
from spadework.sessions import admission
from spadework.sessions.health.check import HEALTH_SECONDS, Check, run_check
from spadework.sessions.quotas import STOPPING
from spadework.settings import Settings
from spadework.tools.knowledge import knowledge_of
from spadework.tools.ranking.embedder import EndpointEmbedder, embedder
from spadework.tools.stores.disk import make_folder, on_disk
from spadework.tools.web.connections import AUTHORITIES, certificates, proxy_for, shown_proxy

TRIED_BYTES, ENOUGH_BYTES = 64_000, 100_000_000
#: The address for which the proxy is looked up.
WEB = "https://example.org"
_ELSEWHERE = "Choose another folder with --home or SPADEWORK_HOME."
_FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT") if hasattr(errno, name))


async def system(settings: Settings) -> list[Check]:
    """Return the versions of Python and the system, and the proxy and certificates used."""
    said = [f"Python {platform.python_version()} on {platform.system()}"]
    try:
        if proxy := proxy_for(WEB):
            said.append(f"the web is reached through the proxy {shown_proxy(proxy)}")
        await asyncio.to_thread(certificates)
        said += [
            f"certificate authorities from {name} are trusted"
            for name in AUTHORITIES
            if name in os.environ
        ]
    except SpadeworkError as error:
        return [Check(state="works", text=said[0]), Check(state="broken", text=str(error))]
    return [Check(state="works", text=text) for text in said]


async def home(settings: Settings, named: str = "") -> list[Check]:
    """Check that sessions can be stored. `named` replaces a path that must not be shown."""
    named = named or str(settings.home)
    trying = on_disk(_check_written, settings.home, named)
    return [await run_check(f"The disk that holds {named}", trying, HEALTH_SECONDS)]


def _check_written(folder: Path, named: str) -> Check:
    try:
        make_folder(folder)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".tried-") as tried:
            tried.write(b"0" * TRIED_BYTES)
            tried.flush()
            os.fsync(tried.fileno())
        free = psutil.disk_usage(str(folder)).free
    except OSError as error:
        raise _explain_refusal(named, error) from None
    text = f"sessions and indexes are in {named}"
    if free < ENOUGH_BYTES:
        return Check(state="hint", text=f"{text}, where only {free / 1e6:.0f} MB is free")
    return Check(state="works", text=text)


def _explain_refusal(named: str, error: OSError) -> SpadeworkError:
    if error.errno in _FULL:
        return SpadeworkError(
            f"The disk that holds {named} is full.", hint=f"Free some space. {_ELSEWHERE}"
        )
    if error.errno == errno.EROFS:
        return SpadeworkError(f"The disk that holds {named} is read-only.", hint=_ELSEWHERE)
    said = error.strerror or type(error).__name__
    return SpadeworkError(f"{named} cannot be written: {said.lower()}.", hint=_ELSEWHERE)


async def knowledge(settings: Settings) -> list[Check]:
    """Return how many pages earlier runs have stored."""

    async def counted() -> str:
        store = knowledge_of(settings)
        if store is None:
            return "the knowledge store is off (SPADEWORK_KNOWLEDGE)"
        try:
            count = await store.count()
        finally:
            await store.close()
        return f"{count:,} {'page' if count == 1 else 'pages'} in {store.describes}"

    return [await run_check("The knowledge store", counted(), HEALTH_SECONDS)]


async def embeddings(settings: Settings) -> list[Check]:
    """Check the embedding server, if one is set."""
    if not settings.embeddings:
        return []
    trying = _check_embeddings(settings)
    hint = "Check SPADEWORK_EMBEDDINGS_URL and its key. Until then, search is by words only."
    name = f"The embeddings server for {settings.embeddings}"
    return [await run_check(name, trying, HEALTH_SECONDS, hint)]


async def _check_embeddings(settings: Settings) -> str:
    made: EndpointEmbedder | None = await asyncio.to_thread(embedder, settings)
    assert made
    try:
        await made.embed(["water"])
    finally:
        await made.close()
    return f"embedding model {made.name} answers"


#: Seconds to reuse a result, so that frequent requests start few checks.
FRESH_SECONDS = 2.0
#: Shown instead of the path of the home, which is private.
_HOME = "the home"


class Readiness:
    """The readiness of a server or worker. `stopping` returns True once it accepts nothing new."""

    def __init__(
        self, settings: Settings, stopping: Callable[[], bool] = lambda: admission.here().closed
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._trying: asyncio.Task[str] | None = None
        self._since = 0.0

    async def fault(self) -> str:
        """Return a sentence that says why no question is accepted, or "" if the server is ready."""
        if self._stopping():
            return STOPPING
        trying = self._trying
        stale = time.monotonic() - self._since > FRESH_SECONDS
        if trying is None or (trying.done() and stale):
            self._trying = trying = asyncio.create_task(self._try())
            self._since = time.monotonic()
        return await asyncio.shield(trying)

    async def _try(self) -> str:
        found, away = await asyncio.gather(
            home(self._settings, _HOME), backend_of(self._settings).database_fault(self._settings)
        )
        said = next((check.text for check in found if not check.works), away)
        return said[:1].upper() + said[1:]

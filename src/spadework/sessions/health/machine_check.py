"""Health of this machine: a writable home, its stores, the embedding server."""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import tempfile
from pathlib import Path

import psutil

from spadework.errors import SpadeworkError
from spadework.sessions.health.check import Check, run_check
from spadework.settings import Settings
from spadework.tools.dense.embedder import EndpointEmbedder, embedder
from spadework.tools.knowledge import knowledge_of
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import make_folder
from spadework.tools.web.connections import AUTHORITIES, certificates, proxy_for, shown_proxy

#: Bytes of a test write, and minimum free bytes for a few sessions.
TRIED_BYTES, ENOUGH_BYTES = 64_000, 100_000_000
#: A web address, to see how it would be requested.
WEB = "https://example.org"
_ELSEWHERE = "Choose another with --home or SPADEWORK_HOME."
_FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT") if hasattr(errno, name))


async def system(settings: Settings) -> list[Check]:
    """Return what this machine is, and its network's requirements."""
    said = [f"Python {platform.python_version()} on {platform.system()}"]
    try:
        if proxy := proxy_for(WEB):
            said.append(f"the web is asked through the proxy {shown_proxy(proxy)}")
        await asyncio.to_thread(certificates)
        said += [f"authorities of {name} are trusted" for name in AUTHORITIES if name in os.environ]
    except SpadeworkError as error:
        return [Check(state="works", text=said[0]), Check(state="broken", text=str(error))]
    return [Check(state="works", text=text) for text in said]


async def home(settings: Settings, named: str = "") -> list[Check]:
    """Return whether sessions can be stored; the home is called `named` for users who may not know
    its path.
    """
    named = named or str(settings.home)
    trying = on_disk(_check_written, settings.home, named)
    return [await run_check(f"The disk of {named}", trying, settings.health_seconds)]


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
    text = f"sessions and indexes in {named}"
    if free < ENOUGH_BYTES:
        return Check(state="hint", text=f"{text}, where only {free / 1e6:.0f} MB are free")
    return Check(state="works", text=text)


def _explain_refusal(named: str, error: OSError) -> SpadeworkError:
    if error.errno in _FULL:
        return SpadeworkError(
            f"The disk of {named} is full.", hint=f"Make room there. {_ELSEWHERE}"
        )
    if error.errno == errno.EROFS:
        return SpadeworkError(f"The disk of {named} can only be read.", hint=_ELSEWHERE)
    said = error.strerror or type(error).__name__
    return SpadeworkError(f"{named} cannot be written: {said.lower()}.", hint=_ELSEWHERE)


async def knowledge(settings: Settings) -> list[Check]:
    """Return what earlier runs have stored."""

    async def counted() -> str:
        store = knowledge_of(settings)
        if store is None:
            return "no knowledge store is used (SPADEWORK_KNOWLEDGE)"
        try:
            count = await store.count()
        finally:
            await store.close()
        return f"{count:,} {'page' if count == 1 else 'pages'} in {store.describes}"

    return [await run_check("The knowledge store", counted(), settings.health_seconds)]


async def embeddings(settings: Settings) -> list[Check]:
    """Return whether the embedding server responds, if set."""
    if not settings.embeddings:
        return []
    trying = _check_embeddings(settings)
    hint = "Check SPADEWORK_EMBEDDINGS_URL and its key; without it, search is by words alone."
    name = f"The server of the embeddings {settings.embeddings}"
    return [await run_check(name, trying, settings.health_seconds, hint)]


async def _check_embeddings(settings: Settings) -> str:
    # Certificates may be read.
    made: EndpointEmbedder | None = await asyncio.to_thread(embedder, settings)
    assert made
    try:
        await made.embed(["water"])
    finally:
        await made.close()
    return f"embeddings {made.name} answer"

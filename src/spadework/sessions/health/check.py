"""Run health checks with timeouts, including checks of the system, home, knowledge store and
embedding server.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import platform
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx
import psutil

from spadework.backend import backend_of
from spadework.errors import SpadeworkError
from spadework.sessions import admission
from spadework.sessions.quotas import STOPPING
from spadework.settings import Settings
from spadework.tools.knowledge import knowledge_of
from spadework.tools.ranking.embedder import EndpointEmbedder, embedder
from spadework.tools.stores.disk import DiskHangs, on_disk
from spadework.tools.stores.private_files import make_folder
from spadework.tools.web.connections import (
    AUTHORITIES,
    certificates,
    install_resolver,
    proxy_for,
    shown_proxy,
)
from spadework.values import Value

T = TypeVar("T")
#: Maximum seconds for each check.
HEALTH_SECONDS = 5.0
#: "slow" means that the check timed out. "hint" means that it found no fault but has advice.
State = Literal["works", "slow", "broken", "hint"]


class Check(Value):
    """A checked service or resource. `text` describes its state, and `hint` gives advice."""

    state: State
    text: str
    hint: str = ""

    @property
    def works(self) -> bool:
        """True if the check found nothing wrong."""
        return self.state in ("works", "hint")

    @property
    def line(self) -> str:
        """The text and the hint on one line."""
        end = "" if self.text.endswith((".", "!", "?")) or not self.hint else "."
        return f"{self.text}{end} {self.hint}".rstrip()


async def attempt(name: str, trying: Awaitable[T], seconds: float, hint: str = "") -> T | Check:
    """Return the result of `trying`, or a failed check. Errors without a hint get `hint`."""
    try:
        async with asyncio.timeout(seconds):
            return await trying
    except (TimeoutError, DiskHangs):
        within = max(0.1, round(seconds, 1))
        return Check(state="slow", text=f"{name} did not answer within {within:g} s.", hint=hint)
    except SpadeworkError as error:
        return Check(state="broken", text=str(error), hint=error.hint or hint)


async def run_check(
    name: str, trying: Awaitable[str | Check], seconds: float, hint: str = ""
) -> Check:
    """Return the check that `trying` returns. If it returns text instead, the check succeeded. If
    it raises an error or times out, the check failed.
    """
    found = await attempt(name, trying, seconds, hint)
    return found if isinstance(found, Check) else Check(state="works", text=found)


MODEL_PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
SEARXNG_PORTS = (8080, 8888)
#: Maximum seconds to wait for each possible local server. A running server answers at once.
NEARBY_SECONDS = 0.8
MOST_BYTES, MOST_NAMED = 1_000_000, 3


async def model_servers(seconds: float) -> list[Check]:
    """Return a hint to use each model server that runs on this machine."""
    found = await asyncio.gather(
        *(_answer(f"http://127.0.0.1:{port}/v1/models", seconds) for port in MODEL_PORTS)
    )
    return [
        _model_server(port, usual, models)
        for (port, usual), answer in zip(MODEL_PORTS.items(), found, strict=True)
        if (models := _models(answer))
    ]


def _model_server(port: int, usual: str, models: list[str]) -> Check:
    more = f" and {len(models) - MOST_NAMED} more" if len(models) > MOST_NAMED else ""
    named = ", ".join(models[:MOST_NAMED])
    url = f"http://127.0.0.1:{port}/v1"
    return Check(
        state="hint",
        text=f"a model server, probably {usual}, is running at {url} and serves {named}{more}",
        hint=f"To use it, set OPENAI_BASE_URL={url} and SPADEWORK_MODEL=openai:{models[0]}.",
    )


async def searxng_servers(seconds: float) -> list[Check]:
    """Return a hint to use each SearXNG server that runs on this machine."""
    found = await asyncio.gather(
        *(_answer(f"http://127.0.0.1:{port}/config", seconds) for port in SEARXNG_PORTS)
    )
    return [
        Check(
            state="hint",
            text=f"SearXNG is running at http://127.0.0.1:{port}",
            hint=f"To search with it, set SEARXNG_URL=http://127.0.0.1:{port}.",
        )
        for port, answer in zip(SEARXNG_PORTS, found, strict=True)
        if isinstance(answer, dict) and isinstance(answer.get("engines"), list)
    ]


def _models(answer: Any) -> list[str]:
    listed = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return []
    told = [one.get("id") for one in listed if isinstance(one, dict)]
    return [" ".join(name.split())[:80] for name in told if isinstance(name, str) and name.strip()]


async def _answer(url: str, seconds: float) -> Any:
    install_resolver()
    body = bytearray()
    try:
        async with (
            asyncio.timeout(min(seconds, NEARBY_SECONDS)),
            httpx.AsyncClient(trust_env=False, verify=False, timeout=None) as client,
            client.stream("GET", url) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                return None
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    return None
        return json.loads(body)
    except (httpx.HTTPError, TimeoutError, ValueError, RecursionError):
        return None


TRIED_BYTES, ENOUGH_BYTES = 64_000, 100_000_000
#: An example of a web address, used to look up the proxy.
WEB = "https://example.org"
_ELSEWHERE = "Choose another folder with --home or SPADEWORK_HOME."
_FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT") if hasattr(errno, name))


async def system(settings: Settings) -> list[Check]:
    """Report the versions of Python and the system, and which proxy and certificates are used."""
    said = [f"Python {platform.python_version()} on {platform.system()}"]
    try:
        if proxy := proxy_for(WEB):
            said.append(f"spadework reaches the web through the proxy {shown_proxy(proxy)}")
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
    """Check that sessions can be stored in the home folder. Messages show `named`, if given,
    instead of the folder's path, which may be private.
    """
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
        return Check(state="hint", text=f"{text}; only {free / 1e6:.0f} MB are free there")
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
    """Check the knowledge store, and count its pages."""

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
    """Check the embedding server, if one is configured."""
    if not settings.embeddings:
        return []
    trying = _check_embeddings(settings)
    hint = "Check SPADEWORK_EMBEDDINGS_URL and its key. Without them, search is by words only."
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


#: Seconds for which a result is reused, to limit the number of checks.
FRESH_SECONDS = 2.0
#: Shown instead of the home folder's path, which is private.
_HOME = "the home"


class Readiness:
    """Tells whether a server or worker is ready. `stopping` returns True if it is shutting down."""

    def __init__(
        self, settings: Settings, stopping: Callable[[], bool] = lambda: admission.here().closed
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._trying: asyncio.Task[str] | None = None
        self._since = 0.0

    async def fault(self) -> str:
        """Return why questions are refused, or "" if the server is ready."""
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

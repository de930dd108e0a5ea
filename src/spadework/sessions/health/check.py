"""A health check: one attempt with a timeout, reported in one sentence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any, Literal, TypeVar

import httpx

from spadework.errors import SpadeworkError
from spadework.tools.stores.disk import DiskHangs
from spadework.tools.web.connections import install_resolver
from spadework.values import Value

T = TypeVar("T")
#: Maximum seconds for each check.
HEALTH_SECONDS = 5.0
#: A "slow" check timed out. A "hint" reports nothing wrong, but something worth knowing.
State = Literal["works", "slow", "broken", "hint"]


class Check(Value):
    """A checked service or resource: its state, a sentence about it, and how to fix it."""

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
    """Return the result of `trying`, or a failed check. `hint` is used for errors that
    have none.
    """
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
    """Run an attempt that returns a check, or a text that describes its success."""
    found = await attempt(name, trying, seconds, hint)
    return found if isinstance(found, Check) else Check(state="works", text=found)


MODEL_PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
SEARXNG_PORTS = (8080, 8888)
#: Seconds for each local server, which responds at once if it exists.
NEARBY_SECONDS = 0.8
MOST_BYTES, MOST_NAMED = 1_000_000, 3


async def model_servers(seconds: float) -> list[Check]:
    """Return a hint for each model server on this machine."""
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
        text=f"a model server, probably {usual}, is at {url} with {named}{more}",
        hint=f"To use it, set OPENAI_BASE_URL={url} and SPADEWORK_MODEL=openai:{models[0]}.",
    )


async def searxng_servers(seconds: float) -> list[Check]:
    """Return a hint for each SearXNG server on this machine."""
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

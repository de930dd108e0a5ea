"""Model servers and SearXNG on common local ports; they are reported, not used unasked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from spadework.sessions.health.check import Check
from spadework.tools.web import name_lookup

MODEL_PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
SEARXNG_PORTS = (8080, 8888)
#: Seconds for all servers concurrently; local ones respond at once.
NEARBY_SECONDS = 0.8
#: Maximum bytes of a response, and maximum models named.
MOST_BYTES, MOST_NAMED = 1_000_000, 3


async def model_servers(seconds: float) -> list[Check]:
    """Return a hint for every server that lists models."""
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
        text=f"a model server is at {url}, the usual port of {usual}, with {named}{more}",
        hint=f"To use it, set OPENAI_BASE_URL={url} and SPADEWORK_MODEL=openai:{models[0]}.",
    )


async def searxng_servers(seconds: float) -> list[Check]:
    """Return a hint for every SearXNG."""
    found = await asyncio.gather(
        *(_answer(f"http://127.0.0.1:{port}/config", seconds) for port in SEARXNG_PORTS)
    )
    return [
        Check(
            state="hint",
            text=f"a SearXNG is at http://127.0.0.1:{port}",
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
    name_lookup.install_resolver()
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

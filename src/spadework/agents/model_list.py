"""The list of models that a server gives, and what it says of their contexts."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from spadework.settings import Settings
from spadework.tools.stores.journal import Journal
from spadework.tools.web import name_lookup
from spadework.tools.web.connections import certificates, closing_lines

#: Seconds that a server's list of models may take as a whole.
LIST_SECONDS = 5.0
#: No context is believed to be smaller.
LEAST_CONTEXT = 1_000
#: How servers name the context of a model: vLLM and SGLang; OpenRouter, Together and LiteLLM; Groq;
#: LM Studio and Mistral; llama.cpp, which tells the context it runs with, and the one it was
#: trained with, which bounds it.
_NAMES = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)
#: What reading a list can raise that is none of ours.
UNREADABLE = (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError, RecursionError)


async def fetch_model_list(settings: Settings) -> Any:
    """What the server of the settings answers to the question which models it has, as JSON."""
    name_lookup.own()
    url = settings.openai_base_url.rstrip("/") + "/models"
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
    async with (
        asyncio.timeout(LIST_SECONDS),
        closing_lines(httpx.AsyncClient(timeout=LIST_SECONDS, verify=certificates())) as client,
    ):
        answer = await client.get(url, headers={"Authorization": f"Bearer {key}"})
    return answer.raise_for_status().json()


async def listed_models(settings: Settings) -> list[str]:
    """The names of the models that the server of the settings has. Raises what is UNREADABLE."""
    return [str(model["id"]) for model in (await fetch_model_list(settings))["data"]]


async def listed_context(settings: Settings, model: str, journal: Journal) -> int:
    """Tokens of a model's context by its server's list, asked for once in a session; else 0."""

    async def work() -> int:
        entries = (await fetch_model_list(settings))["data"]
        own = next((entry for entry in entries if entry["id"] == model), None)
        return _context(own) if own else 0

    try:
        return await journal.once("context", [settings.openai_base_url, model], int, work)
    except UNREADABLE:
        return 0


def _context(entry: dict[str, Any]) -> int:
    meta = entry.get("meta")
    places = [entry, meta] if isinstance(meta, dict) else [entry]
    told = (place.get(name) for name in _NAMES for place in places)
    return next((n for n in told if isinstance(n, int) and n >= LEAST_CONTEXT), 0)

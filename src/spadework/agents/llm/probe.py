"""List a server's models, and check that a model answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, get_args

import httpx

from spadework.agents.llm.limits import LEAST_CONTEXT
from spadework.agents.llm.providers import (
    Place,
    chat_model,
    check_address,
    label_of,
    places_of,
    provider_of,
    secret_of,
    settings_at,
)
from spadework.agents.llm.reply import ErrorReply, Unwanted, translate
from spadework.errors import ModelError, SettingsError
from spadework.settings import Role, Settings
from spadework.tools.fetch.exchange import certificate_fault
from spadework.tools.stores.journal import Journal
from spadework.tools.web.connections import certificates, closing_lines, install_resolver, proxy_for
from spadework.tools.web.urls import host_of

#: The maximum number of seconds for fetching a server's model list.
LIST_SECONDS = 5.0
#: The maximum number of seconds that the web interface waits for a server's model list.
OFFER_SECONDS = 1.0
#: The label of the default choice if no model is set.
NO_MODEL = "No model: quotes only"
#: JSON fields that give a model's context size, by server: vLLM and SGLang; OpenRouter, Together
#: and LiteLLM; Groq; LM Studio and Mistral; llama.cpp (the size in use, then the trained size).
_NAMES = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)
UNREADABLE = (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError, RecursionError)


async def fetch_model_list(settings: Settings) -> Any:
    """Return the server's list of models. If that fails, raises one of the errors in UNREADABLE."""
    install_resolver()
    url = settings.openai_base_url.rstrip("/") + "/models"
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
    async with (
        asyncio.timeout(LIST_SECONDS),
        closing_lines(
            httpx.AsyncClient(
                timeout=LIST_SECONDS, verify=certificates(), proxy=proxy_for(url), trust_env=False
            )
        ) as client,
    ):
        answer = await client.get(url, headers={"Authorization": f"Bearer {key}"})
    return answer.raise_for_status().json()


async def listed_models(settings: Settings) -> list[str]:
    """Return the names of the server's models. If that fails, raises an error in UNREADABLE."""
    return [str(model["id"]) for model in (await fetch_model_list(settings))["data"]]


async def listed_context(settings: Settings, model: str, journal: Journal) -> int:
    """Return a model's context size in tokens from its server's list of models, or 0 if unknown."""

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


GREETING = "Answer with one word: OK."
#: The maximum number of tokens in a test answer from the user's own server.
FEW_TOKENS = 16
#: The maximum number of tokens in a provider's test answer, including reasoning.
SOME_TOKENS = 256
#: HTTP statuses that might mean that the server does not have the model.
_PERHAPS_UNKNOWN = (400, 404, 422)
MOST_NAMED = 5


def every_place(settings: Settings, default: str) -> list[Place]:
    """Return the distinct models of all roles and the fallback. Roles without one use `default`."""
    asked = (place for role in get_args(Role) for place in places_of(role, settings, default))
    return list(dict.fromkeys(asked))


async def greet(place: Place, settings: Settings) -> None:
    """Check that a model answers. Raises ModelError or SettingsError."""
    install_resolver()
    own = settings_at(place, settings)
    try:
        await _greet(place, own)
    except ModelError as error:
        cause = error.__cause__
        status = (
            cause.reply.status
            if isinstance(cause, ErrorReply)
            else getattr(cause, "status_code", 0)
        )
        raise (status in _PERHAPS_UNKNOWN and await _unknown(place, own)) or error from None


async def _greet(place: Place, settings: Settings) -> None:
    chat, close = chat_model(place.name, settings)
    own, compatible = bool(settings.openai_base_url), provider_of(place.name)[0] == "openai"
    room, most = ("max_tokens", FEW_TOKENS) if own else ("max_completion_tokens", SOME_TOKENS)
    bounds: list[dict[str, Any]] = [{"extra_body": {room: most}}, {}] if compatible else [{}]
    try:
        for bound in bounds:
            try:
                await chat.bind(**bound).ainvoke(GREETING)
                return
            except Exception as error:
                told = translate(error, place.label, secret_of(settings))
                if not (bound and isinstance(told, Unwanted)):
                    raise told from error
    finally:
        await close()


async def _unknown(place: Place, settings: Settings) -> ModelError | None:
    if not settings.openai_base_url:
        return None
    try:
        known = await listed_models(settings)
    except UNREADABLE:
        return None
    if not known or provider_of(place.name)[1] in known:
        return None
    host, named = host_of(settings.openai_base_url), ", ".join(known[:MOST_NAMED])
    return ModelError(
        f"The model server at {host} has no model {place.label}.",
        hint=f"The server offers {named}. Choose one with --model openai:NAME.",
    )


async def offered_models(
    settings: Settings, known: Sequence[tuple[str, str]] = ()
) -> Sequence[tuple[str, str]]:
    """Return the models to choose from as (setting, label) pairs, the default first. If the server
    lists none within a second, return `known`.
    """
    served = [*settings.prices] if settings.openai_api_key else []
    if settings.openai_base_url:
        served = []
        with suppress(*UNREADABLE):
            async with asyncio.timeout(OFFER_SECONDS):
                served = await listed_models(settings)
        if known and not served:
            return known
    names = [f"openai:{name}" for name in served]
    own = settings.model_for("writer") or (names[0] if len(names) == 1 else "")
    others = filter(None, (*names, settings.model, settings.fallback_model))
    labels = [(name, label_of(name)) for name in dict.fromkeys(others) if name != own]
    return labels if not own and names else [("", label_of(own) or NO_MODEL), *labels]


async def default_model(settings: Settings) -> str:
    """Return the model for a run as PROVIDER:NAME, or "" to work without one. Raises ModelError if
    the user's server offers none, and SettingsError if it offers several.
    """
    named = settings.model_for("writer")
    if named or not settings.openai_base_url:
        return named
    check_address(settings.openai_base_url)
    host = host_of(settings.openai_base_url)
    try:
        names = await listed_models(settings)
    except UNREADABLE as error:
        failed, hint = _explain_failure(error)
        raise ModelError(f"The model server at {host} {failed}.", hint=hint) from None
    if not names:
        raise ModelError(f"The model server at {host} has no model.", hint="Load a model first.")
    if len(names) > 1:
        known = ", ".join(names[:5])
        raise SettingsError(
            f"The model server at {host} has {len(names)} models ({known}). Choose one with --model"
            " openai:NAME."
        )
    return f"openai:{names[0]}"


def _explain_failure(error: Exception) -> tuple[str, str]:
    name_it = "To use it anyway, name its model with --model openai:NAME."
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "did not list its models in time", name_it
    if why := certificate_fault(error):
        return f"cannot be asked: {why}", ""
    if isinstance(error, httpx.TransportError):
        return "cannot be reached", "Start it, or check OPENAI_BASE_URL."
    if isinstance(error, httpx.HTTPStatusError) and error.response.status_code in (401, 403):
        return "refuses the key", "Check OPENAI_API_KEY."
    return "does not list its models", name_it

"""Whether a model answers: the smallest call there is, sent once."""

from __future__ import annotations

from typing import Any, get_args

from spadework.agents.model_list import UNREADABLE, listed_models
from spadework.agents.providers import (
    Place,
    chat_model,
    places_of,
    provider_of,
    secret_of,
    settings_at,
)
from spadework.agents.refusals import Unwanted, meaning
from spadework.errors import ModelError
from spadework.settings import Role, Settings
from spadework.tools.web import name_lookup
from spadework.tools.web.urls import host_of

GREETING = "Answer with one word: OK."
#: Tokens of the answer at most: on an own server; at a provider, whose models may think before.
FEW_TOKENS, SOME_TOKENS = 16, 256
#: What servers answer where they do not know a model.
_PERHAPS_UNKNOWN = (400, 404, 422)
#: Models of a server that are named at most.
MOST_NAMED = 5


def every_place(settings: Settings, default: str) -> list[Place]:
    """Where roles (`default`: of no name) and the fallback model ask, each once."""
    asked = (place for role in get_args(Role) for place in places_of(role, settings, default))
    return list(dict.fromkeys(asked))


async def greet(place: Place, settings: Settings) -> None:
    """Have the model at a place say a word. Raises ModelError, or SettingsError for a model that
    cannot be asked with these settings.
    """
    name_lookup.own()
    own = settings_at(place, settings)
    try:
        await _greet(place, own)
    except ModelError as error:
        status = getattr(error.__cause__, "status_code", 0)
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
                told = meaning(error, place.label, secret_of(settings))
                if not (bound and isinstance(told, Unwanted)):
                    raise told from error
    finally:
        await close()


async def _unknown(place: Place, settings: Settings) -> ModelError | None:
    """The error of a model that its server does not list, where that is why it does not answer."""
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
        hint=f"It has {named}: name one with --model openai:NAME.",
    )

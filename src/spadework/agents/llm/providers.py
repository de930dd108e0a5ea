"""Places of models, and LangChain's chat model for a name PROVIDER:NAME."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import httpx
from pydantic import SecretStr

from spadework.errors import SettingsError
from spadework.settings import Role, Settings
from spadework.tools.web.connections import certificates, closing_lines, proxy_for

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


_OPENAI = "https://api.openai.com/v1"
#: Minimum length of a key worth hiding; local servers accept any word.
LEAST_SECRET = 8
#: Reasoning models accept no temperature on any server.
_REASONING = re.compile(r"^(?:.*/)?(?:gpt-5|o\d)")


class Place(NamedTuple):
    """A model PROVIDER:NAME, and the address of its compatible server ("": the provider's own)."""

    name: str
    base_url: str

    @property
    def label(self) -> str:
        """Its name in reports."""
        return label_of(self.name)


def places_of(role: Role, settings: Settings, default: str = "") -> list[Place]:
    """Return where a role is asked: its own model (else `default`), and the fallback model."""
    own = Place(settings.model_for(role) or default, settings.openai_base_url)
    spare = Place(settings.fallback_model, settings.fallback_base_url or settings.openai_base_url)
    return [own] if not spare.name or spare == own else [own, spare]


def settings_at(place: Place, settings: Settings) -> Settings:
    """Return the settings with a place's address and key."""
    if place.base_url == settings.openai_base_url:
        return settings
    key = settings.fallback_api_key or settings.openai_api_key
    return settings.model_copy(update={"openai_base_url": place.base_url, "openai_api_key": key})


def chat_model(
    name: str, settings: Settings
) -> tuple[BaseChatModel, Callable[[], Awaitable[None]]]:
    """Return the LangChain chat model of a name, and a function that closes it."""
    provider, model = provider_of(name)
    if provider != "openai":
        return _other_provider(name), _do_nothing
    from openai import DefaultAsyncHttpxClient

    from spadework.agents.llm.openai_chat import OpenAIChat

    if not settings.openai_api_key and not settings.openai_base_url:
        raise SettingsError(
            f"{name} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own."
        )
    check_address(settings.openai_base_url)
    # Own connections: those that langchain-openai shares outlive their event loop. Redirects are
    # not followed: they could lead anywhere, even to this machine.
    connections = closing_lines(
        DefaultAsyncHttpxClient(
            verify=certificates(),
            follow_redirects=False,
            proxy=proxy_for(settings.openai_base_url or _OPENAI),
            trust_env=False,
        )
    )
    chat = OpenAIChat(
        http_async_client=connections,
        model=model,
        api_key=settings.openai_api_key or SecretStr("none"),  # a local server accepts any word
        base_url=settings.openai_base_url or None,
        timeout=settings.model_seconds,
        max_retries=0,
        disable_streaming=True,
    )
    return chat, connections.aclose


def check_address(base_url: str) -> None:
    """Raise SettingsError for an invalid server address; "" is the provider's own."""
    with suppress(httpx.InvalidURL):
        url = httpx.URL(base_url)
        if not base_url or (url.scheme in ("http", "https") and url.host):
            return
    raise SettingsError(
        f"The address of the models' server cannot be {base_url[:80]!r}: it is one such as"
        " http://localhost:8080/v1."
    )


def provider_of(name: str) -> tuple[str, str]:
    """Split PROVIDER:NAME; without a provider it is an OpenAI-compatible one. Names of local models
    may contain colons.
    """
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("openai", name)


def label_of(name: str) -> str:
    """Return a model's display name, without the path that a local server may use."""
    return name if "/" not in name else f"{provider_of(name)[0]}:{name.rsplit('/', 1)[1]}"


def secret_of(settings: Settings) -> str:
    """Return a server's key if worth hiding, else ""."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    return key if len(key) >= LEAST_SECRET else ""


def reasons(model: str) -> bool:
    """Return whether a model is known by its name to reason, and so accepts no temperature."""
    return _REASONING.match(model) is not None


async def _do_nothing() -> None:
    """Do nothing, for a provider that manages its connections."""


def _other_provider(name: str) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model  # type: ignore[import-not-found, unused-ignore]

        model: BaseChatModel = init_chat_model(name)
    except ImportError as error:
        raise SettingsError(
            f"{name} needs a package that is not installed: {error.name or error}."
        ) from None
    except ValueError as error:
        raise SettingsError(f"{name} is no model that can be used: {str(error)[:200]}") from None
    return model

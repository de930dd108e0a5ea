"""Find each role's models and servers, and create LangChain chat models."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, get_args

import httpx
from pydantic import SecretStr

from spadework.errors import SettingsError, must_be
from spadework.settings import Role, Settings
from spadework.tools.web.connections import certificates, closing_lines, proxy_for

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


_OPENAI = "https://api.openai.com/v1"
#: API keys with fewer characters than this are not redacted, because keys of local servers are
#: often ordinary words.
LEAST_SECRET = 8
#: Names of reasoning models, which reject a temperature.
_REASONING = re.compile(r"^(?:.*/)?(?:gpt-5|o\d)")


class Place(NamedTuple):
    """A model named PROVIDER:NAME, and its server's address ("" for the provider's default)."""

    name: str
    base_url: str

    @property
    def label(self) -> str:
        """The model's name as shown in reports."""
        return label_of(self.name)


def places_of(role: Role, settings: Settings, default: str = "") -> list[Place]:
    """Return the models to try for a role: its own (or `default`), then any other fallback."""
    own = Place(settings.model_for(role) or default, settings.openai_base_url)
    spare = Place(settings.fallback_model, settings.fallback_base_url or settings.openai_base_url)
    return [own] if not spare.name or spare == own else [own, spare]


def settings_at(place: Place, settings: Settings) -> Settings:
    """Return the settings with the server address and API key of the model `place`."""
    if place.base_url == settings.openai_base_url:
        return settings
    key = settings.fallback_api_key or settings.openai_api_key
    return settings.model_copy(update={"openai_base_url": place.base_url, "openai_api_key": key})


def chat_model(
    name: str, settings: Settings
) -> tuple[BaseChatModel, Callable[[], Awaitable[None]]]:
    """Return a LangChain chat model and a function that closes it."""
    provider, model = provider_of(name)
    if provider != "openai":
        return _other_provider(name), _do_nothing
    from openai import DefaultAsyncHttpxClient

    from spadework.agents.llm.openai_chat import OpenAIChat

    check_keys(settings, name)
    check_address(settings.openai_base_url)
    # Use our own client, because langchain-openai's connections outlive their event loop. Follow
    # no redirects, because they could lead anywhere, even to this machine.
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
        api_key=settings.openai_api_key or SecretStr("none"),  # a local server accepts any key
        base_url=settings.openai_base_url or None,
        timeout=settings.model_seconds,
        max_retries=0,
        disable_streaming=True,
    )
    return chat, connections.aclose


def check_keys(settings: Settings, *names: str) -> None:
    """Raise SettingsError if an OpenAI model in use or in `names` has no key and no server URL."""
    for name in (*names, *map(settings.model_for, get_args(Role))):
        given = settings.openai_api_key or settings.openai_base_url
        if name and provider_of(name)[0] == "openai" and not given:
            raise SettingsError(
                f"{name} needs an API key. Set OPENAI_API_KEY, or set OPENAI_BASE_URL to use"
                " your own server."
            )


def check_address(base_url: str) -> None:
    """Raise SettingsError if a server's address is invalid. "" is valid."""
    with suppress(httpx.InvalidURL):
        url = httpx.URL(base_url)
        if not base_url or (url.scheme in ("http", "https") and url.host):
            return
    wanted = "a URL such as http://localhost:8080/v1"
    raise SettingsError(must_be("The address of the model server", wanted, base_url))


def provider_of(name: str) -> tuple[str, str]:
    """Split PROVIDER:NAME at its first colon. If there is no colon, the provider is "openai"."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("openai", name)


def label_of(name: str) -> str:
    """Return a model's display name, without the path of a local model."""
    return name if "/" not in name else f"{provider_of(name)[0]}:{name.rsplit('/', 1)[1]}"


def secret_of(settings: Settings) -> str:
    """Return the API key to redact, or "" if it is missing or too short."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    return key if len(key) >= LEAST_SECRET else ""


def reasons(model: str) -> bool:
    """Return whether a model's name is that of a reasoning model."""
    return _REASONING.match(model) is not None


async def _do_nothing() -> None:
    """Do nothing, because the provider manages its own connections."""


def _other_provider(name: str) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model  # type: ignore[import-not-found, unused-ignore]

        model: BaseChatModel = init_chat_model(name)
    except ImportError as error:
        raise SettingsError(
            f"{name} needs a package that is not installed: {error.name or error}."
        ) from None
    except ValueError as error:
        raise SettingsError(f"The model {name} cannot be used: {str(error)[:200]}") from None
    return model

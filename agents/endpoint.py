"""One chat model behind one endpoint: sends messages, waits and tries again where that helps, counts and charges."""

from __future__ import annotations

import json
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import stamina
from pydantic import SecretStr

from spadework.budget import Budget
from spadework.errors import BadReply, BudgetSpent, ModelError, SettingsError, TooLong
from spadework.settings import Settings
from spadework.tools import tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable

Method = Literal["json_schema", "function_calling", "json_mode"]

#: Times one request is sent when the endpoint is busy or broken.
ATTEMPTS = 3


class Unsupported(Exception):
    """The endpoint does not take this way of asking for a shape."""


@dataclass(frozen=True)
class Shape:
    """The shape of an answer: a JSON schema as strict mode wants it, and how it is asked for."""

    name: str
    schema: dict[str, Any]
    method: Method


class Endpoint:
    """A chat model by its name PROVIDER:NAME."""

    def __init__(self, name: str, settings: Settings, budget: Budget) -> None:
        # A local server may name a model by the path of its file, which is nobody's business.
        self.name = name if "/" not in name else f"{_provider(name)[0]}:{name.rsplit('/', 1)[1]}"
        self._model = name
        self._settings = settings
        self._budget = budget
        self._compatible = _provider(name)[0] == "openai"
        self._chat, self._close = chat_model(name, settings)

    async def close(self) -> None:
        """Give back the connections."""
        await self._close()

    async def send(self, messages: list[BaseMessage], shape: Shape) -> str:
        """The text of the reply, or the arguments of its tool call as JSON. Charges calls, tokens and money.

        Raises Unsupported, TooLong, BadReply, ModelError, BudgetSpent.
        """
        import openai

        tokens_in = sum(tokens.count(str(m.content)) for m in messages)
        if tokens_in > self._settings.request_tokens:
            raise TooLong(f"The request to {self.name} has {tokens_in} tokens, more than {self._settings.request_tokens}.")
        chat = self._shaped(shape)
        try:
            async for attempt in stamina.retry_context(on=_wait, attempts=ATTEMPTS, timeout=None):
                with attempt:
                    self._afford(tokens_in)
                    reply = await chat.ainvoke(messages)
        except openai.APIStatusError as error:
            raise _named(error, self.name) from None
        except openai.APIConnectionError:
            raise ModelError(f"{self.name} cannot be reached.") from None
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise ModelError(f"{self.name} gave no usable answer ({type(error).__name__}).") from None
        return self._text(reply, tokens_in)

    def _shaped(self, shape: Shape) -> Runnable[Any, AIMessage]:
        """The chat model, bound to answer in a shape. Only OpenAI-compatible ones know formats; all know tools."""
        if shape.method == "function_calling":
            function = {"name": shape.name, "description": shape.name, "parameters": shape.schema}
            return self._chat.bind_tools([{"type": "function", "function": function}], tool_choice=shape.name)
        if not self._compatible:
            if shape.method == "json_schema":
                raise Unsupported(f"{self.name} is asked by tools.")
            return self._chat
        wanted: dict[str, Any] = {"type": "json_object"}
        if shape.method == "json_schema":
            wanted = {"type": "json_schema", "json_schema": {"name": shape.name, "schema": shape.schema, "strict": True}}
        # In the body as it is: langchain-openai would parse the answer by itself, and raise where we want to repair.
        return self._chat.bind(extra_body=_room(self._settings) | {"response_format": wanted})

    def _afford(self, tokens_in: int) -> None:
        """Charge a call before it starts; refuse it when its tokens or its price would pass the ceiling."""
        limits = self._budget.limits
        if self._budget.spent("tokens") + tokens_in > limits.tokens:
            raise BudgetSpent("tokens")
        if limits.money and self._budget.spent("money") + (self._price(tokens_in, 0) or 0) > limits.money:
            raise BudgetSpent("money")
        self._budget.charge("calls")

    def _text(self, reply: AIMessage, tokens_in: int) -> str:
        calls = [call["args"] for call in reply.tool_calls]
        broken = [call["args"] or "" for call in reply.invalid_tool_calls]
        text = json.dumps(calls[0]) if calls else broken[0] if broken else str(reply.text)
        usage = reply.usage_metadata
        spent_in, spent_out = (usage["input_tokens"], usage["output_tokens"]) if usage else (tokens_in, tokens.count(text))
        self._budget.add(tokens_in=spent_in, tokens_out=spent_out)
        price = self._price(spent_in, spent_out)
        if price is None:
            self._budget.forget_price()
        else:
            self._budget.add(money=price)
        if reply.response_metadata.get("finish_reason") == "length":
            raise BadReply(f"{self.name} ran out of room before its answer was complete.")
        return text

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        price = self._settings.prices.get(_provider(self._model)[1])
        return None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1_000_000


def chat_model(name: str, settings: Settings) -> tuple[BaseChatModel, Callable[[], Awaitable[None]]]:
    """The LangChain chat model of PROVIDER:NAME and how to close it; a name without a provider is an OpenAI-compatible one."""
    provider, model = _provider(name)
    if provider != "openai":
        return _other_provider(name), _nothing
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient

    if not settings.openai_api_key and not settings.openai_base_url:
        raise SettingsError(f"{name} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.")
    # The ladder finds out by itself which shapes an endpoint takes; the client's advice about that is no news to the user.
    warnings.filterwarnings("ignore", message="This model does not support OpenAI's structured output")
    # Connections of our own: those that langchain-openai shares in the process outlive the event loop they belong to.
    connections = DefaultAsyncHttpxClient()
    chat = ChatOpenAI(
        http_async_client=connections,
        model=model,
        api_key=settings.openai_api_key or SecretStr("none"),  # a local server wants any word here
        base_url=settings.openai_base_url or None,
        timeout=settings.model_seconds,
        max_retries=0,
        temperature=None if model.startswith(("gpt-5", "o")) else 0,
        extra_body=_room(settings),
    )
    return chat, connections.aclose


def _provider(name: str) -> tuple[str, str]:
    """Provider and model of PROVIDER:NAME; without a provider it is an OpenAI-compatible one. The names of local models may hold colons."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("openai", name)


def _room(settings: Settings) -> dict[str, Any]:
    """The limit on an answer for compatible servers, which know max_tokens, not the newer name that the client would use."""
    return {"max_tokens": settings.reply_tokens} if settings.openai_base_url else {}


async def _nothing() -> None:
    """What there is to close for a provider whose connections are its own."""


def _other_provider(name: str) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model  # type: ignore[import-not-found, unused-ignore]

        model: BaseChatModel = init_chat_model(name)
    except ImportError as error:
        raise SettingsError(f"{name} needs a package that is not installed: {error.name or error}.") from None
    except ValueError as error:
        raise SettingsError(f"{name} is no model that can be used: {str(error)[:200]}") from None
    return model


def _wait(error: Exception) -> bool | float:
    """Whether to try again: after Retry-After when the endpoint names it, with back-off when it is broken, else not."""
    import openai

    if isinstance(error, openai.RateLimitError):
        try:
            return float(error.response.headers.get("retry-after", ""))
        except ValueError:
            return True
    if isinstance(error, openai.InternalServerError):
        return not _refuses_shape(error)
    return isinstance(error, openai.APIConnectionError)


def _refuses_shape(error: Any) -> bool:
    """Whether the endpoint means: I do not take this way of asking for a shape."""
    said = str(error.message).lower()
    return error.status_code in (400, 404, 415, 422, 500, 501) and any(
        word in said for word in ("response_format", "json_schema", "json_object", "tool", "function")
    )


def _named(error: Any, name: str) -> Exception:
    """What a refused request means: too long, a way of asking that is not taken, or a failure."""
    said = str(error.message)
    if error.code == "context_length_exceeded" or ("context" in said.lower() and ("length" in said.lower() or "too long" in said.lower())):
        return TooLong(f"The request is too long for {name}.")
    if _refuses_shape(error):
        return Unsupported(said[:200])
    if error.status_code in (401, 403):
        return ModelError(f"{name} refuses the key.", hint="Check OPENAI_API_KEY.")
    return ModelError(f"{name} answered with status {error.status_code}.")

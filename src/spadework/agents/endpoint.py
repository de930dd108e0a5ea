"""One chat model behind one endpoint: sends messages, waits and tries again where that helps,
counts and charges.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretStr

from spadework.agents.gate import Gate
from spadework.budget import Budget
from spadework.errors import BadReply, ModelError, SettingsError, TooLong
from spadework.settings import Settings
from spadework.tools import tokens
from spadework.tools.retries import attempts

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable

Method = Literal["json_schema", "function_calling", "json_mode"]

#: Times one request is sent when the endpoint is broken, and when it is busy.
ATTEMPTS, BUSY_ATTEMPTS = 3, 6
#: Seconds to wait for a busy endpoint that does not say how long, doubled with every try.
BUSY_SECONDS = 0.5
#: Characters of a key worth hiding; a local server takes any word for one.
LEAST_SECRET = 8
#: Tokens that an answer needs at least; with fewer left the call is not made.
LEAST_REPLY = 200


class Passing(ModelError):
    """A fault that may be gone the next time."""


class Busy(ModelError):
    """Too many calls; `after` is how many seconds to wait, None where the endpoint does not say."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Unsupported(Exception):
    """The endpoint does not take this way of asking for a shape."""


@dataclass(frozen=True)
class Shape:
    """The shape of an answer: a JSON schema as strict mode wants it, and how it is asked for."""

    name: str
    schema: dict[str, Any]
    method: Method


class Endpoint:
    """A chat model by its name PROVIDER:NAME. `gate` is shared by all models behind the same
    address.
    """

    def __init__(self, name: str, settings: Settings, budget: Budget, gate: Gate) -> None:
        # A local server may name a model by the path of its file, which is nobody's business.
        self.name = name if "/" not in name else f"{_provider(name)[0]}:{name.rsplit('/', 1)[1]}"
        self._model = name
        self._settings = settings
        self._budget = budget
        self._gate = gate
        self._compatible = _provider(name)[0] == "openai"
        self._chat, self._close = chat_model(name, settings)

    async def close(self) -> None:
        """Give back the connections."""
        await self._close()

    async def send(self, messages: list[BaseMessage], shape: Shape) -> str:
        """The text of the reply, or the arguments of its tool call as JSON. Charges calls, tokens
        and money.

        Raises Unsupported, TooLong, BadReply, ModelError, BudgetSpent.
        """
        tokens_in = sum(tokens.count(str(m.content)) for m in messages) + tokens.count(
            json.dumps(shape.schema)
        )
        if tokens_in > self._settings.request_tokens:
            raise TooLong(
                f"The request to {self.name} has {tokens_in} tokens, more than"
                f" {self._settings.request_tokens}."
            )
        room = min(self._settings.reply_tokens, self._budget.tokens_left() - tokens_in)
        if room < LEAST_REPLY:
            self._budget.hold(tokens_in + LEAST_REPLY, 0.0)
        chat = self._shaped(shape, room)
        async for attempt in attempts(lambda error: isinstance(error, Passing), ATTEMPTS):
            with attempt:
                reply = await self._admitted(chat, messages, tokens_in, room)
        return self._without_key(reply)

    def _without_key(self, reply: str) -> str:
        """A reply in which the key does not stand: its server knows the key, and may be
        anybody's.
        """
        key = self._settings.openai_api_key
        secret = key.get_secret_value() if key else ""
        return reply.replace(secret, "…") if len(secret) >= LEAST_SECRET else reply

    async def _admitted(
        self, chat: Runnable[Any, AIMessage], messages: list[BaseMessage], tokens_in: int, room: int
    ) -> str:
        """One request, once there is room for it; sent again when the endpoint is busy, after the
        time it names.
        """
        pause = BUSY_SECONDS
        for last in (n == BUSY_ATTEMPTS for n in range(1, BUSY_ATTEMPTS + 1)):
            async with self._gate.through() as began:
                try:
                    text = await self._paid(chat, messages, tokens_in, room)
                except Busy as busy:
                    self._gate.limited(began, pause if busy.after is None else busy.after)
                    pause *= 2
                    if last:
                        raise
                else:
                    self._gate.answered()
                    return text
        raise AssertionError("the last try returns or raises")

    async def _paid(
        self, chat: Runnable[Any, AIMessage], messages: list[BaseMessage], tokens_in: int, room: int
    ) -> str:
        """One request: what it may cost is set aside before, what it did cost is recorded after."""
        import openai

        held, most = tokens_in + room, self._price(tokens_in, room) or 0.0
        self._budget.hold(held, most)
        used, price = (0, 0), 0.0 if self._price(0, 0) is not None else None
        try:
            reply = await chat.ainvoke(messages)
            text = _text(reply)
            usage = reply.usage_metadata
            used = (
                (usage["input_tokens"], usage["output_tokens"])
                if usage
                else (tokens_in, tokens.count(text))
            )
            price = self._price(*used)
        except openai.APIConnectionError:
            raise Passing(f"{self.name} cannot be reached.") from None
        except openai.APIStatusError as error:
            raise _named(error, self.name) from None
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise ModelError(
                f"{self.name} gave no usable answer ({type(error).__name__})."
            ) from None
        finally:
            self._budget.settle(held, most, used=used, price=price)
        if reply.response_metadata.get("finish_reason") == "length":
            raise BadReply(f"{self.name} ran out of room before its answer was complete.")
        return text

    def _shaped(self, shape: Shape, room: int) -> Runnable[Any, AIMessage]:
        """The chat model, bound to answer in a shape. Only OpenAI-compatible ones know formats; all
        know tools.
        """
        if shape.method == "function_calling":
            function = {"name": shape.name, "description": shape.name, "parameters": shape.schema}
            chat = self._chat.bind_tools(
                [{"type": "function", "function": function}], tool_choice=shape.name
            )
            return chat.bind(extra_body=self._room(room)) if self._compatible else chat
        if not self._compatible:
            if shape.method == "json_schema":
                raise Unsupported(f"{self.name} is asked by tools.")
            return self._chat
        wanted: dict[str, Any] = {"type": "json_object"}
        if shape.method == "json_schema":
            wanted = {
                "type": "json_schema",
                "json_schema": {"name": shape.name, "schema": shape.schema, "strict": True},
            }
        # In the body as it is: langchain-openai would parse the answer by itself, and raise where
        # we want to repair.
        return self._chat.bind(extra_body=self._room(room) | {"response_format": wanted})

    def _room(self, room: int) -> dict[str, int]:
        """The limit on an answer: compatible servers know max_tokens, OpenAI's newer models the
        longer name.
        """
        return {"max_tokens" if self._settings.openai_base_url else "max_completion_tokens": room}

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        price = self._settings.prices.get(_provider(self._model)[1])
        return None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1_000_000


def chat_model(
    name: str, settings: Settings
) -> tuple[BaseChatModel, Callable[[], Awaitable[None]]]:
    """The LangChain chat model of PROVIDER:NAME and how to close it; a name without a provider is
    an OpenAI-compatible one.
    """
    provider, model = _provider(name)
    if provider != "openai":
        return _other_provider(name), _nothing
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient

    if not settings.openai_api_key and not settings.openai_base_url:
        raise SettingsError(
            f"{name} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own."
        )
    # The ladder finds out by itself which shapes an endpoint takes; the client's advice about that
    # is no news to the user.
    warnings.filterwarnings(
        "ignore", message="This model does not support OpenAI's structured output"
    )
    # Connections of our own: those that langchain-openai shares in the process outlive the event
    # loop they belong to.
    connections = DefaultAsyncHttpxClient()
    chat = ChatOpenAI(
        http_async_client=connections,
        model=model,
        api_key=settings.openai_api_key or SecretStr("none"),  # a local server wants any word here
        base_url=settings.openai_base_url or None,
        timeout=settings.model_seconds,
        max_retries=0,
        temperature=None if model.startswith(("gpt-5", "o")) else 0,
        streaming=settings.model_stream,
        stream_usage=settings.model_stream,
    )
    return chat, connections.aclose


def _provider(name: str) -> tuple[str, str]:
    """Provider and model of PROVIDER:NAME; without a provider it is an OpenAI-compatible one. The
    names of local models may hold colons.
    """
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("openai", name)


async def _nothing() -> None:
    """What there is to close for a provider whose connections are its own."""


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


def _refuses_shape(error: Any) -> bool:
    """Whether the endpoint means: I do not take this way of asking for a shape."""
    said = str(error.message).lower()
    return error.status_code in (400, 404, 415, 422, 500, 501) and any(
        word in said
        for word in ("response_format", "json_schema", "json_object", "tool", "function")
    )


def _named(error: Any, name: str) -> Exception:
    """What a refused request means: too long, a way of asking that is not taken, a passing fault,
    or a failure.
    """
    said = str(error.message)
    if error.code == "context_length_exceeded" or (
        "context" in said.lower() and ("length" in said.lower() or "too long" in said.lower())
    ):
        return TooLong(f"The request is too long for {name}.")
    if _refuses_shape(error):
        return Unsupported(said[:200])
    if error.status_code in (401, 403):
        return ModelError(f"{name} refuses the key.", hint="Check OPENAI_API_KEY.")
    if error.code == "insufficient_quota":
        return ModelError(f"The quota of {name} is spent.")
    if error.status_code == 429:
        return Busy(
            f"{name} is asked too often.",
            after=_seconds(error.response.headers.get("retry-after", "")),
        )
    if error.status_code >= 500:
        return Passing(f"{name} answered with status {error.status_code}.")
    return ModelError(f"{name} answered with status {error.status_code}.")


def _seconds(retry_after: str) -> float | None:
    """The seconds of a Retry-After header, never below 0; None for none and for a date."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


def _text(reply: AIMessage) -> str:
    """The text of a reply, or the arguments of its tool call as JSON."""
    calls = [call["args"] for call in reply.tool_calls]
    broken = [call["args"] or "" for call in reply.invalid_tool_calls]
    return json.dumps(calls[0]) if calls else broken[0] if broken else str(reply.text)

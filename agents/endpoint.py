"""One chat model behind one endpoint: sends messages, waits and tries again where that helps, counts and charges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import stamina
from pydantic import SecretStr

from spadework.budget import Budget
from spadework.errors import BadReply, BudgetSpent, ModelError, SettingsError, TooLong
from spadework.settings import Settings
from spadework.tools import tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

#: Times one request is sent when the endpoint is busy or broken.
ATTEMPTS = 3


class Unsupported(Exception):
    """The endpoint does not take this way of asking for a shape."""


class Endpoint:
    """A chat model by its name PROVIDER:NAME."""

    def __init__(self, name: str, settings: Settings, budget: Budget) -> None:
        self.name = name
        self._settings = settings
        self._budget = budget
        self._chat = chat_model(name, settings)

    async def send(self, messages: list[BaseMessage], **shape: Any) -> str:
        """The text of the reply, or the arguments of its tool call as JSON. Charges calls, tokens and money.

        Raises Unsupported, TooLong, BadReply, ModelError, BudgetSpent.
        """
        import openai

        tokens_in = sum(tokens.count(str(m.content)) for m in messages)
        if tokens_in > self._settings.request_tokens:
            raise TooLong(f"The request to {self.name} has {tokens_in} tokens, more than {self._settings.request_tokens}.")
        try:
            async for attempt in stamina.retry_context(on=_wait, attempts=ATTEMPTS, timeout=None):
                with attempt:
                    self._afford(tokens_in)
                    reply = await self._chat.ainvoke(messages, **shape)
        except openai.LengthFinishReasonError as error:
            raise BadReply(f"{self.name} ran out of room before its answer was complete.") from error
        except openai.APIStatusError as error:
            raise _named(error, self.name) from None
        except openai.APIConnectionError:
            raise ModelError(f"{self.name} cannot be reached.") from None
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise ModelError(f"{self.name} gave no usable answer ({type(error).__name__}).") from None
        return self._text(reply, tokens_in)

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
        return text

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        price = self._settings.prices.get(self.name.partition(":")[2])
        return None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1_000_000


def chat_model(name: str, settings: Settings) -> BaseChatModel:
    """The LangChain chat model of PROVIDER:NAME; a name without a provider is an OpenAI-compatible one."""
    provider, _, model = name.partition(":") if ":" in name else ("openai", ":", name)
    if provider != "openai":
        return _other_provider(name)
    from langchain_openai import ChatOpenAI

    if not settings.openai_api_key and not settings.openai_base_url:
        raise SettingsError(f"{name} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.")
    return ChatOpenAI(
        model=model,
        api_key=settings.openai_api_key or SecretStr("none"),  # a local server wants any word here
        base_url=settings.openai_base_url or None,
        timeout=settings.model_seconds,
        max_retries=0,
        temperature=None if model.startswith(("gpt-5", "o")) else 0,
        # Sent as it is: compatible servers know max_tokens, not the newer name that the client would use.
        extra_body={"max_tokens": settings.reply_tokens} if settings.openai_base_url else None,
    )


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

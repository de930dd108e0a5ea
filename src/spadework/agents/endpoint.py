"""One chat model behind one endpoint: sends messages, waits and tries again where that helps,
learns what the endpoint takes, counts and charges.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from spadework.agents.gate import Gate
from spadework.agents.learned import Lessons, Room
from spadework.agents.providers import chat_model, label_of, provider_of, reasons
from spadework.agents.refusals import (
    Busy,
    Overlong,
    Passing,
    Unsupported,
    Unwanted,
    meaning,
)
from spadework.agents.shapes import Shape
from spadework.budget import Budget
from spadework.errors import BadReply, TooLong
from spadework.settings import Settings
from spadework.tools import tokens
from spadework.tools.retries import attempts

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable

#: Times one request is sent when the endpoint is broken, and when it is busy.
ATTEMPTS, BUSY_ATTEMPTS = 3, 6
#: Times one request is sent anew after the endpoint has taught how it wants it.
LESSONS = 4
#: Seconds to wait for a busy endpoint that does not say how long, doubled with every try.
BUSY_SECONDS = 0.5
#: Characters of a key worth hiding; a local server takes any word for one.
LEAST_SECRET = 8
#: Tokens that an answer needs at least; with fewer left the call is not made.
LEAST_REPLY = 200
#: Share of a context that a request may fill, so that its answer has room; and the share that both
#: together may, since every model counts its tokens in its own way.
REQUEST_SHARE, WHOLE_SHARE = 0.75, 0.9
#: A request that is too long for a context of unknown size is cut to this share of its tokens.
KEPT = 0.7
#: No context is believed to be smaller.
LEAST_CONTEXT = 1_000


class Endpoint:
    """A chat model by its name PROVIDER:NAME. `gate` is shared by all models behind the same
    address.
    """

    def __init__(self, name: str, settings: Settings, budget: Budget, gate: Gate) -> None:
        provider, model = provider_of(name)
        self.name = label_of(name)
        self._model = model
        self._settings = settings
        self._budget = budget
        self._gate = gate
        self._compatible = provider == "openai"
        self._lessons = Lessons(settings.home, f"{settings.openai_base_url}\n{name}")
        self._chat, self._close = chat_model(name, settings)

    async def close(self) -> None:
        """Give back the connections, and keep what was learned."""
        await self._close()
        await self._lessons.save()

    async def speed(self) -> float:
        """Tokens that the model reads in a second, by this run or else the last one; 0 where that
        is not known.
        """
        await self._lessons.load()
        return self._lessons.known.speed

    async def send(self, messages: list[BaseMessage], shape: Shape) -> str:
        """The text of the reply, or the arguments of its tool call as JSON. Charges calls, tokens
        and money.

        Raises Unsupported, TooLong, BadReply, ModelError, BudgetSpent.
        """
        await tokens.ready()
        tokens_in = sum(tokens.count(str(m.content)) for m in messages) + tokens.count(
            json.dumps(shape.schema)
        )
        await self._lessons.load()
        for last in (n == LESSONS for n in range(1, LESSONS + 1)):
            room, context = self._room(tokens_in), self._lessons.known.context
            chat = self._shaped(shape, room)
            try:
                return await self._persisted(chat, messages, tokens_in, room)
            except Unwanted as lesson:
                self._do_without(lesson)
                if last:
                    raise
            except Overlong as lesson:
                self._narrow(lesson, tokens_in, context or tokens_in + room)
                if last or self._lessons.known.context == context:
                    raise TooLong(str(lesson)) from None
        raise AssertionError("the last try returns or raises")

    async def _persisted(
        self, chat: Runnable[Any, AIMessage], messages: list[BaseMessage], tokens_in: int, room: int
    ) -> str:
        async for attempt in attempts(lambda error: isinstance(error, Passing), ATTEMPTS):
            with attempt:
                reply = await self._admitted(chat, messages, tokens_in, room)
        # The server knows the key, and may be anybody's.
        return reply.replace(self._secret(), "…") if self._secret() else reply

    def _secret(self) -> str:
        key = self._settings.openai_api_key
        secret = key.get_secret_value() if key else ""
        return secret if len(secret) >= LEAST_SECRET else ""

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
        held, most = tokens_in + room, self._price(tokens_in, room) or 0.0
        self._budget.hold(held, most)
        used, price = (0, 0), 0.0 if self._price(0, 0) is not None else None
        began = time.monotonic()
        try:
            reply = await chat.ainvoke(messages)
            text, used = _text(reply), _used(reply, tokens_in)
            price = self._price(*used)
        except Exception as error:  # noqa: BLE001 - the border to libraries of providers, which raise whatever comes when they read an answer
            raise meaning(error, self.name, self._secret()) from None
        finally:
            self._budget.settle(held, most, used=used, price=price)
        self._lessons.took(*used, time.monotonic() - began)
        if reply.response_metadata.get("finish_reason") == "length":
            cut = BadReply(f"{self.name} ran out of room before its answer was complete.")
            cut.said = text.replace(self._secret(), "…") if self._secret() else text
            raise cut
        return text

    def _room(self, tokens_in: int) -> int:
        """Tokens that the answer to a request may have. Raises TooLong when the request leaves it
        none, BudgetSpent when there is not enough to pay it.
        """
        context = self._lessons.known.context
        most = self._settings.request_tokens
        if context:
            most = min(most, int(REQUEST_SHARE * context))
        if tokens_in > most:
            raise TooLong(
                f"The request to {self.name} has {tokens_in} tokens, more than {most}.",
                over=tokens_in - most,
            )
        room = min(self._settings.reply_tokens, self._budget.tokens_left() - tokens_in)
        if room < LEAST_REPLY:
            self._budget.hold(tokens_in + LEAST_REPLY, 0.0)
        return min(room, int(WHOLE_SHARE * context) - tokens_in) if context else room

    def _narrow(self, lesson: Overlong, tokens_in: int, believed: int) -> None:
        """Learn how much fits, from a request that did not: what the endpoint says where that is
        less than was `believed`, and where the request is to blame, at most a share of it.
        """
        fits, share = lesson.most or believed, int(KEPT * tokens_in / REQUEST_SHARE)
        if not lesson.whole or fits >= believed:
            fits = min(fits, share)
        known = self._lessons.known.context
        self._lessons.learn(context=max(LEAST_CONTEXT, min(fits, known or fits)))

    def _do_without(self, lesson: Unwanted) -> None:
        """Learn that a parameter is not taken."""
        if lesson.parameter == "temperature":
            self._lessons.learn(temperature=False)
        else:
            longer = lesson.parameter == "max_tokens"
            self._lessons.learn(room="max_completion_tokens" if longer else "max_tokens")

    def _shaped(self, shape: Shape, room: int) -> Runnable[Any, AIMessage]:
        """The chat model, bound to answer in a shape. Only OpenAI-compatible ones know formats; all
        know tools.
        """
        if shape.method == "function_calling":
            function = {"name": shape.name, "description": shape.name, "parameters": shape.schema}
            chat = self._chat.bind_tools(
                [{"type": "function", "function": function}], tool_choice=shape.name
            )
            return chat.bind(extra_body=self._body(room)) if self._compatible else chat
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
        return self._chat.bind(extra_body=self._body(room) | {"response_format": wanted})

    def _body(self, room: int) -> dict[str, Any]:
        """The limit on an answer under the name that the endpoint takes, at first max_tokens
        everywhere but at OpenAI; and no heat, where it takes that.
        """
        known = self._lessons.known
        first: Room = "max_tokens" if self._settings.openai_base_url else "max_completion_tokens"
        cold = known.temperature and not reasons(self._model)
        return {known.room or first: room} | ({"temperature": 0} if cold else {})

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        price = self._settings.prices.get(self._model)
        return None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1_000_000


def _used(reply: AIMessage, tokens_in: int) -> tuple[int, int]:
    """Tokens in and out; counted here where the endpoint does not say."""
    usage = reply.usage_metadata
    if not usage:
        return tokens_in, tokens.count(_text(reply))
    return max(0, usage["input_tokens"]), max(0, usage["output_tokens"])


def _text(reply: AIMessage) -> str:
    """The text of a reply, or the arguments of its tool call as JSON."""
    calls = [call["args"] for call in reply.tool_calls]
    broken = [call["args"] or "" for call in reply.invalid_tool_calls]
    return json.dumps(calls[0]) if calls else broken[0] if broken else str(reply.text)

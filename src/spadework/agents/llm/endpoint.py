"""Call a chat model at one endpoint, learn its limits and charge the cost."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from spadework.agents.llm.limits import CLOSING, LEAST_CONTEXT, Lessons, RoomName, gate_at, usual
from spadework.agents.llm.probe import listed_context
from spadework.agents.llm.providers import chat_model, label_of, provider_of, reasons, secret_of
from spadework.agents.llm.reply import (
    MOST_SAID,
    Busy,
    CutInSilence,
    CutOff,
    ErrorReply,
    Overlong,
    Passing,
    ServerReply,
    Unsupported,
    Unwanted,
    Withheld,
    reply_of,
    translate,
)
from spadework.agents.llm.structured_output import Request, Shape, Turn
from spadework.budget import Budget, HoldRequest, cost
from spadework.errors import TooLong
from spadework.settings import Role, Settings
from spadework.tools.stores.journal import Journal
from spadework.tools.text import tokens
from spadework.tools.web.connections import ask_again, install_resolver
from spadework.values import Problem

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable


#: The number of attempts per request at a failing endpoint, and at a busy one.
ATTEMPTS, BUSY_ATTEMPTS = 3, 6
#: The maximum number of times a request is sent while learning which parameters and sizes the
#: endpoint accepts.
LESSONS = 4
#: The maximum number of tokens in a request, and the extra tokens that an answer may use for
#: reasoning.
_REQUEST_TOKENS, _THOUGHT_TOKENS = 50_000, 8_000
#: The number of seconds before the first retry at a busy endpoint. It doubles with each retry.
BUSY_SECONDS = 0.5
REQUEST_SHARE = 0.75
#: The fraction of the context that a request and its answer may fill. The rest is a margin,
#: because our token counts may differ from the server's.
WHOLE_SHARE = 0.9
#: The fraction of an overlong request to keep if the context size is unknown.
KEPT = 0.7
#: At most this fraction of a call's time is spent waiting until the budget can cover the call's
#: maximum cost.
WAITING_SHARE = 0.9


class Endpoint:
    """A chat model named PROVIDER:NAME. Models at the same address share a concurrency limit."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        budget: Budget,
        journal: Journal,
        news: list[Problem] | None = None,
    ) -> None:
        provider, model = provider_of(name)
        self.name = label_of(name)
        self._model = model
        self._settings = settings
        self._budget = budget
        self._journal = journal
        self._address = settings.openai_base_url or provider
        self._compatible = provider == "openai"
        self._lessons = Lessons(settings.common, f"{settings.openai_base_url}\n{name}")
        self._chat, self._close = chat_model(name, settings)
        self._news = [] if news is None else news
        self._preparing = asyncio.Lock()
        self._listed = False
        #: The message of the latest failure, or "" after a successful answer.
        self.failing = ""

    async def close(self) -> None:
        """Close the connections and store what was learned."""
        await self._close()
        await self._lessons.save()

    async def speed(self) -> float:
        """Return the model's reading speed in tokens per second, or 0 if unknown."""
        await self._lessons.load()
        return self._lessons.known.speed

    async def context(self) -> int:
        """Return the context size in tokens, or 0 if unknown."""
        await self._prepared()
        return self._context()

    async def send(self, messages: list[BaseMessage], shape: Shape, turn: Turn) -> str:
        """Return the reply's text, or the arguments of its tool call as JSON. Either may be empty.

        Raises Unsupported, TooLong, BadReply, ModelError or BudgetSpent.
        """
        install_resolver()
        await tokens.ready()
        words = sum(tokens.count(str(m.content)) for m in messages)
        counted = words + tokens.count(json.dumps(shape.schema))
        await self._prepared()
        for last in (n == LESSONS for n in range(1, LESSONS + 1)):
            wish = self._wish(counted, turn.role)
            request = Request(messages, shape, turn, words, counted, wish)
            context = self._context()
            try:
                return await self._persisted(request)
            except Unwanted as lesson:
                self._do_without(lesson)
                if last:
                    raise
            except CutInSilence:  # retry, now that the context size is known
                if last:
                    raise
            except Overlong as lesson:
                self._narrow(lesson, counted, context or lesson.asked)
                if last or self._context() == context:
                    raise TooLong(str(lesson)) from None
            except CutOff as short:
                # The answer was longer than expected. Retry if its token limit can be raised.
                if last or short.room >= self._wish(counted, turn.role).most:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _prepared(self) -> None:
        async with self._preparing:
            await self._lessons.load()
            unknown = not (self._context() or self._listed)
            if unknown and self._compatible and self._settings.openai_base_url:
                self._listed = True
                if context := await listed_context(self._settings, self._model, self._journal):
                    self._lessons.learn(context=context)

    async def _persisted(self, request: Request) -> str:
        async def ask() -> str:
            try:
                return await self._admitted(request)
            except Passing as fault:
                self.failing = str(fault)
                raise

        reply = await ask_again(ask, lambda error: isinstance(error, Passing), ATTEMPTS)
        self.failing = ""
        return self._without_key(reply)

    def _without_key(self, text: str) -> str:
        secret = secret_of(self._settings)
        return text.replace(secret, "…") if secret else text

    async def _admitted(self, request: Request) -> str:
        pause, gate, most = BUSY_SECONDS, gate_at(self._address), self._settings.model_parallel
        for last in (n == BUSY_ATTEMPTS for n in range(1, BUSY_ATTEMPTS + 1)):
            async with gate.through(id(self._budget), most) as began:
                try:
                    text = await self._paid(request)
                except Busy as busy:
                    gate.limited(began, pause if busy.after is None else busy.after, most)
                    pause *= 2
                    if last:
                        raise
                else:
                    gate.answered(most)
                    return text
        raise AssertionError("the last try returns or raises")

    async def _paid(self, request: Request) -> str:
        """Send a request after reserving its maximum cost, then charge the actual cost."""
        now = time.monotonic()
        until = now + WAITING_SHARE * (request.turn.until - now)
        hold = await self._budget.hold(request.wish, until=until)
        used = (request.wish.told, 0)
        price, began = self._price(*used), time.monotonic()
        try:
            message = await self._shaped(request.shape, hold.room).ainvoke(request.messages)
            reply: ServerReply = message.response_metadata.get("reply") or reply_of(message)
            if reply.kind == "error":
                raise ErrorReply(reply)
            used = reply.usage or (request.wish.told, tokens.count(reply.text))
            price = self._price(*used)
        except Exception as error:  # noqa: BLE001 - the border to libraries of providers, which raise whatever comes when they read an answer
            told = translate(error, self.name, secret_of(self._settings))
            used, price = (0, 0), self._price(0, 0)
            if isinstance(told, Overlong):
                told.asked = hold.tokens
            # A rejected parameter or output method teaches us what the endpoint accepts, and is
            # not a failure.
            if not isinstance(told, Unwanted | Unsupported):
                self._budget.add(model_errors=1, too_long=int(isinstance(told, Overlong)))
            raise told from None
        finally:
            self._budget.settle(hold, used=used, price=price)
        self._lessons.took(*used, time.monotonic() - began)
        self._compare_counts(request, reply)
        length = max(used[1], hold.room) if reply.kind == "cut" else used[1]
        self._lessons.answered(request.turn.role, length, thought=reply.thought)
        return self._accept(reply, hold.room)

    def _accept(self, reply: ServerReply, room: int) -> str:
        if reply.kind == "withheld":
            why = self._without_key(reply.reason)[:MOST_SAID]
            raise Withheld(f"{self.name} withheld its answer: “{why}”")
        if reply.kind == "cut":
            cut = CutOff(f"{self.name} ran out of room before its answer was complete.", room)
            cut.partial = self._without_key(reply.text)
            raise cut
        return reply.text

    def _compare_counts(self, request: Request, reply: ServerReply) -> None:
        """Learn how the server counts tokens. Raise CutInSilence if the server cut the request."""
        if reply.usage is None:
            return
        count = reply.usage[0]
        if not self._lessons.cuts_in_silence(request.words, count):
            self._lessons.counts(request.counted, count)
            return
        self._lessons.learn(context=count)
        reason = f"It read only {count} of the {request.words} tokens that it was sent."
        effect = "Later requests were shortened to fit. To avoid this, enlarge the model's context."
        problem = Problem(stage=request.turn.role, subject=self.name, reason=reason, effect=effect)
        self._news.append(problem)
        raise CutInSilence(f"{self.name} silently cuts off requests after {count} tokens.")

    def _context(self) -> int:
        known, given = self._lessons.known.context, self._settings.context_tokens
        return min(known or given, given or known)

    def _wish(self, counted: int, role: Role) -> HoldRequest:
        known, settings = self._lessons.known, self._settings
        told, thinking = int(counted * known.counted), known.thinks or reasons(self._model)
        most = settings.reply_tokens + (_THOUGHT_TOKENS if thinking else 0)
        answer = min(most, usual(role, known.answers.get(role, ()), thinks=thinking))
        fits = _REQUEST_TOKENS
        if context := self._context():
            whole = int(WHOLE_SHARE * context)
            fits = min(fits, int(REQUEST_SHARE * context), whole - min(answer, whole // 2))
            most = min(most, whole - told)
        if told > fits:
            raise TooLong(
                f"The request to {self.name} has {told} tokens; only {fits} fit.", over=told - fits
            )
        price = settings.prices.get(self._model)
        return HoldRequest(told, answer, most, price, closing=role in CLOSING)

    def _narrow(self, lesson: Overlong, tokens_in: int, believed: int) -> None:
        fits, share = lesson.most or believed, int(KEPT * tokens_in / REQUEST_SHARE)
        if not lesson.whole or fits >= believed:
            fits = min(fits, share)
        known = self._lessons.known.context
        self._lessons.learn(context=max(LEAST_CONTEXT, min(fits, known or fits)))

    def _do_without(self, lesson: Unwanted) -> None:
        if lesson.parameter == "temperature":
            self._lessons.learn(temperature=False)
        elif lesson.parameter == "stream":
            self._lessons.learn(streams=not self._lessons.known.streams)
        else:
            longer = lesson.parameter == "max_tokens"
            self._lessons.learn(room="max_completion_tokens" if longer else "max_tokens")

    def _shaped(self, shape: Shape, room: int) -> Runnable[Any, AIMessage]:
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
        # Bypass langchain-openai's own parser, which would raise an error before we could repair
        # the answer.
        return self._chat.bind(extra_body=self._body(room) | {"response_format": wanted})

    def _body(self, room: int) -> dict[str, Any]:
        known = self._lessons.known
        first: RoomName = (
            "max_tokens" if self._settings.openai_base_url else "max_completion_tokens"
        )
        cold = known.temperature and not reasons(self._model)
        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        body = {known.room or first: room} | ({"temperature": 0} if cold else {})
        return body | (streamed if known.streams else {})

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        price = self._settings.prices.get(self._model)
        return None if price is None else cost(price, tokens_in, tokens_out)

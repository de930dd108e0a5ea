"""Send a role's prompt to its model and return an answer of the requested type.

If a reply has the wrong format, the model is asked to correct it. If that fails too, the caller
works without the model.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from spadework.agents.llm.endpoint import Endpoint
from spadework.agents.llm.providers import Place, places_of, settings_at
from spadework.agents.llm.reply import Busy, Passing, Unsupported
from spadework.agents.llm.structured_output import (
    LADDER,
    Message,
    Method,
    Reply,
    Shape,
    Turn,
    as_sent,
    fault,
    parse_answer,
    strict,
)
from spadework.budget import Amounts, Budget
from spadework.errors import BadReply, BudgetSpent, ModelError, NotRecorded, SpadeworkError, TooLong
from spadework.events import Called, Verdict
from spadework.prompts import Prompt, shorten_prompt
from spadework.settings import Role, Settings
from spadework.tools.stores.exchanges import Request, Tape, last_text
from spadework.tools.stores.journal import Journal, Record
from spadework.tools.text import tokens
from spadework.values import Problem

DIGEST_CHARS = 16


class Call(NamedTuple):
    """A request to a role's model, with its start time (`time.monotonic`)."""

    role: str
    request: Request
    began: float

    def timed_out(self, said: str, charge: Amounts) -> Called:
        """Return the event for a timed-out call, with its cost."""
        return self._build_event("late", said, charge)

    async def answered(
        self, record: Record, journal: Journal, text: str, shape: type[BaseModel]
    ) -> None:
        """Record an answered call, and whether the answer has the requested format."""
        try:
            parse_answer(text, shape)
        except ValidationError as error:
            await self._tell(record, journal, "misshapen", fault(error))
        else:
            await self._tell(record, journal, "fits", "")

    async def failed(
        self, record: Record, journal: Journal, error: SpadeworkError | BudgetSpent
    ) -> None:
        """Record a failed call and its error."""
        verdict: Verdict = "failed"
        for kind, said in _VERDICTS.items():
            if isinstance(error, kind):
                verdict = said
        await self._tell(record, journal, verdict, str(error))

    async def _tell(self, record: Record, journal: Journal, verdict: Verdict, reason: str) -> None:
        record.tell(self._build_event(verdict, reason, await journal.charge(self.request)))

    def _build_event(self, verdict: Verdict, reason: str, charge: Amounts) -> Called:
        content, money = self.request.content, charge.get("money", 0.0)
        return Called(
            role=self.role,
            model=content["model"],
            shape=content["shape"],
            method=content.get("method", ""),
            asked=self.request.key[:DIGEST_CHARS],
            verdict=verdict,
            reason=reason[:300],
            seconds=round(time.monotonic() - self.began, 3),
            tokens_in=int(charge.get("tokens_in") or 0),
            tokens_out=int(charge.get("tokens_out") or 0),
            money=None if money is None else round(money, 6),
        )


_VERDICTS: dict[type[Exception], Verdict] = {
    Unsupported: "unsupported",
    TooLong: "too long",
    BudgetSpent: "unpaid",
}
A = TypeVar("A", bound=BaseModel)
#: The maximum number of times an overlong request is shortened, and the fraction to cut if the
#: excess is unknown.
MOST_CUTS, CUT_AWAY = 6, 0.3
#: The maximum number of attempts to get a well-formed reply. The lead (the planning role) gets
#: more, because the whole run depends on its plan.
TRIES, LEAD_TRIES = 2, 3
#: An overlong request is shortened to this fraction of the tokens that would fit, because texts are
#: cut by characters, which only approximate tokens.
CLOSE = 0.97
#: The number of calls sent to the fallback before a model that failed temporarily is tried again.
#: It doubles with each failure.
REST = 4
#: The fraction of a call's time that the role's own model gets before the fallback is asked.
FIRST_SHARE = 0.6


class Model:
    """A run's chat models, one for each role, and their fallback. In a replay, `new_model` answers
    requests that were not recorded.
    """

    def __init__(
        self,
        settings: Settings,
        budget: Budget,
        journal: Journal,
        default: str = "",
        new_model: Model | None = None,
    ) -> None:
        self._settings = settings
        self._budget = budget
        self._journal = journal
        self._default = default
        self._new_model = new_model
        self._endpoints: dict[Place, Endpoint] = {}
        self._rungs: dict[Place, Method] = {}
        self._resting: dict[Place, float] = {}
        self._rests = Counter[Place]()
        self._late: set[Place] = set()
        self._news: list[Problem] = []
        self.record = Record()

    async def ask(self, role: Role, prompt: Prompt, answer: type[A], *, seconds: float) -> A:
        """Return the role's answer within `seconds`, from the fallback if the role's own model
        fails. Raises ModelError if neither model answers, and BudgetSpent if a limit is reached.
        """
        until = time.monotonic() + seconds
        places = self._places(role)
        for place in places[:-1]:
            try:
                first = seconds * FIRST_SHARE
                return await self._answer(place, role, prompt, answer, seconds=first)
            except ModelError as error:
                self._replaced(role, place, error)
        if self._resting.get(own := self._own_model(role), 0) > 0 and own not in places:
            self._resting[own] -= 1
        left = until - time.monotonic()
        return await self._answer(places[-1], role, prompt, answer, seconds=left)

    async def _answer(
        self, place: Place, role: Role, prompt: Prompt, answer: type[A], *, seconds: float
    ) -> A:
        limit = min(seconds, self._settings.model_seconds)
        asked = [prompt.system, prompt.user]
        late = {"model": place.name, "shape": answer.__name__, "prompt": asked}
        call = Call(role, Request("late", late), time.monotonic())
        with self._budget.metered() as bill:
            try:
                if before := await self._journal.noted("late", late):
                    raise TimeoutError(before)
                if seconds <= 0:
                    # If no time was left to ask the model, the budget is to blame, not the model.
                    raise BudgetSpent("time")
                async with asyncio.timeout(limit):
                    turn = Turn(role, time.monotonic() + limit)
                    given = await self._ask(place, turn, prompt, answer)
                    self._late.discard(place)
                    return given.signed(place.label) if isinstance(given, Reply) else given
            except TimeoutError as error:
                self._late.add(place)
                asked_at = self._endpoints.get(place)
                # If the model kept failing until the timeout, report the failure rather than
                # slowness.
                said = str(error) or (asked_at.failing if asked_at else "")
                said = said or f"{place.label} did not answer in time."
        self._budget.add(model_errors=1)
        await self._journal.note("late", late, said)
        self.record.tell(call.timed_out(said, bill.amounts))
        raise ModelError(said)

    def news(self, role: Role) -> list[Problem]:
        """Return and clear a role's new problems."""
        found = [problem for problem in self._news if problem.stage == role]
        self._news[:] = [problem for problem in self._news if problem.stage != role]
        return found

    async def speed(self, role: Role) -> float | None:
        """Return the tokens the model reads per second, 0 if it timed out, or None if unknown."""
        place = self.place(role)
        return 0.0 if place in self._late else await self._endpoint(place).speed() or None

    async def context(self, role: Role) -> int:
        """Return the model's context size in tokens, or 0 if unknown."""
        place = self.place(role)

        async def work() -> int:
            return await self._endpoint(place).context()

        return await self._journal.moment("known context", place.name, int, work, 0)

    def place(self, role: Role) -> Place:
        """Return the role's model and its address."""
        return self._places(role)[0]

    def name(self, role: Role) -> str:
        """Return the name of the role's model."""
        return self.place(role).label

    @property
    def settings(self) -> Settings:
        """The run's settings."""
        return self._settings

    def check(self) -> None:
        """Raise SettingsError if a role's model lacks a key or a package."""
        for role in get_args(Role):
            for place in self._places(role):
                self._endpoint(place)

    async def close(self) -> None:
        """Close all connections, even when cancelled."""
        async with AsyncExitStack() as closing:
            for endpoint in self._endpoints.values():
                closing.push_async_callback(endpoint.close)
            if self._new_model:
                closing.push_async_callback(self._new_model.close)

    async def _ask(self, place: Place, turn: Turn, prompt: Prompt, answer: type[A]) -> A:
        user = prompt.user
        for _ in range(MOST_CUTS):
            try:
                return await self._shape_reply(
                    place, turn, [Message("system", prompt.system), Message("user", user)], answer
                )
            except TooLong as error:
                await tokens.ready()
                count, over = tokens.count(user), error.over
                left = (1 - CUT_AWAY) * count if not over else CLOSE * max(0, count - over)
                chars = int(len(user) * left / max(1, count))
                user, before = shorten_prompt(prompt, chars), user
                if len(user) >= len(before):
                    break
        raise TooLong(f"The request is too long for {place.label}, even when shortened.")

    async def _shape_reply(
        self, place: Place, turn: Turn, messages: list[Message], answer: type[A]
    ) -> A:
        said = ""
        for _ in range(LEAD_TRIES if turn.role == "lead" else TRIES):
            text = await self._reply(place, turn, messages, answer)
            try:
                return parse_answer(text, answer)
            except ValidationError as error:
                said = fault(error)
            repair = (
                f"That was not a valid answer: {said} Answer again with JSON of the asked shape"
                " only."
            )
            # Servers reject empty messages.
            before = [Message("assistant", text[:4_000])] if text else []
            messages = [*messages, *before, Message("user", repair)]
        raise BadReply(f"{place.label} did not answer in the requested format: {said}")

    async def _reply(
        self, place: Place, turn: Turn, messages: list[Message], answer: type[BaseModel]
    ) -> str:
        rungs: Sequence[Method] = LADDER
        if place in self._rungs:
            rungs = (self._rungs[place],)
        elif before := await self._journal.noted("rung", place.name, before=True):
            # A resumed run may use another server, so try the recorded output method first, then
            # the others.
            rungs = sorted(rungs, key=lambda rung: rung != before)
        said = ""
        for rung in rungs:
            try:
                text = await self._send(place, turn, messages, answer, rung)
            except Unsupported as error:
                said = str(error)
                continue
            if place not in self._rungs:
                await self._journal.note("rung", place.name, rung)
            self._rungs[place] = rung
            return text
        raise ModelError(f"{place.label} accepts none of these formats: {', '.join(rungs)}. {said}")

    async def _send(
        self,
        place: Place,
        turn: Turn,
        messages: list[Message],
        answer: type[BaseModel],
        rung: Method,
    ) -> str:
        sent = as_sent(messages, answer, rung)
        shape = Shape(answer.__name__, strict(answer), rung)
        request = {
            "model": place.name,
            "messages": [[message.type, str(message.content)] for message in sent],
            **{"shape": shape.name, "schema": shape.schema, "method": rung},
        }

        async def ask(tape: Tape) -> str:
            text = await self._endpoint(place).send(sent, shape, turn)
            tape.add({}, text.encode(errors="surrogatepass"))
            return text

        call = Call(turn.role, Request("model", request, about=turn.role), time.monotonic())
        try:
            text = await self._journal.exchange(call.request, ask, last_text)
            await call.answered(self.record, self._journal, text, answer)
            return text
        except NotRecorded:
            if self._new_model is None:
                raise
            text = await self._new_model.reply(turn, messages, answer)
            self._journal.asked_anew()
            return text
        except (SpadeworkError, BudgetSpent) as error:
            await call.failed(self.record, self._journal, error)
            raise

    async def reply(self, turn: Turn, messages: list[Message], answer: type[BaseModel]) -> str:
        """Return the raw reply of a role's model."""
        return await self._reply(self.place(turn.role), turn, messages, answer)

    def _places(self, role: Role) -> list[Place]:
        places = places_of(role, self._settings, self._default)
        return places[1:] if len(places) > 1 and self._resting.get(places[0], 0) > 0 else places

    def _own_model(self, role: Role) -> Place:
        return places_of(role, self._settings, self._default)[0]

    def _replaced(self, role: Role, place: Place, error: ModelError) -> None:
        if not isinstance(error, BadReply | TooLong | NotRecorded):
            passes = isinstance(error, Passing | Busy) or place in self._late
            self._resting[place] = REST * 2 ** self._rests[place] if passes else math.inf
            self._rests[place] += 1
        effect = f"{self._places(role)[-1].label} answered instead."
        said = Problem(stage=role, subject=place.label, reason=str(error), effect=effect)
        self._news.append(said)

    def _endpoint(self, place: Place) -> Endpoint:
        if place not in self._endpoints:
            settings = settings_at(place, self._settings)
            given = (place.name, settings, self._budget, self._journal, self._news)
            self._endpoints[place] = Endpoint(*given)
        return self._endpoints[place]


T = TypeVar("T")


async def first_of(
    model: Model | None,
    role: Role,
    subject: str,
    ask: Callable[[Model], Awaitable[T]],
    extract: Callable[[], T],
    effect: str = "This step was done without the model.",
) -> tuple[T, list[Problem]]:
    """Return the model's answer, or `extract`'s if `model` is None or fails, and any problems."""
    if model is None:
        return await asyncio.to_thread(extract), []
    try:
        answer = await ask(model)
        return answer, model.news(role)
    except (ModelError, BudgetSpent) as error:
        problem = Problem(stage=role, subject=subject, reason=str(error), effect=effect)
        return await asyncio.to_thread(extract), [*model.news(role), problem]

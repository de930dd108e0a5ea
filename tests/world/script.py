"""What a scripted model says: rules of a test, the newest first, and what fits the schema where
none applies.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.filling import fill
from tests.world.naming import named
from tests.world.verdicts import verdicts

Plain = dict[str, Any] | str | Fault
Answer = Plain | Callable[[ChatRequest], Plain | Awaitable[Plain]]
Match = str | Callable[[ChatRequest], bool]
#: What becomes of an answer on its way out.
Twist = Callable[[ChatRequest, Plain], Plain]


@dataclass
class Rule:
    """The answers, in turn, to the requests that match; the last one is repeated."""

    match: Match
    answers: list[Answer]

    def meets(self, request: ChatRequest) -> bool:
        """True when the match is the schema's name, or stands in the messages, or says so
        itself.
        """
        if callable(self.match):
            return self.match(request)
        return self.match == request.schema_name or self.match in request.prompt

    def take(self) -> Answer:
        """The next answer."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Script:
    """The rules of one test. `errors` are those that the test's own functions raised."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.twist: Twist | None = None
        self._rules: tuple[Rule, ...] = ()

    def add(self, match: Match, answers: list[Answer]) -> None:
        """A rule that comes before all others."""
        self._rules = (Rule(match, answers), *self._rules)

    async def answer(self, request: ChatRequest) -> Plain:
        """What the newest rule that meets the request says, twisted; without one, what fits the
        schema.
        """
        try:
            answer = named(request, await self._ruled(request))
            return named(request, self.twist(request, answer)) if self.twist else answer
        except Exception as error:  # noqa: BLE001 (a test's own function: its error must reach the test, not end in a fallback)
            self.errors.append(error)
            return Fault("error")

    async def _ruled(self, request: ChatRequest) -> Plain:
        for rule in self._rules:
            if rule.meets(request):
                answer = await _called(rule.take(), request)
                if not isinstance(answer, Fault) or answer.meets(request):
                    return answer
        return fitting(request)


def fitting(request: ChatRequest) -> Plain:
    """An answer without meaning, in the shape that is asked for."""
    if request.schema_name == "VerdictsAnswer":
        return verdicts(request)
    if request.schema:
        made: dict[str, Any] = fill(request.schema, request.user or request.prompt)
        return made
    return (
        {"answer": "nothing is scripted"}
        if request.shape == "json_object"
        else "Nothing is scripted for this request."
    )


async def _called(answer: Answer, request: ChatRequest) -> Plain:
    if not callable(answer):
        return answer
    given = answer(request)
    return await given if inspect.isawaitable(given) else given

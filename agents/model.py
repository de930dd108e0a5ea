"""The only place that calls a model: asks a role a question and gives back an answer of the asked type.

The ladder of structured output: strict JSON schema, function calling, JSON mode; on the rung that the endpoint takes, one repair
request with the validation error. What still fails raises ModelError, and the caller takes the extractive role.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from spadework.agents.endpoint import Endpoint, Method, Shape, Unsupported
from spadework.budget import Budget
from spadework.errors import BadReply, ModelError, TooLong
from spadework.prompts import Prompt
from spadework.settings import Role, Settings
from spadework.tools.journal import Journal

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

A = TypeVar("A", bound=BaseModel)
#: A request that is too long is cut to this share of its length (S10), this often.
KEPT, MOST_CUTS = 0.7, 4
LADDER: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")

_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n?```\s*$", re.DOTALL)


class Message(NamedTuple):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


class Model:
    """The chat models of a run, by role. `asked` names the models that answered or failed, for the record."""

    def __init__(self, settings: Settings, budget: Budget, journal: Journal, default: str = "") -> None:
        self._settings = settings
        self._budget = budget
        self._journal = journal
        self._default = default
        self._endpoints: dict[str, Endpoint] = {}
        self._rungs: dict[str, Method] = {}
        self._gate = asyncio.Semaphore(settings.model_parallel)

    async def ask(self, role: Role, prompt: Prompt, answer: type[A], *, seconds: float) -> A:
        """The role's answer to `prompt` as an `answer`, within `seconds`.

        Raises ModelError (BadReply, TooLong) when the model does not give one, BudgetSpent when a ceiling is reached.
        """
        name = self._name(role)
        key = {"model": name, "role": role, "prompt": list(prompt), "answer": answer.model_json_schema()}

        async def work() -> A:
            try:
                async with asyncio.timeout(min(seconds, self._settings.model_seconds)):
                    return await self._ask(name, prompt, answer)
            except TimeoutError:
                raise ModelError(f"{self._endpoint(name).name} did not answer in time.") from None

        return await self._journal.once("model", key, answer, work)

    @property
    def settings(self) -> Settings:
        """The settings of the run, as far as roles say them to a model."""
        return self._settings

    def check(self) -> None:
        """Raises SettingsError for a role whose model cannot be used, such as one that lacks its key or its package."""
        for role in get_args(Role):
            self._endpoint(self._name(role))

    async def close(self) -> None:
        """Give back the connections of all endpoints."""
        for endpoint in self._endpoints.values():
            await endpoint.close()

    async def _ask(self, name: str, prompt: Prompt, answer: type[A]) -> A:
        user = prompt.user
        for _ in range(MOST_CUTS):
            try:
                return await self._checked(name, [Message("system", prompt.system), Message("user", user)], answer)
            except TooLong:
                user = user[: int(len(user) * KEPT)]
        raise TooLong(f"The request is too long for {self._endpoint(name).name}, also when it is cut.")

    async def _checked(self, name: str, messages: list[Message], answer: type[A]) -> A:
        """The reply as `answer`, with one repair request when it does not have its shape."""
        text = await self._reply(name, messages, answer)
        try:
            return _parsed(text, answer)
        except ValidationError as error:
            repair = f"That was not a valid answer: {_fault(error)} Answer again with JSON of the asked shape only."
            text = await self._reply(name, [*messages, Message("assistant", text[:4_000]), Message("user", repair)], answer)
        try:
            return _parsed(text, answer)
        except ValidationError as error:
            raise BadReply(f"{self._endpoint(name).name} did not answer in the asked shape: {_fault(error)}") from None

    async def _reply(self, name: str, messages: list[Message], answer: type[A]) -> str:
        """The raw reply on the highest rung of the ladder that the endpoint takes; the rung is remembered."""
        wanted = self._settings.structured_output
        rungs: Sequence[Method] = LADDER if wanted == "auto" else (wanted,)
        if name in self._rungs:
            rungs = (self._rungs[name],)
        for rung in rungs:
            try:
                text = await self._send(name, messages, answer, rung)
            except Unsupported:
                continue
            self._rungs[name] = rung
            return text
        raise ModelError(f"{self._endpoint(name).name} takes none of: {', '.join(rungs)}.")

    async def _send(self, name: str, messages: list[Message], answer: type[A], rung: Method) -> str:
        async with self._gate:
            return await self._endpoint(name).send(_messages(messages, answer, rung), Shape(answer.__name__, _strict(answer), rung))

    def _name(self, role: Role) -> str:
        return self._settings.model_for(role) or self._default

    def _endpoint(self, name: str) -> Endpoint:
        if name not in self._endpoints:
            self._endpoints[name] = Endpoint(name, self._settings, self._budget)
        return self._endpoints[name]


def _messages(messages: list[Message], answer: type[BaseModel], rung: Method) -> list[BaseMessage]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    kinds: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    made = [kinds[m.role](content=m.content) for m in messages]
    if rung == "json_mode":
        made[0] = SystemMessage(content=f"{messages[0].content}\n\nAnswer with JSON only, of this schema:\n{json.dumps(_strict(answer))}")
    return made


def _strict(answer: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema as strict mode wants it: every property required, no others, no defaults."""

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        kept = {key: walk(value) for key, value in node.items() if key not in ("default", "title") or isinstance(value, dict)}
        if isinstance(kept.get("properties"), dict):
            kept |= {"required": list(kept["properties"]), "additionalProperties": False}
        return kept

    schema: dict[str, Any] = walk(answer.model_json_schema())
    return schema


def _parsed(text: str, answer: type[A]) -> A:
    """The answer in a reply: JSON, also after a thought or inside a code fence."""
    text = _THOUGHT.sub("", text)
    fence = _FENCED.match(text)
    return answer.model_validate_json(fence.group(1) if fence else text.strip())


def _fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    where = ".".join(str(part) for part in fault["loc"]) or "the answer"
    return f"{where}: {fault['msg'][:200]}."

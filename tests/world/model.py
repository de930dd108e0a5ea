"""A scripted model behind an OpenAI-compatible server: a test says what it answers, and counts what
it was asked.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.world.background import Background, listen
from tests.world.chat import ChatRequest
from tests.world.completion import Completion, pieces, usage, whole
from tests.world.contract import complaint
from tests.world.fault import Fault, refusal
from tests.world.reception import asked, attend
from tests.world.record import Asked
from tests.world.script import Answer, Match, Plain, Script, Twist, fitting
from tests.world.vectors import embeddings

HOST = "127.0.1.30"


class Model:
    """The model server. `delay` is in seconds before every answer, or before those of the shape
    that `delays` names; `names` are the models it lists, `context_tokens` its limit, `most_at_once`
    the calls that may run at the same time before it answers 429.

    `tells`: what its list says of every model beside the name.
    `counts`: say in every answer how many tokens it took.
    `strict`: refuse what OpenAI refuses (schemas that break strict mode, parameters a reasoning
    model does not take).
    `streams_only`: refuse a request whose answer is not streamed.
    `requests` are the chat requests, `asked` all requests.
    """

    def __init__(self, background: Background) -> None:
        sock = listen(HOST)
        self.url = "http://{}:{}/v1".format(*sock.getsockname())
        self.reset()
        background.serve(self, [sock])

    def reset(self) -> None:
        """An empty log, nothing scripted, every switch as at the start."""
        self.asked: list[Asked] = []
        self.requests: list[ChatRequest] = []
        self.names: tuple[str, ...] = ("world-model",)
        self.tells: dict[str, Any] = {}
        self.delay = 0.0
        self.delays: dict[str, float] = {}
        self.context_tokens: int | None = None
        self.most_at_once: int | None = None
        self.strict = True
        self.streams_only = False
        self.counts = True
        self._script = Script()

    @property
    def errors(self) -> list[Exception]:
        """What the test's own functions raised while they answered."""
        return self._script.errors

    @property
    def env(self) -> dict[str, str]:
        """The environment in which spadework uses this model."""
        return {
            "OPENAI_BASE_URL": self.url,
            "OPENAI_API_KEY": "sk-world-0123456789",
            "SPADEWORK_MODEL": f"openai:{self.names[0]}",
        }

    def script(self, match: Match, *answers: Answer) -> None:
        """Answer the requests that `match` with these, in turn, the last one repeated; of several
        rules the newest counts.

        `match`: the name of the schema, words that stand in the messages ("" for all), or a
        function of the request. An answer: a dict (as JSON in the shape that is asked for), a str
        (as it is), a Fault, or a function (async or not) that gives one of these.
        """
        self._script.add(match, list(answers))

    def twist(self, change: Twist) -> None:
        """Give `change(request, answer)` instead of every answer that is scripted; see
        `tests.world.hostile`.
        """
        self._script.twist = change

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        record = asked("model", scope)
        self.asked.append(record)
        await attend(record, self._answer, (scope, receive, send))

    async def _answer(self, record: Asked) -> Response:
        data = json.loads(record.body or b"{}")
        match record.path:
            case "/v1/models":
                listed = [
                    {"id": name, "object": "model", "created": 1_772_600_000, "owned_by": "world"}
                    | self.tells
                    for name in self.names
                ]
                return JSONResponse({"object": "list", "data": listed})
            case "/v1/embeddings":
                return JSONResponse(embeddings(data))
            case "/v1/chat/completions":
                request = ChatRequest(record, data)
                self.requests.append(request)
                return await self._complete(request)
        return refusal(404, f"Invalid URL ({record.method} {record.path})")

    async def _complete(self, request: ChatRequest) -> Response:
        wrong = complaint(request) if self.strict else ""
        if wrong:
            return refusal(400, wrong)
        if self.streams_only and not request.stream:
            return refusal(400, "This model only supports stream mode: set stream to true.")
        answer = self._overcharged(request) or await self._script.answer(request)
        await asyncio.sleep(self.delays.get(request.schema_name, self.delay))
        failed = answer.response(request) if isinstance(answer, Fault) else None
        if failed:
            return failed
        said = _said(request, answer)
        took = usage(request, said)
        request.used = (took["prompt_tokens"], took["completion_tokens"])
        if request.stream:
            return StreamingResponse(
                pieces(request, said, counts=self.counts), media_type="text/event-stream"
            )
        return JSONResponse(whole(request, said, counts=self.counts))

    def _overcharged(self, request: ChatRequest) -> Fault | None:
        """The fault of a request that is too long or one too many."""
        if self.context_tokens and request.tokens_in > self.context_tokens:
            return Fault("too_long", most=self.context_tokens)
        running = sum(other.ended is None for other in self.requests)
        return (
            Fault("limited", retry_after=0.05)
            if self.most_at_once and running > self.most_at_once
            else None
        )


def _said(request: ChatRequest, answer: Plain) -> Completion:
    """The answer in the shape that the request asks for."""
    if isinstance(answer, Fault):
        return _flawed(request, answer)
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    called = request.tool if request.shape == "tool" or isinstance(answer, dict) else None
    return Completion(text, tool=called["name"] if called else "")


def _flawed(request: ChatRequest, fault: Fault) -> Completion:
    match fault.kind:
        case "refusal":
            return Completion(refusal="I'm sorry, I can't help with that.")
        case "filtered":
            return Completion(finish="content_filter")
        case "truncated":
            said = _said(request, fitting(request))
            return replace(said, text=said.text[: len(said.text) // 2], finish="length")
    return Completion()

"""Routes of the OpenAI-compatible API: models, chat completions and responses."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import ExitStack, aclosing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from spadework.apps.exit import Left, apart
from spadework.apps.openai.chat_completion import (
    AS_IT_COMES,
    News,
    at_once,
    completion_of,
    most_words,
    news_of,
    shorten,
    stream_chunks,
)
from spadework.apps.openai.chat_request import MODELS, ChatRequest, Refused, no_model, read_request
from spadework.apps.openai.responses import (
    ResponseRequest,
    named_here,
    response_at_once,
    response_of,
    stream_response,
)
from spadework.apps.web.page_context import web_of
from spadework.backend import backend_of
from spadework.errors import (
    DaySpent,
    DiskFailed,
    SessionError,
    SessionNotFound,
    SettingsError,
    SpadeworkError,
    Stopping,
)
from spadework.events import Event, Finished
from spadework.sessions import quotas
from spadework.sessions.one_call import Greeted, receive
from spadework.sessions.runs import Runs
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.settings import Settings
from spadework.tools.stores.private_files import write_atomically
from spadework.values import Result

FOLDER = "answers"
_LOG = logging.getLogger(__name__)


async def remember(settings: Settings, answer: str, session_id: str) -> None:
    """Record which session gave an answer, in the database or else on this machine."""
    known, noted = _hash(answer), False
    with suppress(DiskFailed, SettingsError):
        noted = await backend_of(settings).note_answer(settings, known, session_id)
    if not noted:
        try:
            await asyncio.to_thread(_write, settings.home / FOLDER / known, session_id)
        except OSError as error:  # without the record, only follow-ups to the answer fail
            _LOG.warning("The answer of session %s could not be recorded: %s", session_id, error)


async def recall_session(settings: Settings, answer: str) -> str:
    """Return the id of the session that gave an answer, or "" if there is no such session."""
    known = _hash(answer)
    session_id = await backend_of(settings).answered_by(settings, known) or await asyncio.to_thread(
        _read, settings.home / FOLDER / known
    )
    try:
        await backend_of(settings).find(settings, session_id)
        folder = session_folder(settings.home, session_id)
        return (await asyncio.to_thread(read_metadata, folder)).id
    except SessionError:
        return ""


def _write(path: Path, session_id: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, session_id.encode())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _hash(answer: str) -> str:
    # Clients change whitespace, so normalize it.
    return hashlib.sha256(" ".join(answer.split()).encode(errors="replace")).hexdigest()


RunsOf = Callable[[Request], Runs]


class _Form(NamedTuple):
    whole: Callable[[ChatRequest, Result], dict[str, Any]]
    stream: Callable[[AsyncGenerator[News, None], ChatRequest, str], AsyncGenerator[str, None]]
    at_once: Callable[[Greeted, ChatRequest], Response]


_CHAT = _Form(completion_of, stream_chunks, at_once)
_RESPONSE = _Form(response_of, stream_response, response_at_once)
Handler = Callable[[Request], Awaitable[Response]]

#: Maximum running and waiting questions per user.
MOST_AT_ONCE = 100


def openai_routes(runs_of: RunsOf = lambda request: web_of(request).runs) -> list[BaseRoute]:
    """Return the API's routes, without access checks. `runs_of` returns the sender's runs."""
    door = Door(runs_of)
    return [
        Route("/v1/models", models),
        Route("/v1/models/{name}", model),
        Route("/v1/chat/completions", _in_their_shape(door.complete), methods=["POST"]),
        Route("/v1/responses", _in_their_shape(door.respond), methods=["POST"]),
    ]


async def models(request: Request) -> Response:
    """List the models."""
    return JSONResponse({"object": "list", "data": [_model(name) for name in MODELS]})


async def model(request: Request) -> Response:
    """Return one model."""
    name = request.path_params["name"]
    return JSONResponse(_model(name)) if name in MODELS else no_model(name).response()


class Door:
    """Answers requests by starting runs, and limits the number of runs per home folder."""

    def __init__(self, runs_of: RunsOf) -> None:
        self._runs_of = runs_of
        self._going = Counter[Path]()
        self._cancelling: set[asyncio.Task[None]] = set()

    async def complete(self, request: Request) -> Response:
        """Answer a chat completion request. Raises Refused."""
        return await self._answer(request, await read_request(request, ChatRequest), _CHAT)

    async def respond(self, request: Request) -> Response:
        """Answer a Responses API request. Raises Refused."""
        asked = await read_request(request, ResponseRequest)
        try:
            return await self._answer(request, asked.as_chat(), _RESPONSE)
        except Refused as refused:
            raise named_here(refused) from None

    async def _answer(self, request: Request, asked: ChatRequest, form: _Form) -> Response:
        asked.check()
        runs = self._runs_of(request)
        question, _, _ = asked.question()
        greeted = await receive(question, runs.settings, asked.wishes(), asked.most_tokens)
        if not greeted.research:
            return form.at_once(greeted, asked)
        asked.check_research(question)
        with ExitStack() as stack:
            stack.enter_context(self._place(runs.settings.home))
            await quotas.accept(runs.settings)
            session = await _session(asked, runs)
            events = self._until_left(runs, session, asked.most_tokens)
            if asked.stream:
                lines = form.stream(news_of(events), asked, session.session_id)
                return _Stream(lines, stack.pop_all())
            result = await _wait_for_result(request, news_of(events))
        return JSONResponse(form.whole(asked, result))

    @contextmanager
    def _place(self, home: Path) -> Iterator[None]:
        if self._going[home] >= MOST_AT_ONCE:
            raise Refused(
                f"{MOST_AT_ONCE} questions are already running or waiting. Ask again later.",
                status=429,
                code="rate_limit_exceeded",
            )
        self._going[home] += 1
        try:
            yield
        finally:
            self._going[home] -= 1

    async def _until_left(
        self, runs: Runs, session: Session, most_tokens: int
    ) -> AsyncGenerator[Event, None]:
        """Start a run and yield its events. Closing the generator cancels the run."""
        run, session_id = runs.start(session), session.session_id
        try:
            async with aclosing(run.watch(0)) as events:
                async for _, event in events:
                    told = event
                    if isinstance(event, Finished):
                        result = await shorten(event.result, most_tokens)
                        told = Finished(result=result)
                        await remember(runs.settings, result.report, session_id)
                    yield told
        finally:
            if not run.over and not run.finished:
                # The current task is being cancelled, so cancel the run in another task.
                task = asyncio.create_task(_cancel(runs, session_id))
                self._cancelling.add(task)
                task.add_done_callback(self._cancelling.discard)


async def _session(asked: ChatRequest, runs: Runs) -> Session:
    question, earlier, answer = asked.question()
    named = asked.session_id
    await backend_of(runs.settings).find(runs.settings, named)
    settings = runs.settings.with_(effort=MODELS[asked.model], clarify=False, approve=False)

    follows = named or (await recall_session(settings, answer) if answer else "")

    def start() -> Session:
        session = Session.start(question, settings=settings, follows=follows, earlier=earlier)
        return session.wishing(asked.wishes(), most_words(asked.most_tokens))

    try:
        return await asyncio.to_thread(start)
    except SessionNotFound as error:
        raise Refused(
            str(error), status=404, param="metadata.session_id", code="session_not_found"
        ) from None
    except SettingsError as error:
        raise Refused(str(error), param="messages") from None


class _Stream(StreamingResponse):
    """A response that counts toward MOST_AT_ONCE until it ends, even if its stream never starts."""

    def __init__(self, lines: AsyncGenerator[str, None], place: ExitStack) -> None:
        super().__init__(lines, media_type="text/event-stream", headers=AS_IT_COMES)
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._place:
            await super().__call__(scope, receive, send)


async def _wait_for_result(request: Request, news: AsyncGenerator[News, None]) -> Result:

    async def wait_for_leaving() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    try:
        return await apart(_result(news), {"The client disconnected.": wait_for_leaving()})
    except Left as left:
        raise Refused(str(left), status=499) from None


async def _result(news: AsyncGenerator[News, None]) -> Result:
    async with aclosing(news):
        async for told in news:
            if isinstance(told, Refused):
                raise told
            if isinstance(told, Result):
                return told
    raise AssertionError("news end with a result, or with why there is none")


async def _cancel(runs: Runs, session_id: str) -> None:
    with suppress(SessionNotFound):
        await runs.cancel(session_id)


_HOW: tuple[tuple[type[SpadeworkError], tuple[int, str | None]], ...] = (
    (DaySpent, (429, "insufficient_quota")),
    (Stopping, (503, "stopping")),
    (SpadeworkError, (503, None)),
)


def _in_their_shape(handler: Handler) -> Handler:

    async def handled(request: Request) -> Response:
        try:
            return await handler(request)
        except Refused as refused:
            return refused.response()
        except SpadeworkError as error:
            status, code = next(how for kind, how in _HOW if isinstance(error, kind))
            return Refused(f"{error} {error.hint}".strip(), status=status, code=code).response()

    return handled


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "spadework"}

"""OpenAI's Responses API. Its requests are converted to chat requests."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from itertools import count
from typing import Annotated, Any
from uuid import uuid4

from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response, StreamingResponse

from spadework.apps.openai.chat_completion import (
    AS_IT_COMES,
    QUIET,
    REPORT_PIECE,
    News,
    around,
    cite_marks,
    data,
    finish_reason,
)
from spadework.apps.openai.chat_request import ChatRequest, Format, Message, Part, Refused, Role
from spadework.sessions.one_call import Greeted
from spadework.values import Result, Usage

_Json = dict[str, Any]
_PREFIX = "resp_"
#: Id prefix of responses without a session.
_ASIDE = "resp_aside_"
#: This API's names for the parameters of chat requests, for use in error messages.
_PARAMS = {
    "messages": "input",
    "metadata.session_id": "previous_response_id",
    "response_format": "text.format",
}


class Item(BaseModel):
    """An input item. Items without a role are ignored."""

    role: Role | None = None
    content: str | list[Part] | None = None


class TextForm(BaseModel):
    """The requested text format."""

    format: Format | None = None


class ResponseRequest(BaseModel):
    """A request to `/v1/responses`. Sampling parameters have no effect."""

    model: str
    input: str | Annotated[list[Item], Field(max_length=1_000)] = Field(
        description="The question, or a conversation that ends with the question."
    )
    instructions: str | None = Field(None, description="Instructions for the form of the report.")
    stream: bool | None = False
    max_output_tokens: int | None = Field(None, ge=1)
    previous_response_id: str | None = Field(None, description="The response to follow up on.")
    metadata: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = Field(
        None, description="Ignored: the web is always searched, and no function is called."
    )
    tool_choice: Any = Field(None, description="Must not require a function call.")
    text: TextForm | None = None

    def as_chat(self) -> ChatRequest:
        """Convert to the equivalent chat request."""
        said = self.input
        items = [Item(role="user", content=said)] if isinstance(said, str) else said
        wishes = [Message(role="system", content=self.instructions)] if self.instructions else []
        told = [Message(role=item.role, content=item.content) for item in items if item.role]
        before = self.previous_response_id or ""
        follows = before.removeprefix(_PREFIX) if before and not before.startswith(_ASIDE) else ""
        choice, offered = self.tool_choice, [tool.get("type") for tool in self.tools or ()]
        called = choice.get("type") if isinstance(choice, dict) else choice
        requires = "function" in offered and called in ("required", "function")
        return ChatRequest(
            model=self.model,
            messages=[*wishes, *told],
            stream=self.stream,
            max_tokens=self.max_output_tokens,
            tool_choice=choice if requires else None,
            response_format=self.text.format if self.text else None,
            metadata=(self.metadata or {}) | ({"session_id": follows} if follows else {}),
        )


def named_here(refused: Refused) -> Refused:
    """Return the refusal, with its parameter renamed for this API."""
    refused.param = _PARAMS.get(refused.param or "", refused.param)
    return refused


def response_of(asked: ChatRequest, result: Result) -> _Json:
    """Convert a result to a response."""
    body = _body(asked, _PREFIX + result.session_id)
    message = _message(result.report, cite_marks(result))
    return _ended(body, [message], finish_reason(result, asked.most_tokens), result.usage) | around(
        result
    )


async def stream_response(
    news: AsyncGenerator[News, None], asked: ChatRequest, session_id: str
) -> AsyncGenerator[str, None]:
    """Yield a reasoning summary, then the report, as lines. Closing the iterator closes `news`."""
    numbers = count()
    async with aclosing(news), aclosing(_events(news, asked, session_id)) as events:
        async for event in events:
            yield _line(event, next(numbers)) if event else QUIET


def response_at_once(greeted: Greeted, asked: ChatRequest) -> Response:
    """Return an answer that needed no research, whole or as a stream."""
    body, message = _body(asked, _ASIDE + uuid4().hex), _message(greeted.answer, [])
    ended = _ended(body, [message], "stop", greeted.usage)
    if not asked.stream:
        return JSONResponse(ended)
    events = [*_begin(body), *_message_events(message, 0), _last(ended)]
    lines = [_line(event, n) for n, event in enumerate(events)]
    return StreamingResponse(lines, media_type="text/event-stream", headers=AS_IT_COMES)


async def _events(
    news: AsyncGenerator[News, None], asked: ChatRequest, session_id: str
) -> AsyncGenerator[_Json | None, None]:
    body, thought = _body(asked, _PREFIX + session_id), ""
    item: _Json = {"type": "reasoning", "id": f"rs_{uuid4().hex}", "summary": []}
    for event in [*_begin(body), *_reasoning_item(item, thought, "added")]:
        yield event
    async for told in news:
        if told is None:
            yield None
        elif isinstance(told, Refused):
            error = {"code": "server_error", "message": str(told)}
            yield _last(body | {"status": "failed", "error": error})
        elif isinstance(told, Result):
            item |= {"summary": [{"type": "summary_text", "text": thought}]}
            message = _message(told.report, cite_marks(told))
            for event in [*_reasoning_item(item, thought, "done"), *_message_events(message, 1)]:
                yield event
            end = finish_reason(told, asked.most_tokens)
            yield _last(_ended(body, [item, message], end, told.usage) | around(told))
        else:
            thought += told
            yield _of_summary(item, "text.delta", {"delta": told})


def _begin(body: _Json) -> list[_Json]:
    return [{"type": f"response.{kind}", "response": body} for kind in ("created", "in_progress")]


def _last(body: _Json) -> _Json:
    return {"type": f"response.{body['status']}", "response": body}


def _reasoning_item(item: _Json, thought: str, end: str) -> list[_Json]:
    part = _of_summary(item, f"part.{end}", {"part": {"type": "summary_text", "text": thought}})
    whole = {"type": f"response.output_item.{end}", "output_index": 0, "item": item}
    if end == "added":
        return [whole, part]
    return [_of_summary(item, "text.done", {"text": thought}), part, whole]


def _of_summary(item: _Json, kind: str, more: _Json) -> _Json:
    place = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
    return {"type": f"response.reasoning_summary_{kind}"} | place | more


def _message_events(message: _Json, index: int) -> Iterator[_Json]:
    [part] = message["content"]
    place = {"item_id": message["id"], "output_index": index, "content_index": 0}
    empty = {"status": "in_progress", "content": []}
    bare = part | {"text": "", "annotations": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": message | empty}
    yield {"type": "response.content_part.added", "part": bare} | place
    for piece in REPORT_PIECE.findall(part["text"]):
        yield {"type": "response.output_text.delta", "delta": piece, "logprobs": []} | place
    for n, mark in enumerate(part["annotations"]):
        added = {"annotation": mark, "annotation_index": n}
        yield {"type": "response.output_text.annotation.added"} | added | place
    yield {"type": "response.output_text.done", "text": part["text"], "logprobs": []} | place
    yield {"type": "response.content_part.done", "part": part} | place
    yield {"type": "response.output_item.done", "output_index": index, "item": message}


def _body(asked: ChatRequest, name: str) -> _Json:
    return {
        "id": name,
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "model": asked.model,
        "output": [],
        "error": None,
        "incomplete_details": None,
        "max_output_tokens": asked.most_tokens or None,
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "usage": None,
    }


def _ended(body: _Json, output: list[_Json], end: str, used: Usage) -> _Json:
    cut = end == "length"
    usage = {
        "input_tokens": used.tokens_in,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": used.tokens_out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.tokens_in + used.tokens_out,
    }
    return body | {
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": output,
        "usage": usage,
    }


def _message(text: str, notes: list[_Json]) -> _Json:
    marks = [{"type": note["type"]} | note["url_citation"] for note in notes]
    return {
        "type": "message",
        "id": f"msg_{uuid4().hex}",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": marks, "logprobs": []}],
    }


def _line(event: _Json, number: int) -> str:
    return data(event | {"sequence_number": number}, event["type"])

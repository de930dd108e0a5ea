"""An answer that needed no research as a chat completion: small talk, a client's chore."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from starlette.responses import JSONResponse, Response, StreamingResponse

from spadework.apps.openai.chat_completion import completion, head_of
from spadework.apps.openai.chat_request import ChatRequest
from spadework.apps.openai.completion_stream import AS_IT_COMES, DONE, chunk, last_chunk
from spadework.sessions.receptionist import Greeted


def at_once(greeted: Greeted, asked: ChatRequest) -> Response:
    """The completion, whole or as a stream of one piece. It names no session: there is none."""
    head = head_of(uuid4().hex, asked.model)
    said, end = _build_message(greeted, asked)
    if asked.stream:
        head |= {"object": "chat.completion.chunk"}
        used = [last_chunk(head, greeted.usage)] if asked.with_usage else []
        lines = [chunk(head, said), chunk(head, {}, end), *used, DONE]
        return StreamingResponse(lines, media_type="text/event-stream", headers=AS_IT_COMES)
    message = said | {"refusal": None, "annotations": []}
    return JSONResponse(completion(head, message, end, greeted.usage))


def _build_message(greeted: Greeted, asked: ChatRequest) -> tuple[dict[str, Any], str]:
    """The message and why it ends; a chore wanted as arguments of a function is that call."""
    function = _function(asked) if greeted.task else None
    if function is None:
        return {"role": "assistant", "content": greeted.answer}, "stop"
    names = list(_fields(_fields(function.get("parameters")).get("properties")))
    own = next((name for name in names if name == greeted.task), names[0] if names else "answer")
    arguments = dict.fromkeys(names, "") | {own: greeted.answer}
    call = {"name": function["name"], "arguments": json.dumps(arguments, ensure_ascii=False)}
    called = {"index": 0, "id": f"call_{uuid4().hex}", "type": "function", "function": call}
    return {"role": "assistant", "content": None, "tool_calls": [called]}, "tool_calls"


def _function(asked: ChatRequest) -> dict[str, Any] | None:
    found = _fields(_fields(next(iter(asked.tools or ()), None)).get("function"))
    return found if isinstance(found.get("name"), str) else None


def _fields(given: Any) -> dict[str, Any]:
    """An object of a client's JSON; empty for whatever else stands there."""
    return given if isinstance(given, dict) else {}

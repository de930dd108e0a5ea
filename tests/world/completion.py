"""A chat completion as OpenAI words it: in one piece, or as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.world.chat import ChatRequest, tokens

#: Characters of one streamed piece.
PIECE = 24


@dataclass(frozen=True)
class Completion:
    """What the model says: text, or the arguments of a tool call, or a refusal."""

    text: str = ""
    tool: str = ""
    refusal: str = ""
    finish: str = "stop"

    def message(self) -> dict[str, Any]:
        """The assistant's message."""
        if self.tool:
            call = {
                "id": "call_1",
                "type": "function",
                "function": {"name": self.tool, "arguments": self.text},
            }
            return {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
        return {
            "role": "assistant",
            "content": None if self.refusal else self.text,
            "refusal": self.refusal or None,
        }

    @property
    def reason(self) -> str:
        """Why it ended: stop, length, content_filter, tool_calls."""
        return "tool_calls" if self.tool and self.finish == "stop" else self.finish


def whole(request: ChatRequest, said: Completion, *, counts: bool = True) -> dict[str, Any]:
    """The answer in one piece."""
    choice = {"index": 0, "message": said.message(), "logprobs": None, "finish_reason": said.reason}
    used = {"usage": usage(request, said)} if counts else {}
    return _head(request, "chat.completion") | {"choices": [choice]} | used


def pieces(request: ChatRequest, said: Completion, *, counts: bool = True) -> Iterator[str]:
    """The answer as server-sent events, with the usage at the end when the request asks for it."""
    head = _head(request, "chat.completion.chunk")

    def event(delta: dict[str, Any], finish: str | None = None) -> str:
        return _event(
            head
            | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}
        )

    yield event(_opening(said))
    text = said.refusal or said.text
    for at in range(0, len(text), PIECE):
        yield event(_delta(said, text[at : at + PIECE]))
    yield event({}, said.reason)
    if counts and request.data.get("stream_options", {}).get("include_usage"):
        yield _event(head | {"choices": [], "usage": usage(request, said)})
    yield "data: [DONE]\n\n"


def usage(request: ChatRequest, said: Completion) -> dict[str, Any]:
    """The tokens of a request and its answer."""
    told, answered = request.tokens_in, tokens(said.refusal or said.text)
    return {"prompt_tokens": told, "completion_tokens": answered, "total_tokens": told + answered}


def _head(request: ChatRequest, kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": kind,
        "created": 1_772_600_000,
        "model": request.model,
        "system_fingerprint": None,
    }


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _opening(said: Completion) -> dict[str, Any]:
    if not said.tool:
        return {"role": "assistant", "content": ""}
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": said.tool, "arguments": ""},
    }
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _delta(said: Completion, piece: str) -> dict[str, Any]:
    if said.tool:
        return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
    return {"refusal": piece} if said.refusal else {"content": piece}

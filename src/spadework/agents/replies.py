"""What stands in a reply of a chat model: its text, what it took, whether it was thought over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from spadework.agents.answer_shape import begins_with_thought
from spadework.tools.text import tokens

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage


def used_by(reply: AIMessage, tokens_in: int) -> tuple[int, int]:
    """Tokens in and out; counted here where the endpoint does not say."""
    usage = reply.usage_metadata
    if not usage:
        return tokens_in, tokens.count(text_of(reply))
    return max(0, usage["input_tokens"]), max(0, usage["output_tokens"])


def thinks(reply: AIMessage) -> bool:
    """Whether the model has thought before it answered, by its usage or its text."""
    usage = reply.usage_metadata
    told = usage.get("output_token_details", {}).get("reasoning", 0) if usage else 0
    return bool(told) or begins_with_thought(text_of(reply))


def text_of(reply: AIMessage) -> str:
    """The text of a reply, or the arguments of its tool call as JSON."""
    calls = [call["args"] for call in reply.tool_calls]
    broken = [call["args"] or "" for call in reply.invalid_tool_calls]
    return json.dumps(calls[0]) if calls else broken[0] if broken else str(reply.text)

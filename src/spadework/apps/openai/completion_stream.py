"""A run as a stream of chunks: what is done as `reasoning_content`, the report as `content`."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from spadework.apps.openai.api_errors import Refused
from spadework.apps.openai.chat_completion import around, cite_marks, finish_reason, used_tokens
from spadework.apps.pauses import with_pauses
from spadework.apps.terminal.progress import word_event
from spadework.events import Ended, Event, Finished
from spadework.tools.export.markdown_report import escape_markdown
from spadework.values import Result, Usage

AS_IT_COMES = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
#: After so many seconds without news a comment is sent, so that nothing on the way takes the
#: connection for dead.
QUIET_SECONDS = 15.0

_PIECE = re.compile(r".+?(?:\n\n|\Z)", re.DOTALL)
DONE = "data: [DONE]\n\n"


async def stream_chunks(
    events: AsyncGenerator[Event, None],
    head: dict[str, Any],
    most_tokens: int = 0,
    *,
    with_usage: bool,
) -> AsyncGenerator[str, None]:
    """The lines of the stream; leaving it closes `events`."""
    head = head | {"object": "chat.completion.chunk"}
    async with aclosing(events), aclosing(with_pauses(events, QUIET_SECONDS)) as told:
        yield chunk(head, {"role": "assistant", "content": ""})
        async for event in told:
            if event is None:
                yield ": still researching\n\n"
            elif isinstance(event, Finished):
                end = finish_reason(event.result, most_tokens)
                for line in _report(event.result, head, end, with_usage=with_usage):
                    yield line
                return
            elif isinstance(event, Ended):
                yield _word_failure(event.text or "The research was cancelled.")
                return
            elif text := word_event(event):
                # Markdown, which clients draw: a page's title is not to be more than words in it.
                lines = (f"{escape_markdown(line)}\n" for line in text.split("\n"))
                yield chunk(head, {"reasoning_content": "".join(lines)})
        yield _word_failure("The server is being stopped; the research can be taken up.")


def _report(result: Result, head: dict[str, Any], end: str, *, with_usage: bool) -> list[str]:
    lines = [chunk(head, {"content": piece}) for piece in _PIECE.findall(result.report)]
    lines.append(chunk(head | around(result), {"annotations": cite_marks(result)}, end))
    return [*lines, *([last_chunk(head, result.usage)] if with_usage else []), DONE]


def chunk(head: dict[str, Any], delta: dict[str, Any], end: str | None = None) -> str:
    """A line of the stream with what is new; `end` says why it ends."""
    choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
    return _data(head | {"choices": [choice]})


def last_chunk(head: dict[str, Any], used: Usage) -> str:
    """The line with what was used."""
    return _data(head | {"choices": [], "usage": used_tokens(used)})


def _word_failure(text: str) -> str:
    return _data(Refused(text, status=503, code="research_failed").shape()) + DONE


def _data(body: dict[str, Any]) -> str:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"

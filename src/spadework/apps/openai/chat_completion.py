"""Convert results to chat completions. Streams carry progress as `reasoning_content` and the
report as `content`. Small talk, and clients' automatic requests (such as for a title), are
answered without research.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Any
from uuid import uuid4

from markdown_it import MarkdownIt
from starlette.responses import JSONResponse, Response, StreamingResponse

from spadework.apps.exit import with_pauses
from spadework.apps.openai.chat_request import ChatRequest, Refused
from spadework.apps.terminal.live_run import word_event
from spadework.events import Ended, Event, Finished
from spadework.sessions.one_call import Greeted
from spadework.tools.export.compressed import largest, shorten_report
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.text import tokens
from spadework.values import Result, Usage

#: A low estimate of the number of words per token in a report, including its citation marks and
#: list of sources.
WORDS_A_TOKEN = 0.4
_MARKDOWN = MarkdownIt("commonmark")
_MARK = re.compile(r"(?<!\\)\[(\d{1,4})\](?!\()")
#: Matches the list of sources at the end of a report.
_SOURCES = re.compile(r"\n\n(## [^\n]+)\n\n((?:\d+\. [^\n]+\n)+)(?:\n[^\n]+\n)?\Z")
_SOURCE = re.compile(r"^((\d+)\. .+)$", re.MULTILINE)
_FRAGMENT = re.compile(r"#:~:text=[^)\s]*")
_CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


def most_words(most_tokens: int) -> int:
    """Convert a token limit to a word limit. 0 means no limit."""
    return max(1, int(WORDS_A_TOKEN * most_tokens)) if most_tokens else 0


async def shorten(result: Result, most_tokens: int) -> Result:
    """Return the result with its report cut to at most `most_tokens` tokens (0 means no limit). The
    report is cut between blocks, and its list of sources keeps only the sources still cited.
    """
    if not most_tokens:
        return result
    await tokens.ready()
    shorten = _shortener(result.report)

    def fits(chars: int) -> bool:
        return tokens.count(shorten(chars)) <= most_tokens

    chars = await asyncio.to_thread(largest, len(result.report), fits)
    return result.model_copy(update={"report": shorten(chars)})


def _shortener(report: str) -> Callable[[int], str]:
    listed = _SOURCES.search(report)
    body = report[: listed.start()] if listed else report
    lines = _SOURCE.findall(_FRAGMENT.sub("", listed[2])) if listed else []

    def shorten(chars: int) -> str:
        if chars >= len(report):
            return report
        text = shorten_report(body, chars)
        cited = {str(n) for _, _, n in _marks(text)}
        kept = "\n".join(line for line, n in lines if n in cited)
        return f"{text}\n\n{listed[1]}\n\n{kept}" if listed and kept else text

    return shorten


def finish_reason(result: Result, most_tokens: int) -> str:
    """Return why a completion ends: "stop" if the report is whole, "length" if it was cut."""
    whole = not most_tokens or result.report.endswith("\n")
    return "stop" if whole else "length"


def completion_of(asked: ChatRequest, result: Result) -> dict[str, Any]:
    """Convert a result to a non-streamed completion."""
    head, end = head_of(result.session_id, asked.model), finish_reason(result, asked.most_tokens)
    return completion(head, _message_of(result), end, result.usage) | around(result)


def _message_of(result: Result) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": result.report,
        "refusal": None,
        "annotations": cite_marks(result),
    }


def around(result: Result) -> dict[str, Any]:
    """Return the fields that spadework adds to OpenAI's format: source URLs and session data."""
    last = max((n for _, _, n in _marks(result.report)), default=0)
    urls = [source.url for source in result.sources if source.n <= last]
    return {
        "citations": urls,
        "spadework": {
            "session_id": result.session_id,
            "status": result.status,
            "confidence": result.confidence,
            "unread": [one.model_dump() for one in result.unread],
            "problems": [one.model_dump() for one in result.problems],
        },
    }


def cite_marks(result: Result) -> list[dict[str, Any]]:
    """Return the report's [n] marks outside code as citations, with positions in code points."""
    sources = {source.n: source for source in result.sources}
    found = [(start, end, sources[n]) for start, end, n in _marks(result.report) if n in sources]
    cited = [
        {"start_index": start, "end_index": end, "title": source.title, "url": source.url}
        for start, end, source in found
    ]
    return [{"type": "url_citation", "url_citation": citation} for citation in cited]


def head_of(name: str, model: str) -> dict[str, Any]:
    """Return the fields that all completions and chunks share. `name` becomes part of the id."""
    return {"id": f"chatcmpl-{name}", "created": int(time.time()), "model": model}


def completion(
    head: dict[str, Any], message: dict[str, Any], end: str, used: Usage
) -> dict[str, Any]:
    """Build a non-streamed completion."""
    choice = {"index": 0, "message": message, "finish_reason": end, "logprobs": None}
    whole = {"object": "chat.completion", "choices": [choice], "usage": used_tokens(used)}
    return head | whole


def used_tokens(used: Usage) -> dict[str, Any]:
    """Convert token counts to OpenAI's `usage` format."""
    return {
        "prompt_tokens": used.tokens_in,
        "completion_tokens": used.tokens_out,
        "total_tokens": used.tokens_in + used.tokens_out,
    }


def _marks(report: str) -> Iterator[tuple[int, int, int]]:
    starts = [0]
    for line in report.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for token in _MARKDOWN.parse(report):
        if token.type != "inline" or token.map is None:
            continue
        begin, end = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
        text = _CODE.sub(lambda code: " " * len(code[0]), report[begin:end])
        for mark in _MARK.finditer(text):
            yield begin + mark.start(), begin + mark.end(), int(mark[1])


AS_IT_COMES = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
#: Seconds of silence before an SSE comment is sent to keep proxy connections open.
QUIET_SECONDS = 15.0

News = str | Result | Refused | None
#: Matches a piece of the report that is sent as one chunk.
REPORT_PIECE = re.compile(r".+?(?:\n\n|\Z)", re.DOTALL)
QUIET = ": still researching\n\n"
DONE = "data: [DONE]\n\n"


async def news_of(events: AsyncGenerator[Event, None]) -> AsyncGenerator[News, None]:
    """Yield progress lines, None after every QUIET_SECONDS without an event, and finally a result
    or a refusal. Closing the iterator closes `events`.
    """
    async with aclosing(events), aclosing(with_pauses(events, QUIET_SECONDS)) as told:
        async for event in told:
            if event is None:
                yield None
            elif isinstance(event, Finished):
                yield event.result
                return
            elif isinstance(event, Ended):
                yield _failure(event.text or "The research was cancelled.")
                return
            elif text := word_event(event):
                # Clients render Markdown, and page titles may contain it, so escape it.
                yield "".join(f"{escape_markdown(line)}\n" for line in text.split("\n"))
        yield _failure("The server is stopping; the research can be resumed.")


async def stream_chunks(
    news: AsyncGenerator[News, None], asked: ChatRequest, session_id: str
) -> AsyncGenerator[str, None]:
    """Yield a streamed completion's lines. Closing the iterator closes `news`."""
    head = head_of(session_id, asked.model) | {"object": "chat.completion.chunk"}
    async with aclosing(news):
        yield _chunk(head, {"role": "assistant", "content": ""})
        async for told in news:
            if told is None:
                yield QUIET
            elif isinstance(told, Result):
                end = finish_reason(told, asked.most_tokens)
                for line in _report(told, head, end, with_usage=asked.with_usage):
                    yield line
            elif isinstance(told, Refused):
                yield data(told.shape()) + DONE
            else:
                yield _chunk(head, {"reasoning_content": told})


def _report(result: Result, head: dict[str, Any], end: str, *, with_usage: bool) -> list[str]:
    lines = [_chunk(head, {"content": piece}) for piece in REPORT_PIECE.findall(result.report)]
    lines.append(_chunk(head | around(result), {"annotations": cite_marks(result)}, end))
    return [*lines, *([_last_chunk(head, result.usage)] if with_usage else []), DONE]


def _chunk(head: dict[str, Any], delta: dict[str, Any], end: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
    return data(head | {"choices": [choice]})


def _last_chunk(head: dict[str, Any], used: Usage) -> str:
    return data(head | {"choices": [], "usage": used_tokens(used)})


def at_once(greeted: Greeted, asked: ChatRequest) -> Response:
    """Return a completion that needed no research, whole or as a stream."""
    head = head_of(uuid4().hex, asked.model)
    said, end = _build_message(greeted, asked)
    if asked.stream:
        head |= {"object": "chat.completion.chunk"}
        used = [_last_chunk(head, greeted.usage)] if asked.with_usage else []
        lines = [_chunk(head, said), _chunk(head, {}, end), *used, DONE]
        return StreamingResponse(lines, media_type="text/event-stream", headers=AS_IT_COMES)
    message = said | {"refusal": None, "annotations": []}
    return JSONResponse(completion(head, message, end, greeted.usage))


def _build_message(greeted: Greeted, asked: ChatRequest) -> tuple[dict[str, Any], str]:
    """Return a message and its finish reason. If a client's automatic request asks for JSON or a
    function call, the message has that form.
    """
    function, format_ = _function(asked, greeted.task), asked.response_format
    wanted = function.get("parameters") if function else format_ and format_.shape()
    if not greeted.task or not (function or wanted):
        return {"role": "assistant", "content": greeted.answer}, "stop"
    names = list(_fields(_fields(wanted).get("properties")))
    own = next((name for name in names if name == greeted.task), names[0] if names else "answer")
    arguments = json.dumps(dict.fromkeys(names, "") | {own: greeted.answer}, ensure_ascii=False)
    if not function:
        return {"role": "assistant", "content": arguments}, "stop"
    call = {"name": function["name"], "arguments": arguments}
    called = {"index": 0, "id": f"call_{uuid4().hex}", "type": "function", "function": call}
    return {"role": "assistant", "content": None, "tool_calls": [called]}, "tool_calls"


def _function(asked: ChatRequest, task: str) -> dict[str, Any] | None:
    choice, tools = asked.tool_choice, [_fields(tool).get("function") for tool in asked.tools or ()]
    offered = [tool for tool in map(_fields, tools) if isinstance(tool.get("name"), str)]
    if named := _fields(_fields(choice).get("function")).get("name"):
        return next((tool for tool in offered if tool["name"] == named), None)
    [only] = offered if len(offered) == 1 else [{}]
    fits = task in _fields(_fields(only.get("parameters")).get("properties"))
    return only if choice == "required" or (fits and choice != "none") else None


def _fields(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _failure(text: str) -> Refused:
    return Refused(text, status=503, code="research_failed")


def data(body: dict[str, Any], event: str = "") -> str:
    """Format a server-sent event."""
    named = f"event: {event}\n" if event else ""
    return f"{named}data: {json.dumps(body, ensure_ascii=False)}\n\n"

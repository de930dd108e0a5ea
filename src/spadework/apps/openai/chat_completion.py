"""Convert a result to a chat completion. Marks become annotations, sources become citations."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from markdown_it import MarkdownIt

from spadework.apps.openai.chat_request import ChatRequest
from spadework.tools.export.compressed import largest, shorten_report
from spadework.tools.text import tokens
from spadework.values import Result, Usage

#: Words per token of a report, including marks and sources (docs/examples: 0.36 and 0.45).
WORDS_A_TOKEN = 0.4
_MARKDOWN = MarkdownIt("commonmark")
_MARK = re.compile(r"(?<!\\)\[(\d{1,4})\](?!\()")
#: The list of sources at the end of a report.
_SOURCES = re.compile(r"\n\n(## [^\n]+)\n\n((?:\d+\. [^\n]+\n)+)(?:\n[^\n]+\n)?\Z")
_SOURCE = re.compile(r"^((\d+)\. .+)$", re.MULTILINE)
_FRAGMENT = re.compile(r"#:~:text=[^)\s]*")
_CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


def most_words(most_tokens: int) -> int:
    """Convert a token limit to a limit in words. 0 means no limit."""
    return max(1, int(WORDS_A_TOKEN * most_tokens)) if most_tokens else 0


async def shorten(result: Result, most_tokens: int) -> Result:
    """Cut a result's report to the whole blocks that fit, with only the sources they cite."""
    if not most_tokens:
        return result
    await tokens.ready()
    shorten = _shortener(result.report)

    def fits(chars: int) -> bool:
        return tokens.count(shorten(chars)) <= most_tokens

    chars = await asyncio.to_thread(largest, len(result.report), fits)
    return result.model_copy(update={"report": shorten(chars)})


def _shortener(report: str) -> Callable[[int], str]:
    """Return a function that cuts a report to a number of characters. A cut report has no text
    fragments in its links and no uncited sources.
    """
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
    """Convert a result to a whole completion."""
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
    """Return extra fields: source URLs up to the last cited, session, unread pages and problems."""
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
    """Return the [n] marks outside code as citations, with positions in code points."""
    sources = {source.n: source for source in result.sources}
    found = [(start, end, sources[n]) for start, end, n in _marks(result.report) if n in sources]
    cited = [
        {"start_index": start, "end_index": end, "title": source.title, "url": source.url}
        for start, end, source in found
    ]
    return [{"type": "url_citation", "url_citation": citation} for citation in cited]


def head_of(name: str, model: str) -> dict[str, Any]:
    """Return the first fields of a completion or chunk."""
    return {"id": f"chatcmpl-{name}", "created": int(time.time()), "model": model}


def completion(
    head: dict[str, Any], message: dict[str, Any], end: str, used: Usage
) -> dict[str, Any]:
    """Build a whole completion."""
    choice = {"index": 0, "message": message, "finish_reason": end, "logprobs": None}
    whole = {"object": "chat.completion", "choices": [choice], "usage": used_tokens(used)}
    return head | whole


def used_tokens(used: Usage) -> dict[str, Any]:
    """Convert token counts to OpenAI's usage."""
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

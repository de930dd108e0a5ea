"""Classification of a model's reply, in any server's form: answered, withheld, empty, cut or
error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from spadework.agents.llm.structured_output import holds_object, split_thought

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

#: `empty`: at most reasoning. `cut`: stopped at its limit.
Kind = Literal["answered", "withheld", "empty", "cut", "error"]
#: Maximum plausible token count.
MOST_TOKENS = 1_000_000_000
#: Maximum seconds a server can ask to wait; later it may have restarted.
LONGEST_PAUSE = 3_600.0

#: Error code of a reply that is not JSON.
NOT_JSON = "not_json"
#: Servers' reasons for the end of an answer.
_CUT = re.compile(r"length|max_?(?:output_)?tokens", re.IGNORECASE)
_FILTERED = re.compile(
    r"filter|safety|refus|recitation|prohibit|block|sensitive|moderat|guardrail|spii|content.?polic|responsible.?ai",
    re.IGNORECASE,
)
_BROKEN = re.compile(r"error|abort|insufficient_system|cancel", re.IGNORECASE)
#: Statuses of errors named only in words.
_STATUSES = (
    (429, re.compile(r"rate.?limit|too.?many.?requests|resource.?exhausted", re.IGNORECASE)),
    (402, re.compile(r"quota|credit|billing|payment|balance", re.IGNORECASE)),
    (401, re.compile(r"unauthori|authentication|api.?key", re.IGNORECASE)),
    (400, re.compile(r"invalid.?request|bad.?request|invalid.?argument", re.IGNORECASE)),
)


@dataclass(frozen=True)
class ServerReply:
    """A reply: its text if answered or cut; else the server's reason, the `status` and `code` of an
    error, and the seconds `after` which to retry (None if not stated). `usage` is tokens in and
    out, if counted; `thought`, whether the model reasoned first.
    """

    kind: Kind
    text: str = ""
    reason: str = ""
    status: int = 200
    code: str = ""
    after: float | None = None
    usage: tuple[int, int] | None = None
    thought: bool = False


class ErrorReply(Exception):
    """A server replied with an error."""

    def __init__(self, reply: ServerReply) -> None:
        super().__init__(reply.reason)
        self.reply = reply


def read_reply(status: int, headers: Mapping[str, str], body: bytes) -> ServerReply:
    """Return the reply in a response in OpenAI's protocol, whole or as server-sent events,
    whichever was requested.
    """
    text = body.decode("utf-8-sig", errors="replace").strip()
    try:
        data = _merged(_events(text)) if text.startswith(("data:", "event:", ":")) else _json(text)
    except (ValueError, RecursionError):
        data = text
        if status < 300:
            what = "a web page" if text.startswith("<") else "words" if text else "nothing"
            return ServerReply("error", reason=f"{what} in place of JSON", code=NOT_JSON)
    data = data[0] if isinstance(data, list) and len(data) == 1 else data  # Gemini's errors
    if error := error_in(data, status):
        after = seconds_of(headers.get("retry-after", ""))
        words, status, code = error
        filtered = status < 500 and _FILTERED.search(code)
        kind: Kind = "withheld" if filtered else "error"
        return ServerReply(kind, reason=words, status=status, code=code, after=after)
    return _of_choice(data)


def error_in(data: Any, status: int) -> tuple[str, int, str] | None:
    """Return message, status and code of the error in a body, or None. The status is the
    response's, or the error's own if the response is a success.
    """
    body = data if isinstance(data, dict) else {}
    failed = status >= 300 or body.get("object") == "error"
    error = body.get("error") or (data if failed else None)
    if not (error or failed):
        return None
    named = error if isinstance(error, dict) else {}
    words = _words(error)
    codes = [named.get("code"), named.get("status"), named.get("type")]
    code = next((str(c) for c in codes if c and not str(c).isdigit()), "")
    if status < 300:
        numbers = [int(c) for c in map(str, codes) if re.fullmatch("[45][0-9]{2}", c)]
        numbers += [n for n, word in _STATUSES if word.search(f"{code} {words}")]
        status = next(iter(numbers), 500)
    return words, status, code


def reply_of(message: AIMessage) -> ServerReply:
    """Return the reply in a LangChain message, for a provider with its own library."""
    calls = [json.dumps(call["args"]) for call in message.tool_calls]
    calls += [call["args"] or "" for call in message.invalid_tool_calls]
    meta, told = message.response_metadata, message.usage_metadata
    counts = (told["input_tokens"], told["output_tokens"]) if told else (0, 0)
    usage = dict(zip(("prompt_tokens", "completion_tokens"), counts, strict=True))
    thought = told.get("output_token_details", {}).get("reasoning", 0) if told else 0
    finish = meta.get("finish_reason") or meta.get("stop_reason") or ""
    refusal = message.additional_kwargs.get("refusal") or ""
    said = _Said(calls[0] if calls else str(message.text), "", str(refusal), str(finish))
    return _decide(said, _usage(usage), thought=bool(thought))


def seconds_of(retry_after: str) -> float | None:
    """Return the seconds of a Retry-After header, 0..LONGEST_PAUSE; None for none or a date."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return None
    return min(seconds, LONGEST_PAUSE) if 0 <= seconds < math.inf else None


@dataclass(frozen=True)
class _Said:
    """A model's text, reasoning and refusal, and why it ended."""

    text: str
    thought: str
    refusal: str
    finish: str


def _of_choice(data: Any) -> ServerReply:
    body = data if isinstance(data, dict) else {}
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        feedback = json.dumps([body.get("promptFeedback"), body.get("prompt_filter_results")])
        if "blockReason" in feedback or '"filtered": true' in feedback:
            return ServerReply("withheld", reason="The request was filtered.")
        return ServerReply("error", reason="no choices", code="no_choices")
    if error := error_in(choice, 200):
        return ServerReply("error", reason=error[0], status=error[1], code=error[2])
    message = choice.get("message") or choice.get("delta") or {"content": choice.get("text")}
    if not isinstance(message, dict):
        message = {"content": message}
    used, finish = body.get("usage"), choice.get("finish_reason") or body.get("done_reason") or ""
    thoughts = (message.get(name) for name in ("reasoning_content", "reasoning", "thinking"))
    thought = next((_text(each) for each in thoughts if each), "")
    text = _arguments(message) or _text(message.get("content"))
    said = _Said(text, thought, _text(message.get("refusal")), str(finish))
    details = used.get("completion_tokens_details") if isinstance(used, dict) else None
    reasoned = isinstance(details, dict) and bool(details.get("reasoning_tokens"))
    return _decide(said, _usage(used), thought=reasoned)


def _decide(said: _Said, usage: tuple[int, int] | None, *, thought: bool) -> ServerReply:
    within, answer = split_thought(said.text)
    thought = thought or bool(within or said.thought)
    if _FILTERED.search(said.finish) or (said.refusal and not answer):
        return ServerReply("withheld", reason=said.refusal or said.finish, usage=usage)
    if _CUT.search(said.finish):
        return ServerReply("cut", said.text, usage=usage, thought=thought)
    if answer:
        return ServerReply("answered", said.text, usage=usage, thought=thought)
    if _BROKEN.search(said.finish):
        return ServerReply("error", reason=f"It ended with {said.finish}.", status=503)
    held = said.thought or within
    if holds_object(held):
        return ServerReply("answered", held, usage=usage, thought=thought)
    return ServerReply("empty", usage=usage, thought=thought)


def _arguments(message: Mapping[str, Any]) -> str:
    """Return the arguments of the first tool call as JSON, "" if there is none."""
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else message.get("function_call")
    call = call.get("function", call) if isinstance(call, dict) else None
    return _text(call.get("arguments")) if isinstance(call, dict) else ""


def _text(content: Any) -> str:
    """Return the text of a content: a string, parts, or parsed JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(p, dict) and "type" in p for p in content):
        return "".join(str(p["text"]) for p in content if p.get("type") == "text" and "text" in p)
    return "" if content is None else json.dumps(content)


def _usage(told: Any) -> tuple[int, int] | None:
    """Return tokens in and out if the server gives two positive numbers."""
    body = told if isinstance(told, dict) else {}
    counts = [body.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in counts):
        return None
    count_in, count_out = (min(n, MOST_TOKENS) for n in counts if isinstance(n, int))
    return count_in, count_out


def _words(error: Any) -> str:
    if isinstance(error, dict):
        found = [error.get(name) for name in ("message", "detail", "error", "msg", "code")]
        meta = error.get("metadata")
        raw = meta.get("raw") if isinstance(meta, dict) else None
        said = " ".join(_words(each) for each in (next(filter(None, found), ""), raw) if each)
    else:
        said = error if isinstance(error, str) else json.dumps(error)
    said = " ".join(said.split())
    return "" if said.startswith("<") else "".join(c for c in said if c.isprintable())


def _json(text: str) -> Any:
    return json.loads(text, strict=False)


def _events(text: str) -> Iterable[Any]:
    for line in text.splitlines():
        data = line.removeprefix("data:").strip()
        if line.startswith("data:") and data and data != "[DONE]":
            yield _json(data)


def _merged(events: Iterable[Any]) -> Any:
    """Return the body assembled from server-sent events."""
    message: dict[str, Any] = {}
    whole: dict[str, Any] = {"choices": [{"message": message, "finish_reason": None}]}
    for event in events:
        if not isinstance(event, dict) or error_in(event, 200):
            return event
        whole["usage"] = event.get("usage") or whole.get("usage")
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            continue
        if error_in(choice, 200):
            return event
        ended = choice.get("finish_reason") or whole["choices"][0]["finish_reason"]
        whole["choices"][0]["finish_reason"] = ended
        piece = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
        if isinstance(piece, dict):
            _add(message, piece)
    return whole


def _add(message: dict[str, Any], piece: Mapping[str, Any]) -> None:
    for name, value in piece.items():
        if name == "tool_calls":
            call = {"function": {"arguments": _arguments(message) + _arguments(piece)}}
            message[name] = [call]
        elif value is not None:
            message[name] = message.get(name, "") + _text(value)

"""Parse any model server's reply."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from spadework.agents.llm.structured_output import holds_object, split_thought
from spadework.errors import BadReply, ModelError
from spadework.tools.fetch.exchange import certificate_fault

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage


#: An `empty` reply contains no text except reasoning. A `cut` reply reached its token limit.
Kind = Literal["answered", "withheld", "empty", "cut", "error"]
MOST_TOKENS = 1_000_000_000
#: The longest pause, in seconds, that a server may request.
LONGEST_PAUSE = 3_600.0

NOT_JSON = "not_json"
#: Finish reasons of cut, withheld and broken answers. Any other reason is normal.
_CUT = re.compile(r"length|max_?(?:output_)?tokens", re.IGNORECASE)
_FILTERED = re.compile(
    r"filter|safety|refus|recitation|prohibit|block|sensitive|moderat|guardrail|spii|content.?polic|responsible.?ai",
    re.IGNORECASE,
)
_BROKEN = re.compile(r"error|abort|insufficient_system|cancel", re.IGNORECASE)
#: The HTTP statuses to assume for errors that are described only in words.
_STATUSES = (
    (429, re.compile(r"rate.?limit|too.?many.?requests|resource.?exhausted", re.IGNORECASE)),
    (402, re.compile(r"quota|credit|billing|payment|balance", re.IGNORECASE)),
    (401, re.compile(r"unauthori|authentication|api.?key", re.IGNORECASE)),
    (400, re.compile(r"invalid.?request|bad.?request|invalid.?argument", re.IGNORECASE)),
)


@dataclass(frozen=True)
class ServerReply:
    """A server's reply.
    - `text`: the answer, if the kind is "answered" or "cut".
    - `reason`: the server's explanation, if the kind is any other.
    - `status`, `code`: an error's HTTP status, and its code or "".
    - `after`: the number of seconds that the server asks us to wait.
    - `usage`: the numbers of input and output tokens, if known.
    - `thought`: whether the model reasoned.
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
    """Raised when a server replies with an error."""

    def __init__(self, reply: ServerReply) -> None:
        super().__init__(reply.reason)
        self.reply = reply


def read_reply(status: int, headers: Mapping[str, str], body: bytes) -> ServerReply:
    """Parse a response in OpenAI's protocol, whole or as server-sent events."""
    text = body.decode("utf-8-sig", errors="replace").strip()
    try:
        data = _merged(_events(text)) if text.startswith(("data:", "event:", ":")) else _json(text)
    except (ValueError, RecursionError):
        data = text
        if status < 300:
            what = "a web page" if text.startswith("<") else "words" if text else "nothing"
            return ServerReply("error", reason=f"{what} in place of JSON", code=NOT_JSON)
    # Gemini wraps an error in a list.
    data = data[0] if isinstance(data, list) and len(data) == 1 else data
    if error := error_in(data, status):
        after = seconds_of(headers.get("retry-after", ""))
        words, status, code = error
        filtered = status < 500 and _FILTERED.search(code)
        kind: Kind = "withheld" if filtered else "error"
        return ServerReply(kind, reason=words, status=status, code=code, after=after)
    return _of_choice(data)


def error_in(data: Any, status: int) -> tuple[str, int, str] | None:
    """Find an error, even if `status` is 200. Return its message, status and code, or None."""
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
    """Convert a LangChain message from a provider's client to a ServerReply."""
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
    """Return the seconds in a Retry-After header, at most LONGEST_PAUSE, or None if invalid."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return None
    return min(seconds, LONGEST_PAUSE) if 0 <= seconds < math.inf else None


@dataclass(frozen=True)
class _Said:
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
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else message.get("function_call")
    call = call.get("function", call) if isinstance(call, dict) else None
    return _text(call.get("arguments")) if isinstance(call, dict) else ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(p, dict) and "type" in p for p in content):
        return "".join(str(p["text"]) for p in content if p.get("type") == "text" and "text" in p)
    return "" if content is None else json.dumps(content)


def _usage(told: Any) -> tuple[int, int] | None:
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


#: The maximum number of characters quoted from a server's message.
MOST_SAID = 300
#: The minimum plausible context limit, in tokens. Smaller numbers in error messages are ignored.
LEAST_CONTEXT = 256


class Passing(ModelError):
    """Raised for a transient fault."""


class Busy(ModelError):
    """Raised when too many calls are running. `after` is the server's requested wait in seconds."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Unsupported(ModelError):
    """Raised if the endpoint does not support this structured-output method."""

    final = True


class Unwanted(ModelError):
    """Raised if the endpoint rejects a parameter."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class Overlong(ModelError):
    """Raised if the request has too many tokens.
    - `whole`: whether the limit applies to the request and its answer together.
    - `most`: the limit, or 0 if unknown.
    - `asked`: the number of tokens reserved for the request and its answer.
    """

    asked = 0

    def __init__(self, message: str, most: int, *, whole: bool) -> None:
        super().__init__(message)
        self.most = most
        self.whole = whole


class CutInSilence(ModelError):
    """Raised if the server silently dropped part of the request."""


class Withheld(BadReply):
    """Raised if a filter or the model refused to answer. Asking again would not help."""


class CutOff(BadReply):
    """Raised if the answer was cut off at its token limit, `room`."""

    def __init__(self, message: str, room: int) -> None:
        super().__init__(message)
        self.room = room


_PARAMETER = re.compile(
    r"\b(max_completion_tokens|max_tokens|temperature|stream)(?:ing|_options)?\b"
)
_REFUSED = re.compile(
    r"unsupported|n[o']t support(?:ed)?\b|unrecogni[sz]ed|unknown|unexpected|extra"
    r"|n[o']t (?:permitted|allowed|accepted)|\binstead\b|\bonly\b|\bmust\b|please enable"
    r"|for non-streaming",
    re.IGNORECASE,
)
#: Patterns for the messages in which OpenAI, vLLM, llama.cpp, Gemini, Anthropic and gateways report
#: that a text is too long.
_SIZE = re.compile(r"\bcontext\b|\bprompt\b|\binputs?\b|\btokens?\b|\bcontent\b", re.IGNORECASE)
_EXCESS = re.compile(
    r"exceed|too (?:long|large|many)|longer than|larger than|greater than|must be <="
    r"|maximum (?:context|prompt|input)|reduce (?:the|your)",
    re.IGNORECASE,
)
#: Words that show that the requested answer alone is too long.
_OF_THE_ANSWER = re.compile(r"(?:completion|output) tokens", re.IGNORECASE)
#: Words that show that the request and its answer do not fit together.
_WITH_THE_ANSWER = re.compile(r"completion|output|max_tokens|max_new_tokens", re.IGNORECASE)
_NUMBER = r"(\d{1,3}(?:[,_]\d{3}){1,3}|\d{1,12})"
_MOST = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:>|<=)\s*{_NUMBER}",
        rf"{_NUMBER}(?: tokens?)? maximum",
        rf"(?:maximum|max)\b[^.;\d]{{0,60}}{_NUMBER}",
        rf"context (?:size|window|length|limit)[^.;\d]{{0,30}}{_NUMBER}",
        rf"limit[^.;\d]{{0,20}}{_NUMBER}",
    )
)


def translate(error: Exception, name: str, secret: str = "") -> ModelError:
    """Convert a provider's error to a ModelError that contains `name`, but not the `secret`."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return Passing(f"{name} did not answer in time.")
    if isinstance(error, openai.APIConnectionError):
        why = certificate_fault(error)
        return ModelError(f"{name}: {why}.") if why else Passing(f"{name} cannot be reached.")
    failed = _error_of(error)
    if failed is None:
        # Other libraries report an overlong request only in words. Pydantic's errors are about the
        # answer, not the request.
        if not isinstance(error, ValidationError) and _is_overlong(str(error), ""):
            return _overlong(str(error), name)
        return ModelError(f"{name} gave no usable answer ({type(error).__name__}).")
    said = failed.reason.replace(secret, "…") if secret else failed.reason
    if failed.status < 300:
        mend = "Check OPENAI_BASE_URL: it must be the URL of a model server, often ending in /v1."
        return ModelError(f"{name} gave no usable answer: {said}.", hint=mend)
    return (
        _about_the_account(failed, name)
        or _about_the_request(failed.status, failed.code, said, name)
        or (Passing if failed.status >= 500 else ModelError)(
            _describe_status(failed.status, said, name)
        )
    )


def _error_of(error: Exception) -> ServerReply | None:
    if isinstance(error, ErrorReply):
        return error.reply
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return None
    words, status, code = error_in(getattr(error, "body", None) or str(error), status) or (
        "",
        0,
        "",
    )
    headers = getattr(getattr(error, "response", None), "headers", {})
    after = seconds_of(headers.get("retry-after", ""))
    return ServerReply("error", reason=words, status=status, code=code, after=after)


def _describe_status(status: int, said: str, name: str) -> str:
    if 300 <= status < 400:
        return (
            f"{name} answered with status {status}: it redirects to another address, which is not"
            " followed. Set OPENAI_BASE_URL to the final address."
        )
    if not said:
        return f"{name} answered with status {status}."
    short = said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"
    return f"{name} answered with status {status}: “{short}”"


def _about_the_account(failed: ServerReply, name: str) -> ModelError | None:
    if failed.status in (401, 403):
        return ModelError(f"{name} rejected the API key.", hint="Check OPENAI_API_KEY.")
    if failed.code == "insufficient_quota":
        return ModelError(f"The quota of {name} is used up.")
    if failed.status == 429:
        return Busy(f"{name} received too many requests.", after=failed.after)
    return None


def _about_the_request(status: int, code: str, said: str, name: str) -> ModelError | None:
    parameter = _PARAMETER.search(said)
    if status in (400, 422) and parameter and _REFUSED.search(said):
        return Unwanted(_describe_status(status, said, name), parameter[1])
    if status == 413 or (status in (400, 422, 500) and _is_overlong(said, code)):
        return _overlong(said, name)
    if status in (400, 404, 415, 422, 500, 501) and any(
        word in said.lower()
        for word in ("response_format", "json_schema", "json_object", "tool", "function")
    ):
        return Unsupported(_describe_status(status, said, name))
    return None


def _is_overlong(said: str, code: str) -> bool:
    if code == "context_length_exceeded":
        return True
    if _OF_THE_ANSWER.search(said) and "context" not in said.lower():
        return False
    return bool(_SIZE.search(said) and _EXCESS.search(said))


def _overlong(said: str, name: str) -> Overlong:
    numbers = (found[1] for pattern in _MOST if (found := pattern.search(said)))
    most = next((int(re.sub(r"\D", "", number)) for number in numbers), 0)
    return Overlong(
        f"The request is too long for {name}.",
        most if most >= LEAST_CONTEXT else 0,
        whole=_WITH_THE_ANSWER.search(said) is not None,
    )

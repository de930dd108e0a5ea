"""Meaning of refused requests and broken answers of model servers."""

from __future__ import annotations

import re

from pydantic import ValidationError

from spadework.agents.llm.reply import ErrorReply, ServerReply, error_in, seconds_of
from spadework.errors import BadReply, ModelError
from spadework.tools.fetch.exchange import certificate_fault

#: Maximum characters quoted of a server's message.
MOST_SAID = 300
#: A smaller number is not a context limit.
LEAST_CONTEXT = 256


class Passing(ModelError):
    """A transient fault."""


class Busy(ModelError):
    """Too many calls; `after` is the seconds to wait, None if not stated."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Unsupported(ModelError):
    """The endpoint does not support this method of structured output."""

    final = True


class Unwanted(ModelError):
    """The endpoint does not support a parameter; another one or none may work."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class Overlong(ModelError):
    """The request has too many tokens, alone or with its answer (`whole`); `most` is the limit, 0
    if not stated; `asked` is the number requested.
    """

    asked = 0

    def __init__(self, message: str, most: int, *, whole: bool) -> None:
        super().__init__(message)
        self.most = most
        self.whole = whole


class CutInSilence(ModelError):
    """The server silently dropped part of the request."""


class Withheld(BadReply):
    """A filter, or the model itself, refused to answer, and would again."""


class CutOff(BadReply):
    """The answer was cut at its limit `room`."""

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
#: How servers say that something is too long: OpenAI and vLLM ("maximum context length"), llama.cpp
#: ("exceeds the available context size"), Gemini ("exceeds the maximum number of tokens allowed"),
#: Anthropic ("prompt is too long: … tokens > … maximum"), and gateways before them.
_SIZE = re.compile(r"\bcontext\b|\bprompt\b|\binputs?\b|\btokens?\b|\bcontent\b", re.IGNORECASE)
_EXCESS = re.compile(
    r"exceed|too (?:long|large|many)|longer than|larger than|greater than|must be <="
    r"|maximum (?:context|prompt|input)|reduce (?:the|your)",
    re.IGNORECASE,
)
#: The requested answer is too long, not the request.
_OF_THE_ANSWER = re.compile(r"(?:completion|output) tokens", re.IGNORECASE)
#: The requested answer is part of what does not fit.
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
    """Translate an error of a provider's library for the model `name`: too long, an unsupported
    parameter or method, a transient fault, or a failure. `secret` is not repeated.
    """
    import openai

    if isinstance(error, openai.APITimeoutError):
        return Passing(f"{name} did not answer in time.")
    if isinstance(error, openai.APIConnectionError):
        why = certificate_fault(error)
        return ModelError(f"{name}: {why}.") if why else Passing(f"{name} cannot be reached.")
    failed = _error_of(error)
    if failed is None:
        # Other providers' libraries say only in words that a request is too long. pydantic's errors
        # concern the answer.
        if not isinstance(error, ValidationError) and _is_overlong(str(error), ""):
            return _overlong(str(error), name)
        return ModelError(f"{name} gave no usable answer ({type(error).__name__}).")
    said = failed.reason.replace(secret, "…") if secret else failed.reason
    if failed.status < 300:
        mend = "Check OPENAI_BASE_URL: it names a server of models, and often ends in /v1."
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
            f"{name} answered with status {status}: it sends elsewhere, where nobody is asked."
            " Name the server that answers in OPENAI_BASE_URL."
        )
    if not said:
        return f"{name} answered with status {status}."
    short = said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"
    return f"{name} answered with status {status}: “{short}”"


def _about_the_account(failed: ServerReply, name: str) -> ModelError | None:
    if failed.status in (401, 403):
        return ModelError(f"{name} refuses the key.", hint="Check OPENAI_API_KEY.")
    if failed.code == "insufficient_quota":
        return ModelError(f"The quota of {name} is spent.")
    if failed.status == 429:
        return Busy(f"{name} is asked too often.", after=failed.after)
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

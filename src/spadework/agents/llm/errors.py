"""What a refused request or a broken answer of a model's server means."""

from __future__ import annotations

import math
import re
from typing import Any

from pydantic import ValidationError

from spadework.errors import BadReply, ModelError
from spadework.tools.fetch.server_faults import certificate_fault

#: Characters of a server's own words that are repeated.
MOST_SAID = 300
#: Seconds that a server can ask to be left alone: longer it may have been started anew.
LONGEST_PAUSE = 3_600.0
#: A limit on tokens below this is none.
LEAST_CONTEXT = 256


class Passing(ModelError):
    """A fault that may be gone the next time."""


class Busy(ModelError):
    """Too many calls; `after` is how many seconds to wait, None where the endpoint does not say."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Unsupported(ModelError):
    """The endpoint does not take this way of asking for a shape."""

    final = True


class Unwanted(ModelError):
    """The endpoint does not take a parameter, of which another one or none may do."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class Overlong(ModelError):
    """The request has more tokens than fit, or has them together with its answer (`whole`); `most`
    is how many do, 0 where the endpoint does not say; `asked` how many were asked for.
    """

    asked = 0

    def __init__(self, message: str, most: int, *, whole: bool) -> None:
        super().__init__(message)
        self.most = most
        self.whole = whole


class CutOff(BadReply):
    """The answer ended where its `room` did."""

    def __init__(self, message: str, room: int) -> None:
        super().__init__(message)
        self.room = room


_PARAMETER = re.compile(r"\b(max_completion_tokens|max_tokens|temperature)\b")
_REFUSED = re.compile(
    r"unsupported|n[o']t supported?\b|unrecogni[sz]ed|unknown|unexpected|extra|n[o']t (?:permitted"
    r"|allowed|accepted)|\binstead\b",
    re.IGNORECASE,
)
#: What can be too long, and how servers say that it is: OpenAI and vLLM ("maximum context length"),
#: llama.cpp ("exceeds the available context size"), Gemini ("exceeds the maximum number of tokens
#: allowed"), Anthropic ("prompt is too long: … tokens > … maximum"), gateways before them.
_SIZE = re.compile(r"\bcontext\b|\bprompt\b|\binputs?\b|\btokens?\b|\bcontent\b", re.IGNORECASE)
_EXCESS = re.compile(
    r"exceed|too (?:long|large|many)|longer than|larger than|greater than|must be <="
    r"|maximum (?:context|prompt|input)|reduce (?:the|your)",
    re.IGNORECASE,
)
#: The answer that is asked for is too long, not the request.
_OF_THE_ANSWER = re.compile(r"(?:completion|output) tokens", re.IGNORECASE)
#: The answer that is asked for is a part of what does not fit.
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


def meaning(error: Exception, name: str, secret: str = "") -> ModelError:
    """What an error of a provider's library means for the model `name`: too long, a parameter or a
    way of asking that is not taken, a passing fault, or a failure. `secret` is not repeated.
    """
    import openai

    if isinstance(error, openai.APITimeoutError):
        return Passing(f"{name} did not answer in time.")
    if isinstance(error, openai.APIConnectionError):
        why = certificate_fault(error)
        return ModelError(f"{name}: {why}.") if why else Passing(f"{name} cannot be reached.")
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        # Other providers' libraries say in words alone that a request is too long. What pydantic
        # says is about the answer.
        if not isinstance(error, ValidationError) and _is_overlong(str(error), None):
            return _overlong(str(error), name)
        return ModelError(f"{name} gave no usable answer ({type(error).__name__}).")
    said, code = own_words(error), getattr(error, "code", None)
    said = said.replace(secret, "…") if secret else said
    return (
        _about_the_account(status, code, error, name)
        or _about_the_request(status, code, said, name)
        or (
            Passing(f"{name} answered with status {status}.")
            if status >= 500
            else ModelError(_standing(status, said, name))
        )
    )


def own_words(error: Any) -> str:
    """The sentence in which a server says why, on one line; "" where it sends a web page."""
    body = getattr(error, "body", None)
    found: Any = None
    if isinstance(body, dict):
        found = next((body[key] for key in ("message", "detail", "error") if body.get(key)), None)
    said = " ".join(str(found or getattr(error, "message", "") or error).split())
    return "" if said.startswith("<") else "".join(c for c in said if c.isprintable())


def _standing(status: int, said: str, name: str) -> str:
    if 300 <= status < 400:
        return (
            f"{name} answered with status {status}: it sends elsewhere, where nobody is asked."
            " Name the server that answers in OPENAI_BASE_URL."
        )
    if not said:
        return f"{name} answered with status {status}."
    short = said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"
    return f"{name} answered with status {status}: “{short}”"


def _about_the_account(status: int, code: Any, error: Any, name: str) -> ModelError | None:
    if status in (401, 403):
        return ModelError(f"{name} refuses the key.", hint="Check OPENAI_API_KEY.")
    if code == "insufficient_quota":
        return ModelError(f"The quota of {name} is spent.")
    if status == 429:
        headers = getattr(getattr(error, "response", None), "headers", {})
        after = _seconds(headers.get("retry-after", ""))
        return Busy(f"{name} is asked too often.", after=after)
    return None


def _about_the_request(status: int, code: Any, said: str, name: str) -> ModelError | None:
    parameter = _PARAMETER.search(said)
    if status in (400, 422) and parameter and _REFUSED.search(said):
        return Unwanted(_standing(status, said, name), parameter[1])
    if status == 413 or (status in (400, 422, 500) and _is_overlong(said, code)):
        return _overlong(said, name)
    if status in (400, 404, 415, 422, 500, 501) and any(
        word in said.lower()
        for word in ("response_format", "json_schema", "json_object", "tool", "function")
    ):
        return Unsupported(_standing(status, said, name))
    return None


def _is_overlong(said: str, code: Any) -> bool:
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


def _seconds(retry_after: str) -> float | None:
    """The seconds of a Retry-After header, 0..LONGEST_PAUSE; None for none and for a date."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return None
    return min(seconds, LONGEST_PAUSE) if 0 <= seconds < math.inf else None

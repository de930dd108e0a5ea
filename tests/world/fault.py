"""How a model server fails: every fault with the status and the words of a real one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from starlette.responses import JSONResponse, Response

from tests.world.chat import ChatRequest
from tests.world.waits import Broken, Silence

Kind = (
    Literal[
        "limited", "quota", "unauthorized", "error", "overloaded", "hang", "dropped", "too_long"
    ]
    | Literal["refused", "raw", "moved"]
    | Literal["empty", "refusal", "filtered", "truncated"]
    | Literal["reject_json_schema", "reject_tools", "reject_json_object"]
)


@dataclass(frozen=True)
class Fault:
    """A failing answer.

    limited: 429 with Retry-After. quota: 429, nothing left to spend. unauthorized: 401, and the key
    is repeated in the text. error: 500. overloaded: 503. hang: no answer. dropped: the connection
    ends half way. too_long: 400, context_length_exceeded, with the limit `most`. refused: 400 with
    these `words`. raw: these `words` are the body of a good answer. moved: 307 to the address in
    `words`. empty: no text. refusal: a refusal instead of an answer. filtered: stopped by a content
    filter. truncated: JSON that stops half way. reject_json_schema, reject_tools,
    reject_json_object: 400 to a request of that shape, any other goes to the next rule.
    """

    kind: Kind
    retry_after: float | None = None
    most: int = 8_192
    words: str = ""

    def meets(self, request: ChatRequest) -> bool:
        """True when this fault answers such a request."""
        if self.kind == "reject_tools":
            return bool(request.data.get("tools"))
        return not self.kind.startswith("reject") or self.kind.endswith(request.shape)

    def response(self, request: ChatRequest) -> Response | None:
        """The failing answer, or None when it is an ordinary one with a flaw."""
        if self.kind in ("hang", "dropped"):
            return (
                Silence()
                if self.kind == "hang"
                else Broken(b'{"id": "chatcmpl-1", "object": "chat.compl')
            )
        if self.kind == "raw":
            return Response(self.words, media_type="application/json")
        if self.kind == "moved":
            return Response("", 307, {"Location": self.words})
        if self.kind == "refused":
            return refusal(400, self.words)
        if self.kind not in _REFUSALS:
            return None
        status, kind, code, words = _REFUSALS[self.kind]
        key = request.record.headers.get("authorization", "").removeprefix("Bearer ")
        return refusal(
            status,
            words.format(key=key, tokens=request.tokens_in, most=self.most),
            *(kind, code, self.retry_after),
        )


def refusal(
    status: int,
    words: str,
    kind: str = "invalid_request_error",
    code: str | None = None,
    retry_after: float | None = None,
) -> Response:
    """An error as OpenAI words it in JSON."""
    body: dict[str, Any] = {"error": {"message": words, "type": kind, "param": None, "code": code}}
    return JSONResponse(
        body, status, {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    )


_INVALID = "invalid_request_error"
_REFUSALS: dict[str, tuple[int, str, str | None, str]] = {
    "limited": (
        429,
        "requests",
        "rate_limit_exceeded",
        "Rate limit reached for requests. Please try again later.",
    ),
    "quota": (
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan.",
    ),
    "unauthorized": (401, _INVALID, "invalid_api_key", "Incorrect API key provided: {key}."),
    "error": (500, "server_error", None, "The server had an error while processing your request."),
    "overloaded": (
        503,
        "server_error",
        None,
        "The engine is currently overloaded, please try again later.",
    ),
    "too_long": (
        *(400, _INVALID, "context_length_exceeded"),
        (
            "This model's maximum context length is {most} tokens. However, your messages resulted"
            " in {tokens} tokens."
        ),
    ),
    "reject_json_schema": (
        400,
        _INVALID,
        None,
        (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this"
            " model."
        ),
    ),
    "reject_json_object": (
        400,
        _INVALID,
        None,
        (
            "Invalid parameter: 'response_format' of type 'json_object' is not supported with this"
            " model."
        ),
    ),
    "reject_tools": (
        400,
        _INVALID,
        "unsupported_parameter",
        "Unsupported parameter: 'tools' is not supported with this model.",
    ),
}

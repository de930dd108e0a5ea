"""Parse chat requests: questions, and instructions for the answer's form."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

from spadework.form import fault_sentence
from spadework.sessions.storage.files import MOST_EARLIER
from spadework.settings import Effort

#: Model names and their effort levels.
MODELS: dict[str, Effort] = {
    "spadework": "normal",
    "spadework-quick": "quick",
    "spadework-deep": "deep",
}
MOST_BYTES = 1_000_000
MOST_QUESTION_CHARS = 20_000
#: Tags around the question, used by clients that put files before the question.
_FRAME = ("<user_query>", "</user_query>")
Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
B = TypeVar("B", bound=BaseModel)


class Refused(Exception):
    """An error in OpenAI's format, with the `param` at fault and a machine-readable `code`."""

    def __init__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.param, self.code = status, param, code

    def shape(self) -> dict[str, Any]:
        """Return the response body."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        kind = "rate_limit_error" if self.status == 429 else kind
        return {
            "error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        }

    def response(self) -> JSONResponse:
        """Return the HTTP response."""
        headers = {"Retry-After": "10"} if self.status in (429, 503) else {}
        return JSONResponse(self.shape(), self.status, headers=headers)


class Part(BaseModel):
    """A part of a message's content."""

    type: Annotated[str, Field(max_length=50)]
    text: str = ""

    @property
    def is_text(self) -> bool:
        """Whether this is a text part."""
        return self.type.endswith("text")

    def words(self) -> str:
        """Return the text or, for other parts, the type in brackets ("[image]")."""
        kind = self.type.removeprefix("input_").removesuffix("_url")
        return self.text if self.is_text else f"[{kind}]"


class Message(BaseModel):
    """A message. System and developer messages affect only the answer's form."""

    role: Role
    content: str | list[Part] | None = None

    def words(self) -> str:
        """Return the message's text, with the types of other parts in brackets ("[image]")."""
        if isinstance(self.content, list):
            return "\n".join(part.words() for part in self.content)
        return self.content or ""

    def question(self) -> str:
        """Return only the text parts of the message. Raises Refused if no part has text."""
        parts = self.content if isinstance(self.content, list) else []
        text = "\n".join(part.text for part in parts if part.is_text)
        if parts and not text.strip():
            raise Refused(
                f"A message must have text: {parts[0].type!r} alone is not supported.",
                param="messages",
            )
        return text or self.words()


class StreamOptions(BaseModel):
    """Options for a streamed answer."""

    include_usage: bool | None = False


class Format(BaseModel):
    """The requested response format."""

    type: Annotated[str, Field(max_length=50)] = "text"
    json_schema: dict[str, Any] | None = None

    def shape(self) -> Any:
        """Return the requested JSON schema, or None."""
        return (self.json_schema or {}).get("schema")


class ChatRequest(BaseModel):
    """A request to `/v1/chat/completions`. Sampling parameters have no effect."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"additionalProperties": True})

    model: Annotated[
        str,
        Field(
            description=(
                "spadework, spadework-quick (fewer topics and model calls) or spadework-deep (reads"
                " and checks more)."
            )
        ),
    ]
    messages: Annotated[list[Message], Field(max_length=2_000)]
    stream: bool | None = False
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Maximum number of tokens in the answer; the report is written to fit.",
    )
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The same as `max_tokens`."
    )
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=1, description="Only 1.")
    tools: list[Any] | None = Field(
        default=None,
        description="Called only for tasks of the client, such as titles, never for questions.",
    )
    tool_choice: Any = Field(default=None, description="Must not require a function call.")
    functions: list[Any] | None = Field(default=None, description="Ignored: no function is called.")
    function_call: Any = Field(default=None, description="Must not require a function call.")
    response_format: Format | None = Field(default=None, description="Must be text.")
    metadata: dict[str, Any] | None = Field(
        default=None,
        description="`session_id` names a session to follow up on; everything else is ignored.",
    )

    def check(self) -> None:
        """Raise Refused if the model is unknown or more than one answer is requested."""
        if self.model not in MODELS:
            raise no_model(self.model, "model")
        if self.n not in (None, 1):
            raise Refused("n must be 1: each question gets one report.", param="n")

    def check_research(self, question: str) -> None:
        """Raise Refused for a missing or overlong question, a function call or non-text output."""
        if not question:
            raise Refused(
                "There is no question. The user's last message must contain one.", param="messages"
            )
        if len(question) > MOST_QUESTION_CHARS:
            said = f"The question has {len(question)} characters, but at most"
            said = f"{said} {MOST_QUESTION_CHARS} are accepted."
            raise Refused(said, param="messages", code="string_above_max_length")
        for name in ("tool_choice", "function_call"):
            if getattr(self, name) not in (None, "auto", "none"):
                raise Refused(
                    f"{name} cannot require a call: spadework answers with a report and calls"
                    " no functions.",
                    param=name,
                )
        if self.response_format and self.response_format.type != "text":
            raise Refused(
                "response_format must be text: the answer is a report in Markdown.",
                param="response_format",
            )

    @property
    def with_usage(self) -> bool:
        """Whether a stream ends with usage figures."""
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def most_tokens(self) -> int:
        """The maximum tokens in the answer, or 0 for no limit."""
        return min((n for n in (self.max_tokens, self.max_completion_tokens) if n), default=0)

    @property
    def session_id(self) -> str:
        """The id of the session to follow up on, or ""."""
        named = (self.metadata or {}).get("session_id")
        return named if isinstance(named, str) else ""

    def wishes(self) -> str:
        """Return the text of system and developer messages."""
        said = [m.words().strip() for m in self.messages if m.role in ("system", "developer")]
        return "\n\n".join(filter(None, said))

    def question(self) -> tuple[str, list[str], str]:
        """Return the user's last message, the user's earlier messages, and the assistant's last
        answer before that message. Raises Refused if the last message has no text.
        """
        said = [m.words() if m.role == "user" else "" for m in self.messages]
        asked = [i for i, words in enumerate(said) if words.strip()]
        if not asked:
            return "", [], ""
        question = self.messages[asked[-1]].question()
        inside, closed, _ = question.partition(_FRAME[0])[2].partition(_FRAME[1])
        question = (inside.strip() if closed else "") or question
        answers = [m.words() for m in self.messages[: asked[-1]] if m.role == "assistant"]
        earlier = [" ".join(said[i].split()) for i in asked[:-1]]
        return question, earlier[-MOST_EARLIER:], answers[-1] if answers else ""


async def read_request(request: Request, kind: type[B]) -> B:
    """Parse a request body as `kind`. Raises Refused."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise Refused(
                f"The request is too large: at most {MOST_BYTES} bytes are accepted.", status=413
            )
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in fault["loc"])
        said = fault_sentence(where or "The body", fault)
        raise Refused(said, param=where or None) from None


def no_model(name: str, param: str | None = None) -> Refused:
    """Return a refusal for an unknown model."""
    said = f"The model {name[:80]!r} does not exist. The models are {', '.join(MODELS)}."
    return Refused(said, status=404, param=param, code="model_not_found")

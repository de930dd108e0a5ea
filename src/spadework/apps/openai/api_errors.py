"""What is refused, in the shape in which OpenAI's API refuses."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse


class Refused(Exception):
    """A request that is not answered: a sentence, the `param` at fault, a `code` for programs."""

    def __init__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.param, self.code = status, param, code

    def shape(self) -> dict[str, Any]:
        """The body of the answer."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        kind = "rate_limit_error" if self.status == 429 else kind
        return {
            "error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        }

    def response(self) -> JSONResponse:
        """The answer."""
        headers = {"Retry-After": "10"} if self.status in (429, 503) else {}
        return JSONResponse(self.shape(), self.status, headers=headers)

"""A request for a chat completion, as a scripted model reads it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from tests.world.record import Asked

Shape = Literal["json_schema", "tool", "json_object", "text"]


def tokens(text: str) -> int:
    """About as many tokens as a tokenizer would count in English: one for four characters."""
    return len(text) // 4 + 1


@dataclass
class ChatRequest:
    """What was asked of the model. `record` has the headers and the times; `data` is the JSON as it
    came. `used` are the tokens in and out that the answer says it took, once there is one.
    """

    record: Asked
    data: dict[str, Any]
    used: tuple[int, int] = (0, 0)

    @property
    def started(self) -> float:
        """When it arrived, on the clock of `time.monotonic`."""
        return self.record.started

    @property
    def ended(self) -> float | None:
        """When its answer was out or the client left; None while it waits."""
        return self.record.ended

    @property
    def model(self) -> str:
        """The name of the model that was asked for."""
        return str(self.data.get("model", ""))

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of every message."""
        return [
            (str(message["role"]), _text(message.get("content")))
            for message in self.data["messages"]
        ]

    @property
    def system(self) -> str:
        """The text of the system messages."""
        return "\n\n".join(text for role, text in self.messages if role in ("system", "developer"))

    @property
    def user(self) -> str:
        """The text of the user's messages."""
        return "\n\n".join(text for role, text in self.messages if role == "user")

    @property
    def prompt(self) -> str:
        """The text of all messages."""
        return "\n\n".join(text for _, text in self.messages)

    @property
    def stream(self) -> bool:
        """True when the answer is to come piece by piece."""
        return bool(self.data.get("stream"))

    @property
    def tool(self) -> dict[str, Any] | None:
        """The function that is forced, or else the first that is offered and may be called."""
        choice = self.data.get("tool_choice")
        offered = [tool["function"] for tool in self.data.get("tools", ()) if choice != "none"]
        forced = choice["function"]["name"] if isinstance(choice, dict) else None
        return next((function for function in offered if forced in (None, function["name"])), None)

    @property
    def shape(self) -> Shape:
        """How the answer is wanted; a tool that is only offered does not count."""
        if self.tool and self.data.get("tool_choice") not in (None, "auto"):
            return "tool"
        wanted = self.data.get("response_format", {}).get("type", "text")
        return wanted if wanted in ("json_schema", "json_object") else "text"

    @property
    def schema_name(self) -> str:
        """The name of the JSON schema or of the tool; "" without one."""
        named = self._described()
        return str(named["name"]) if named else ""

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the answer or of the tool's arguments."""
        named = self._described()
        return (named.get("schema") or named.get("parameters")) if named else None

    @property
    def tokens_in(self) -> int:
        """The tokens of the messages and of the schema."""
        return tokens(self.prompt) + (tokens(json.dumps(self.schema)) if self.schema else 0)

    def _described(self) -> dict[str, Any] | None:
        return (
            self.data["response_format"]["json_schema"]
            if self.shape == "json_schema"
            else self.tool
        )


def _text(content: Any) -> str:
    """The text of a message's content, which is a string, a list of parts, or null."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return content or ""

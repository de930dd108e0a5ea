"""The answer of a tool: structured content and a text, also as JSON for who has but the text."""

from __future__ import annotations

import json
from typing import Annotated

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from spadework.apps.mcp.output_schemas import Shape

AsJson = Annotated[bool, Field(description="The text as JSON, too.")]


def build_answer(
    shaped: Shape, text: str, *, as_json: bool, failed: bool = False
) -> CallToolResult:
    """The answer in both forms."""
    given = shaped.model_dump(mode="json")
    said = json.dumps(given, ensure_ascii=False) if as_json else text
    return CallToolResult(
        content=[TextContent(type="text", text=said)], structured_content=given, is_error=failed
    )

"""The answer of a tool: structured content, and beside it a text, which is the same as JSON for
clients that show a model only the text and want to take it apart.
"""

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

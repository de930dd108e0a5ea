"""What a server offers of what there could be: providers it can ask, formats it can write."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from mcp_types import Tool

from spadework.apps.mcp.serp_search import OFFERED
from spadework.apps.outputs import prints_pdf
from spadework.sessions.search_only import usable
from spadework.settings import Settings


def offer_tools(tools: Sequence[Tool], settings: Settings) -> list[Tool]:
    """The tools without what this server lacks."""
    made = [tool.model_copy(update={"input_schema": deepcopy(tool.input_schema)}) for tool in tools]
    arguments = {tool.name: tool.input_schema["properties"] for tool in made}
    provider = arguments["serp_search"]["provider"]
    provider["description"] = provider["description"].replace(OFFERED, ", ".join(usable(settings)))
    if not prints_pdf():
        arguments["create_research_report"]["format"]["enum"].remove("pdf")
    return made

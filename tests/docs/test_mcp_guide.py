"""What the guide gives clients of MCP has the fields that they read."""

from __future__ import annotations

import json
import re

from tests.docs.test_references import ROOT


def test_the_snippets_have_the_fields_that_each_client_reads():
    text = (ROOT / "docs" / "guides" / "mcp.md").read_text(encoding="utf-8")
    snippets = [json.loads(found) for found in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert [*map(list, snippets)] == [["mcpServers"], ["servers"], ["mcpServers"]]
    desktop, code, web = (next(iter(snippet.values()))["spadework"] for snippet in snippets)
    for local in (desktop, code):
        assert (local["command"], local["args"][0]) == ("spadework", "mcp")
    assert all(isinstance(value, str) for value in desktop["env"].values())
    assert code["type"] == "stdio"
    assert (web["type"], web["url"].endswith("/mcp")) == ("http", True)
    assert web["headers"]["Authorization"].startswith("Bearer ")


def test_the_bundle_asks_its_user_for_what_it_uses():
    path = ROOT / "docs" / "examples" / "mcpb" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    required = {"manifest_version", "name", "version", "description", "author", "server"}
    assert required <= manifest.keys()
    used = set(re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(manifest["server"])))
    assert used == manifest["user_config"].keys()
    assert manifest["server"]["mcp_config"]["args"][0] == "mcp"

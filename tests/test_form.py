"""The form that callers of a LangGraph server fill in shows nothing that is the owner's."""

from __future__ import annotations

from spadework.settings import Settings


def test_a_caller_names_no_server_no_folder_and_no_secret() -> None:
    shown = set(Settings.model_json_schema()["properties"])
    assert "minutes" in shown
    assert not {name for name in shown if name.endswith(("_url", "_api_key", "_key"))}
    assert not shown & {"home", "library", "allow_hosts", "chromium", "token", "mcp_search"}

"""A key is never written into the files of a session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from spadework.budget import Limits
from spadework.sessions.brief import Brief
from spadework.sessions.record.records import SECRETS, Records
from spadework.sessions.storage.files import read_metadata
from spadework.settings import Settings

KEYS = (
    "openai_api_key",
    "serper_api_key",
    "tavily_api_key",
    "brave_api_key",
    "openalex_api_key",
    "token",
    "mcp_search",
    "qdrant_api_key",
    "fallback_api_key",
    "embeddings_api_key",
    "database_url",
)


def test_every_key_is_a_secret():
    assert set(KEYS) == SECRETS
    assert {name for name in Settings.model_fields if "key" in name} < SECRETS


def test_no_file_of_a_session_holds_a_key(tmp_path: Path):
    settings = Settings.load(search="brave", **{name: SecretStr(f"k3y-{name}") for name in KEYS})
    asyncio.run(Records.begin(tmp_path, Brief("question"), settings, Limits()))
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert read_metadata(tmp_path).settings.keys() == {"search"}
    assert "k3y-" not in written


@pytest.mark.parametrize("variable", ["SERPER_API_KEY", "SERP_API_KEY", "SPADEWORK_SERPER_API_KEY"])
def test_serper_has_two_names_for_its_key(variable: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(variable, "k3y")
    key = Settings.load().serper_api_key
    assert key
    assert key.get_secret_value() == "k3y"
    assert "k3y" not in repr(Settings.load())

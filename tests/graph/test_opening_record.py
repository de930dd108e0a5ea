"""What is written down of a session's settings, so that it can be replayed anywhere."""

from __future__ import annotations

from pathlib import Path

from spadework.graph.parts import Opened
from spadework.settings import DEFAULT_MODEL, DEFAULT_SMALL_MODEL, Settings
from spadework.tools.search.provider_choice import Choice


def test_no_key_is_written_down_and_the_models_it_has_chosen_are_used_again(tmp_path: Path) -> None:
    settings = Settings.load(
        openai_api_key="sk-secret-0123456789",
        serper_api_key="serper-secret-0123456789",
        searxng_url="http://user:password@127.0.0.1:8080",
    )
    told = Opened.of(settings, DEFAULT_MODEL, Choice(()), []).model_dump_json()
    assert "secret" not in told
    assert "password" not in told
    assert "http://127.0.0.1:8080" in told
    again = Opened.model_validate_json(told).settings_again(tmp_path)
    assert [again.model_for(role) for role in ("lead", "writer", "verifier", "judge")] == [
        *(DEFAULT_MODEL, DEFAULT_MODEL, DEFAULT_MODEL),
        DEFAULT_SMALL_MODEL,
    ]


def test_the_same_providers_are_there_again_without_keys() -> None:
    settings = Settings.load(serper_api_key="serper-secret-0123456789")
    opened = Opened(providers=(("serper", "the web"), ("library", "notes")))
    names = [provider.name for provider in opened.choice(settings).providers]
    assert names == ["serper", "library"]
    bare = Opened(providers=(("serper", "the web"),)).choice(Settings.load())
    assert [provider.name for provider in bare.providers] == ["serper"]

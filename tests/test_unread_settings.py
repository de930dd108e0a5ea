"""What is set for us and read by nobody is named."""

from __future__ import annotations

import pytest

from spadework.errors import SettingsError
from spadework.graph.research import graph
from spadework.settings import Settings
from spadework.settings.sources import unread


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "SPADEWORK_MINUTS",
            "SPADEWORK_MINUTS is not a setting and is ignored. Did you mean SPADEWORK_MINUTES?",
        ),
        ("MCP_MAX_TOKENS", "is not a setting and is ignored. See docs/settings.md."),
        ("CRAWL_TIMEOUT_SECONDS", "is not a setting and is ignored. See docs/settings.md."),
        ("SPADEWORK_LEAD_MODEL", "is not a setting and is ignored. Did you mean SPADEWORK_MODEL?"),
        ("SPADEWORK_XYZZY", "See docs/settings.md."),
        (
            "SPADEWORK_RRF_K",
            "SPADEWORK_RRF_K is not a setting and is ignored. See docs/settings.md.",
        ),
    ],
)
def test_a_variable_that_no_setting_reads_is_named(name: str, said: str) -> None:
    [(found, sentence)] = unread(Settings.model_fields, {name: "3", "PATH": "/bin"})
    assert found == name
    assert sentence.endswith(said)


def test_what_is_read_is_not_named() -> None:
    names = {f"SPADEWORK_{field.upper()}": "" for field in Settings.model_fields}
    names |= {"SPADEWORK_PROXY": "", "OPENAI_API_KEY": "", "spadework_minutes": "3"}
    names |= {"LOG_LEVEL": "3"}  # the setting that it stands for is set
    assert list(unread(Settings.model_fields, names)) == []


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("DEFAULT_SEARCH_COUNTRY", "search_country"),
        ("DEFAULT_SEARCH_LANGUAGE", "search_language"),
        ("DEFAULT_RELEVANCE_THRESHOLD", "min_relevance"),
        ("CLEANLINESS_THRESHOLD", "clean"),
        ("LOG_LEVEL", "log"),
    ],
)
def test_every_name_of_other_research_servers_is_named_with_ours(name: str, setting: str) -> None:
    [(found, sentence)] = unread(Settings.model_fields, {name: "3"})
    assert (found, setting in Settings.model_fields) == (name, True)
    assert sentence == f"{name} is ignored. Use SPADEWORK_{setting.upper()} instead."


def test_it_is_told_once_where_logs_go(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SPADEWORK_MINUTZ", "3")
    Settings.load()
    Settings.load()
    assert [record.message for record in caplog.records] == [
        "SPADEWORK_MINUTZ is not a setting and is ignored. Did you mean SPADEWORK_MINUTES?"
    ]


async def test_an_unknown_key_in_the_context_of_a_graph_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^minuts is not a setting\. Did you mean minutes\?$"):
        await graph.ainvoke({"question": "What is x?"}, context={"minuts": 1})  # type: ignore[arg-type]

"""A model for embeddings from the front doors: `index` pays for it, `search` and runs find by it,
and tell what they lost without it.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from spadework.apps.commands.lookups import index_paths, search_once
from spadework.errors import ModelError, SettingsError
from spadework.sessions.one_call import research
from spadework.sessions.search_only import search
from spadework.settings import Settings
from tests.world.embedding import Embeddings

NOTES = {
    "car.md": (
        "# Washing the car\n\nA car is washed on Fridays, behind the fire station of Port"
        " Aldermere, with cold water.\n"
    ),
    "tide.md": (
        "# The tide\n\nThe tide comes twice a day, and the fishermen of Port Aldermere read it from"
        " a table at the pier.\n"
    ),
}
QUESTION = "What is an automobile?"


@pytest.fixture
def settings(tmp_path: Path, embeddings: Embeddings) -> Settings:
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).write_text(text)
    return Settings.load(
        search="library",
        library=(tmp_path / "notes",),
        iterations=1,
        embeddings="openai:m",
        embeddings_url=embeddings.url,
        minutes=1,
    )


def test_index_pays_once_and_says_what_it_cost(settings, embeddings, capsys):
    index_paths(settings.with_(embeddings=""))
    assert "Embedded" not in capsys.readouterr().out
    index_paths(settings)
    tokens = sum(len(text.split()) for text in embeddings.texts)
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "Indexed the library notes (2 documents).",
        f"Embedded 2 new texts with m ({tokens} tokens).",
    ]
    assert said.err == "Embedding with m: 2 documents done.\n"
    index_paths(settings)
    assert capsys.readouterr().out.endswith("Embedded 0 new texts with m (0 tokens).\n")
    assert len(embeddings.texts) == 2


def test_index_ends_with_the_fault_of_the_endpoint_and_the_library_is_there(
    settings, embeddings, capsys
):
    embeddings.fault = "error"
    with pytest.raises(ModelError, match="status 500"):
        index_paths(settings)
    assert capsys.readouterr().out.startswith("Indexed the library notes (2 documents).\n")


def test_search_finds_by_meaning_and_says_where_it_cannot(settings, embeddings, capsys):
    search_once("automobile", True, settings, 0)
    lost = capsys.readouterr()
    assert (json.loads(lost.out), "Run `spadework index`" in lost.err) == ([], True)
    index_paths(settings)
    capsys.readouterr()
    search_once("automobile", True, settings, 0)
    found = capsys.readouterr()
    assert [hit["title"] for hit in json.loads(found.out)] == ["Washing the car", "The tide"]
    assert found.err == ""


async def test_a_run_reads_what_it_found_by_meaning_and_counts_what_that_cost(settings, embeddings):
    await asyncio.to_thread(index_paths, settings)
    embeddings.reset()
    result = await research(QUESTION, settings)
    assert result.usage.pages == 2
    assert [problem for problem in result.problems if problem.stage == "embeddings"] == []
    assert result.usage.embedding_calls == len(embeddings.requests) > 0
    assert result.usage.embedding_tokens == sum(len(text.split()) for text in embeddings.texts)
    assert len(embeddings.texts) == len(set(embeddings.texts))


async def test_a_run_without_the_endpoint_goes_on_and_tells(settings, embeddings):
    await asyncio.to_thread(index_paths, settings)
    embeddings.fault = "error"
    result = await research("How often does the tide come?", settings)
    assert "twice a day" in result.topics[0].evidence[0].quote
    [problem] = [problem for problem in result.problems if problem.stage == "embeddings"]
    assert (problem.subject, "status 500" in problem.reason) == ("m", True)
    assert "searches used only keyword matching" in result.report


async def test_a_missing_key_is_a_setting_to_mend(settings):
    with pytest.raises(SettingsError, match="embeddings model m needs an API key"):
        await research(QUESTION, settings.with_(embeddings_url=""))


async def test_a_search_from_code_finds_by_meaning_and_says_where_it_cannot(settings, embeddings):
    lost = await search("automobile", settings)
    assert (list(lost.hits), "Run `spadework index`" in lost.notices[0]) == ([], True)
    await asyncio.to_thread(index_paths, settings)
    found = await search("automobile", settings)
    assert ([one.hit.title for one in found.hits], list(found.notices)) == (
        ["Washing the car", "The tide"],
        [],
    )

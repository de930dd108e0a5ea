"""The providers of a run are those that were asked for, or those that can be used."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.library.library import Library
from spadework.tools.search import provider_choice
from spadework.tools.search.provider_choice import Choice, choose
from tests.tools.search.namespace import run

SERVER = "http://127.0.0.1:9"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "harbour.md").write_text(
        "# Harbour\n\nThe harbour of Port Aldermere opened in 1932.\n"
    )
    return tmp_path / "notes"


async def chosen(notes: Path, **settings: object) -> Choice:
    async def open_library() -> Library:
        return await Library.open([notes], home=notes.parent / "home")

    return await choose(Settings.load(**settings), open_library)


async def no_library() -> Library:
    raise AssertionError("the library was not asked for")


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("searxng", ["searxng"]),
        ("duckduckgo", ["duckduckgo"]),
        (" DuckDuckGo , searxng,duckduckgo", ["duckduckgo", "searxng"]),
        ("auto", ["searxng"]),
        ("", ["searxng"]),
        ("auto,duckduckgo", ["searxng", "duckduckgo"]),
    ],
)
async def test_named_providers_are_taken_in_their_order(search: str, names: list[str]):
    choice = await choose(Settings.load(search=search, searxng_url=SERVER), no_library)
    assert ([provider.name for provider in choice.providers], choice.notices) == (names, ())


async def test_auto_takes_all_that_is_configured(notes: Path):
    choice = await chosen(notes, searxng_url=SERVER, library=(notes,))
    assert ([provider.name for provider in choice.providers], choice.notices) == (
        ["searxng", "library"],
        (),
    )
    choice = await chosen(notes, library=(notes,))
    assert ([provider.name for provider in choice.providers], choice.notices) == (["library"], ())


async def test_auto_takes_those_with_a_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SERP_API_KEY", "k3y")
    monkeypatch.setenv("BRAVE_API_KEY", "k3y")
    monkeypatch.setenv("TAVILY_API_KEY", "")
    choice = await choose(Settings.load(openalex_api_key="k3y"), no_library)
    assert [provider.name for provider in choice.providers] == ["serper", "brave"]


async def test_those_that_need_no_key_are_taken_when_named():
    names = ["pubmed", "openalex", "arxiv", "wikipedia"]
    choice = await choose(Settings.load(search=",".join(names), search_language="de"), no_library)
    assert [provider.name for provider in choice.providers] == names
    assert choice.providers[-1].describes == "Wikipedia (de)"


@pytest.mark.parametrize("language", ["EN", "en.evil.example/", "e n"])
def test_a_language_is_no_part_of_an_address(language: str):
    with pytest.raises(SettingsError, match="search_language cannot be"):
        Settings.load(search_language=language)


async def test_a_library_that_is_asked_for_needs_no_notice(notes: Path):
    choice = await chosen(notes, search="library")
    assert ([provider.name for provider in choice.providers], choice.notices) == (["library"], ())


async def test_without_the_web_the_library_is_searched_and_that_is_said(
    notes: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(provider_choice, "PROBE_SECONDS", 1e-6)
    choice = await chosen(notes)
    (library,) = choice.providers
    assert library.name == "library"
    [notice] = choice.notices
    assert notice == "The web cannot be reached, so only installed documentation is searched."


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (
            "gopher",
            (
                r"provider: gopher\. Available: auto, searxng, serper, tavily, brave, duckduckgo,"
                r" wikipedia, .* library"
            ),
        ),
        ("auto,alta vista,x", "provider: alta vista, x"),
        ("searxng", "searxng needs an address. Set SEARXNG_URL"),
        ("auto,brave", "brave needs a key. Set BRAVE_API_KEY"),
        ("serper", "Set SERPER_API_KEY"),
        ("tavily", "Set TAVILY_API_KEY"),
    ],
)
async def test_what_cannot_be_used_is_a_settings_error(search: str, words: str):
    with pytest.raises(SettingsError, match=words) as caught:
        await choose(Settings.load(search=search), no_library)
    assert len(str(caught.value)) < 400


async def test_an_address_that_is_none_is_a_settings_error():
    with pytest.raises(SettingsError, match=r"searxng_url must be .*, not 'nonsense'"):
        await choose(Settings.load(searxng_url="nonsense"), no_library)


def test_where_the_web_can_be_reached_duckduckgo_is_asked(tmp_path: Path):
    code = (
        "import asyncio; from spadework.settings import Settings; from"
        " spadework.tools.search.provider_choice import choose\n"
    )
    code += "print([p.name for p in asyncio.run(choose(Settings.load(), None)).providers])"
    try:
        web = socket.create_server(("127.0.7.44", 443))
    except PermissionError:
        pytest.skip("needs to be root, to listen where DuckDuckGo would")
    with web:
        assert (
            run(code, {"/etc/hosts": "127.0.7.44 html.duckduckgo.com\n"}, tmp_path)
            == "['duckduckgo']"
        )

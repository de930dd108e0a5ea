"""A home full of pages about other matters changes nothing: the same pages are read as in an empty
one. A page that is about what is asked is read.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from importlib import import_module
from inspect import getdoc
from itertools import islice
from pathlib import Path

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.knowledge import Entry
from spadework.tools.knowledge.embedded_store import EmbeddedKnowledge
from spadework.tools.text.page_text import content_hash
from spadework.values import Page
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

PAGES, LEAST_CHARS, MOST_BYTES = 120, 300, 10**9
MODULES = (
    *(
        "argparse",
        "asyncio",
        "collections",
        "csv",
        "datetime",
        "decimal",
        "difflib",
        "email.message",
    ),
    *(
        "functools",
        "logging",
        "os",
        "pathlib",
        "random",
        "shutil",
        "socket",
        "statistics",
        "struct",
    ),
    *("subprocess", "tempfile", "textwrap", "threading", "unittest", "zipfile"),
)
#: Questions in the words of the unrelated pages, and what they are searched by.
QUESTIONS = {
    "Which file formats can the harbour archive of Port Aldermere read and write?": (
        "harbour archive file formats"
    ),
    "How many default objects does the museum of Port Aldermere return to a method?": (
        "museum objects method"
    ),
    "What is the name of the current process by which the mint compiles its lines?": (
        "process names lines"
    ),
}
RIGHT = (
    "The harbour archive of Port Aldermere can read and write two file formats, the ledger and the"
    " reel, and nobody remembers which of them was the first to be kept on its shelves."
)


def entry(url: str, title: str, text: str) -> Entry:
    page = Page(
        url=url,
        title=title,
        fetched_at=datetime.now(UTC),
        content_hash=content_hash(text),
        chars=len(text),
    )
    return Entry(page, text)


def unrelated() -> list[Entry]:
    """What modules of the standard library say of their classes and functions."""
    members = {id(one): one for name in MODULES for one in vars(import_module(name)).values()}
    said = dict.fromkeys(
        text for one in members.values() if len(text := getdoc(one) or "") >= LEAST_CHARS
    )
    made = (
        entry(f"https://site{n}.example/{n}", text.partition("\n")[0], text)
        for n, text in enumerate(said)
    )
    return list(islice(made, PAGES))


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    for n, (question, query) in enumerate(QUESTIONS.items()):
        said = f"<title>Of {query}</title><article><h1>Of {query}</h1><p>{question}"
        pages = [
            world.put(site, f"/page-{n}", f"{said} The {site} knows {word}.")
            for site, word in {"archive": "nothing of it", "news": "that somebody asks"}.items()
        ]
        searx.script(query, pages)
    play(model, {"Asked": ""})
    return Settings.load(max_level=0, cache_mb=0, iterations=1)


async def read(model: Model, settings: Settings, question: str, store: Path | None) -> set[str]:
    """The pages that a question reads, with a store as it is."""
    play(model, {"Asked": QUESTIONS[question]})
    shutil.rmtree(settings.home / "knowledge", ignore_errors=True)
    if store:
        shutil.copytree(store, settings.home / "knowledge")
    return {source.url for source in (await research(question, settings)).sources}


async def test_an_unrelated_store_changes_no_page_that_is_read(
    model: Model, settings: Settings, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    kept = await EmbeddedKnowledge(store, MOST_BYTES).add(unrelated())
    assert kept == PAGES
    for question in QUESTIONS:
        alone = await read(model, settings, question, None)
        assert len(alone) == 2
        assert await read(model, settings, question, store) == alone


async def test_a_known_page_about_what_is_asked_is_read(
    model: Model, settings: Settings, tmp_path: Path
) -> None:
    store, url = tmp_path / "store", "https://archive.example/formats"
    right = entry(url, "The harbour archive", RIGHT)
    await EmbeddedKnowledge(store, MOST_BYTES).add([*unrelated()[:20], right])
    question = next(iter(QUESTIONS))
    alone = await read(model, settings, question, None)
    assert await read(model, settings, question, store) == alone | {url}

"""A lazily opened library reads more of the installed documentation as it is asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from spadework.errors import SearchError, SettingsError
from spadework.graph.pages import provider_search
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.library import library as module
from spadework.tools.library.build import StoreWriter
from spadework.tools.library.document import Document, cut_document
from spadework.tools.library.full_text import Words
from spadework.tools.library.library import Library, Plan
from spadework.tools.search.provider_choice import LibrarySearch
from spadework.values import Query

ANYTHING = Query(text="How is soup stirred?")
PYTEST = Query(text="How does pytest stir soup?")


class Builder:
    """Stands in for the build: an index of one description, and of one page per package read
    whole ("all" where every one is). The package "soup" is related to every question.
    """

    def __init__(self) -> None:
        self.built: list[str] = []
        self.words: list[Words] = []
        self.cancelled = 0
        self.free = asyncio.Event()
        self.free.set()
        self.fault: Exception | None = None
        self.failed = asyncio.Event()

    async def __call__(self, plan: Plan, progress: Callable[[str], None] | None) -> None:
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.fault:
            self.failed.set()
            raise self.fault
        whole = ["all"] if plan.named is None else sorted(plan.named)
        self.built.append(" ".join(whole))
        with StoreWriter(plan.folder) as store:
            for name in ("description", *whole):
                text = f"# {name}\n\nSoup is stirred as {name} says, slowly and {name}.\n"
                store.add(cut_document(Document(f"library://{name}-1/README.md", name, text)))

    def related_packages(self, words: Words) -> frozenset[str]:
        self.words.append(words)
        return frozenset(["soup"])


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    made = Builder()
    monkeypatch.setattr(module, "build", made)
    monkeypatch.setattr(module, "related_packages", made.related_packages)
    return made


class Pause:
    """Stands in for a free event: everyone waits so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def wait(self) -> None:
        await asyncio.sleep(self.seconds)


async def lazy(home: Path) -> Library:
    return await Library.open([], home=home, lazily=True)


async def found(library: Library, query: Query) -> set[str]:
    hits = await LibrarySearch(library).search(query, limit=9, seconds=20)
    return {hit.title for hit in hits}


async def test_a_search_that_gives_up_leaves_the_build_to_the_next(builder, tmp_path):
    library = await lazy(tmp_path)
    builder.free.clear()
    for _ in range(2):
        with pytest.raises(SearchError, match="did not answer"):
            await LibrarySearch(library).search(ANYTHING, limit=9, seconds=0.3)
    builder.free.set()
    assert "soup" in await found(library, ANYTHING)
    assert (builder.built, builder.cancelled) == (["soup"], 0)
    await library.close()


async def test_words_choose_packages_until_a_search_names_one(builder, tmp_path):
    library = await lazy(tmp_path)
    assert await found(library, ANYTHING) == {"description", "soup"}
    assert builder.words == [{("soup",), ("stir",)}]
    assert "pytest" in await found(library, PYTEST)
    await found(library, ANYTHING)
    assert [built.split()[0] for built in builder.built] == ["soup", "pytest"]
    await library.close()


async def test_everything_is_read_if_further_words_need_more(builder, tmp_path):
    library = await lazy(tmp_path)
    await found(library, ANYTHING)
    await found(library, Query(text="How do I stir soup?"))
    assert builder.built == ["soup"]
    assert "all" in await found(library, Query(text="How is soup stirred with bread?"))
    assert "all" in await found(library, PYTEST)
    assert builder.built == ["soup", "all"]
    await library.close()


async def test_the_first_words_choose_packages_also_after_a_build_without_words(builder, tmp_path):
    library = await lazy(tmp_path)
    await library.build()
    await asyncio.gather(found(library, ANYTHING), found(library, Query(text="stir soup")))
    assert builder.built == ["", "soup"]
    await library.close()


async def test_searches_at_once_share_a_build(builder, tmp_path):
    library = await lazy(tmp_path)
    asked = await asyncio.gather(*(found(library, PYTEST) for _ in range(3)))
    assert all("pytest" in titles for titles in asked)
    assert len(builder.built) == 1
    await library.close()


async def test_a_build_that_failed_is_told_and_tried_again(builder, tmp_path):
    library = await lazy(tmp_path)
    builder.fault = SettingsError("The library's index cannot be written.")
    with pytest.raises(SearchError, match="cannot be written"):
        await found(library, ANYTHING)
    builder.fault = None
    assert "soup" in await found(library, ANYTHING)
    await library.close()


async def test_a_build_that_fails_twice_leaves_the_open_index(builder, tmp_path):
    library = await lazy(tmp_path)
    await library.build()
    builder.fault = SettingsError("The library's index cannot be written.")
    for _ in range(module.TRIES):
        with pytest.raises(SearchError, match="cannot be written"):
            await found(library, ANYTHING)
    assert await found(library, ANYTHING) == {"description"}
    await library.close()


async def test_a_build_that_failed_when_nobody_waited_is_tried_again(builder, tmp_path):
    library = await lazy(tmp_path)
    builder.free.clear()
    builder.fault = SettingsError("The library's index cannot be written.")
    with pytest.raises(SearchError, match="did not answer"):
        await LibrarySearch(library).search(ANYTHING, limit=9, seconds=0.3)
    builder.free.set()
    await builder.failed.wait()
    builder.fault = None
    assert "soup" in await found(library, ANYTHING)
    await library.close()


async def test_closing_ends_a_build_that_goes_on(builder, tmp_path):
    library = await lazy(tmp_path)
    builder.free.clear()
    with pytest.raises(SearchError, match="did not answer"):
        await LibrarySearch(library).search(ANYTHING, limit=9, seconds=0.3)
    await library.close()
    assert builder.cancelled == 1


async def test_a_damaged_index_is_made_anew(builder, tmp_path):
    library = await lazy(tmp_path)
    await found(library, PYTEST)
    await library.close()
    [wide] = (tmp_path / "library").glob("installed-*")
    (wide / "index/meta.json").write_text("{" * 5_000)
    library = await lazy(tmp_path)
    assert "pytest" in await found(library, PYTEST)
    await library.close()


async def test_what_it_holds_is_said_as_it_is_now(builder, tmp_path):
    library = await lazy(tmp_path)
    assert library.documents == 0
    assert library.describe.endswith(" (full text only for packages related to the question)")
    await found(library, ANYTHING)
    assert library.documents == 2
    await library.close()
    for lazily in (False, True):
        library = await Library.open([], home=tmp_path, lazily=lazily)
        assert library.describe.endswith(" installed Python packages and the standard library")
        await library.close()


async def test_a_report_says_what_was_read_in_full(builder, tmp_path):
    settings = Settings.load(home=tmp_path, search="library", iterations=1)
    result = await research(ANYTHING.text, settings)
    assert builder.built == ["soup"], "the descriptions are not indexed first"
    [said] = result.searched
    assert said.endswith(" (full text only for packages related to the question)")
    assert said in result.report


async def test_a_build_longer_than_a_search_is_waited_for(builder, tmp_path, monkeypatch):
    monkeypatch.setattr(builder, "free", Pause(2.5))
    monkeypatch.setattr(provider_search, "SEARCH_SECONDS", 0.1)
    settings = Settings.load(home=tmp_path, search="library", iterations=1)
    result = await research(ANYTHING.text, settings)
    assert not result.problems
    assert "Soup is stirred as soup says" in result.report


async def test_the_last_index_is_what_was_built(builder, tmp_path):
    words, nothing = await Library.open_built([], home=tmp_path)
    assert nothing is None
    library = await lazy(tmp_path)
    await library.build()
    await library.close()
    words, built = await Library.open_built([], home=tmp_path)
    assert built is not None
    assert words == built.describe
    assert [each.title for each in await built.some(5)] == ["description"]
    await built.close()
    [folder] = (tmp_path / "library").glob("installed-*")
    (folder / "documents.db").write_text("{" * 5_000)
    with pytest.raises(SearchError, match=r"is damaged\. Delete "):
        await Library.open_built([], home=tmp_path)
    assert builder.built == [""], "to look at it builds nothing"


async def test_folders_are_indexed_once_for_searches_that_give_up(
    builder: Builder, tmp_path: Path
) -> None:
    (tmp_path / "soup.md").write_text("# Soup\n\nSoup is stirred slowly.\n")
    builder.free.clear()
    library = await Library.open([tmp_path / "soup.md"], home=tmp_path / "home", lazily=True)
    searches = (library.search(ANYTHING.text, limit=9) for _ in range(2))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.gather(*searches), 0.3)
    builder.free.set()
    assert "all" in await found(library, ANYTHING)
    assert (builder.built, builder.cancelled) == (["all"], 0)
    await library.close()

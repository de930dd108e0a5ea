"""The library a user without network has: what is asked most is found first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.tools.library.library import Library

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("installed"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The documentation installed here, with a package that cannot be read."""
    site = tmp_path_factory.mktemp("site")
    broken = site / "ladle-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_bytes(b"Name: ladle\nSummary: \xff\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        opened = asyncio.run(Library.open([], home=tmp_path_factory.mktemp("home")))
    yield opened
    asyncio.run(opened.close())


async def test_only_what_cannot_be_read_is_left_out(library):
    assert [each.url for each in library.skipped] == ["library://ladle-1.0"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is LangGraph", "/README.md langgraph-"),
        ("What is LangGraph and how do I use it?", "/README.md langgraph-"),
        ("What does pydantic do", "/README.md pydantic-"),
        ("What does pydantic do and when should I use it?", "/README.md pydantic-"),
        ("httpx", "/README.md httpx-"),
        ("Compare httpx and requests", "/requests/__init__.py requests-"),
        ("StateGraph example", "/langgraph/graph/state.py langgraph-"),
        ("asyncio.gather", "/asyncio/tasks.py python-"),
        ("itertools groupby", "/compiled/itertools python-"),
        ("The with statement", "/pydoc_data/topics/with python-"),
    ],
)
async def test_the_best_document_comes_first(library, question, first):
    path, package = first.split()
    hits = await library.search(question, limit=5)
    assert hits[0].url.startswith(f"library://{package}") and hits[0].url.endswith(path), [
        hit.url for hit in hits
    ]


async def test_both_sides_of_a_comparison_are_found(library):
    urls = [hit.url for hit in await library.search("Compare httpx and requests", limit=3)]
    assert any("httpx" in url for url in urls) and any("requests" in url for url in urls)


async def test_how_to_retry_is_answered_by_what_retries_requests(library):
    hits = await library.search("How do I retry a failing HTTP request in Python?", limit=5)
    assert any(name in hits[0].url for name in ("urllib3", "stamina", "httpx", "requests"))
    assert "retry" in hits[0].snippet.lower()


async def test_documents_are_public_and_name_no_place_on_this_machine(library):
    assert library.describe.startswith("the documentation of ")
    assert library.describe.endswith(" installed Python packages and the standard library")
    for hit in await library.search("client timeout", limit=15):
        document = await library.document(hit.url)
        assert str(Path(__file__).parents[3]) not in document.markdown
        assert "site-packages" not in hit.url

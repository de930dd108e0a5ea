"""Tools and retrievers of LangChain search like any provider."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import StructuredTool
from langchain_core.vectorstores import InMemoryVectorStore

from spadework import research
from spadework.errors import SearchError
from spadework.settings import Settings
from spadework.tools.search.provider_choice import LangChainSearch
from spadework.values import Hit, Query
from tests.world.searx import Searx

ASKED = Query(text="census Port Aldermere")
RESULTS = [
    {"link": "https://a.example/1", "title": "One", "snippet": "First", "date": "2026-03-04"},
    {
        "url": "https://a.example/2",
        "content": "Second",
        "published_date": datetime(2026, 3, 4, tzinfo=UTC),
    },
    {"title": "no address"},
    "text",
]


class Retriever(BaseRetriever):
    """A retriever that blocks, as most do."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(
                page_content=f"All about {query}",
                metadata={
                    "source": "https://a.example/1",
                    "Title": "One",
                    "Published": "2026-03-04",
                },
            ),
            Document(page_content="A file", metadata={"source": "/shelf/notes.md"}),
        ]


def tool(answer: Any) -> StructuredTool:
    def search(query: str, limit: int = 5) -> Any:
        """Searches."""
        if isinstance(answer, Exception):
            raise answer
        return answer

    return StructuredTool.from_function(search)


async def ask(source: Any, limit: int = 5, seconds: float = 5.0) -> list[Hit]:
    return await LangChainSearch(source, "chain").search(ASKED, limit=limit, seconds=seconds)


async def test_documents_of_a_retriever_are_hits():
    hit, file = await ask(Retriever())
    assert hit.text == hit.snippet, "what a retriever gives is the page"
    assert (file.title, file.text) == ("notes.md", "A file")
    assert file.url.startswith("library://chain/")
    assert (hit.url, hit.title, hit.snippet) == (
        "https://a.example/1",
        "One",
        "All about census Port Aldermere",
    )
    assert (hit.position, hit.provider, hit.query, hit.published_at) == (
        1,
        "chain",
        ASKED.text,
        datetime(2026, 3, 4, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    "answer",
    [
        RESULTS,
        {"results": RESULTS},
        json.dumps(RESULTS, default=str),
        str(json.loads(json.dumps(RESULTS, default=str))),
    ],
)
async def test_results_of_a_tool_are_hits(answer: Any):
    one, two = await ask(tool(answer))
    assert [(hit.position, hit.title, hit.snippet) for hit in (one, two)] == [
        (1, "One", "First"),
        (2, "", "Second"),
    ]
    assert one.published_at == two.published_at == datetime(2026, 3, 4, tzinfo=UTC)
    assert len(await ask(tool(answer), limit=1)) == 1


async def test_nothing_found_is_no_failure():
    assert await ask(tool([])) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Error: HTTPError 403", "chain did not return a list of results"),
        ({"error": "x"}, "did not return a list of results"),
        ([{"title": "x"}, 5], "returned 2 results, but none has a URL or text"),
        (None, "did not return a list of results"),
        (
            ValueError("https://api.example/?api_key=k3y"),
            r"^chain could not be searched: ValueError\.$",
        ),
        (SearchError("its key is k3y"), r"^chain could not be searched: SearchError\.$"),
    ],
)
async def test_what_is_no_list_is_an_error(answer: Any, words: str):
    with pytest.raises(SearchError, match=words):
        await ask(tool(answer))


async def test_a_tool_that_hangs_is_left_at_its_deadline():
    async def search(query: str) -> str:
        """Searches."""
        await asyncio.Event().wait()
        return ""

    with pytest.raises(SearchError, match=r"chain did not answer within 0\.2 s"):
        await ask(StructuredTool.from_function(coroutine=search), seconds=0.2)


@pytest.mark.process
def test_langchain_is_not_imported():
    code = (
        "import sys, spadework.tools.search.provider_choice; print([m for m in sys.modules if"
        " m.startswith('langchain')])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
        ).stdout
        == "[]\n"
    )


async def test_tools_that_hang_take_no_thread_of_the_event_loop():
    let_go = threading.Event()

    def search(query: str) -> str:
        """Searches."""
        let_go.wait(60)
        return "[]"

    class Hanging(BaseRetriever):
        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            let_go.wait(60)
            return []

    sources = [StructuredTool.from_function(search), Hanging()] * 20
    try:
        outcomes = await asyncio.gather(
            *(LangChainSearch(one, "own").search(ASKED, limit=3, seconds=0.3) for one in sources),
            return_exceptions=True,
        )
        assert {str(outcome) for outcome in outcomes} == {"own did not answer within 0.3 s."}
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(str, 1) == "1"
    finally:
        let_go.set()


class Engine:
    """What the tools of DuckDuckGo ask, without a network."""

    def results(self, *asked: Any, **how: Any) -> list[dict[str, str]]:
        return [
            {"snippet": "It has 4,000 inhabitants, [2] says.", "title": "A, b: c", "link": URL},
            {"snippet": "Second", "title": "Two", "link": "https://b.example/2"},
        ]


URL = "https://a.example/(1)"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("output_format", ["string", "json", "list"])
async def test_duckduckgo_of_langchain(output_format: str):
    pytest.importorskip("langchain_community")
    from langchain_community.tools import DuckDuckGoSearchResults

    tool = DuckDuckGoSearchResults.model_construct(
        api_wrapper=Engine(), output_format=output_format, max_results=4
    )
    assert [(hit.url, hit.title) for hit in await ask(tool)] == [
        (URL, "A, b: c"),
        ("https://b.example/2", "Two"),
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_searx_of_langchain(searx: Searx):
    pytest.importorskip("langchain_community")
    from langchain_community.tools import SearxSearchResults
    from langchain_community.utilities import SearxSearchWrapper

    wrapper = SearxSearchWrapper(searx_host=f"{searx.url}/search")
    found = await ask(SearxSearchResults(wrapper=wrapper, num_results=3))
    assert len(found) == 3
    assert all(hit.title and hit.snippet for hit in found)


async def test_a_run_over_a_vector_store_quotes_its_documents():
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    sentence = "The harbour of Quillon opened in 1932 with two piers."
    store.add_documents(
        [
            Document(page_content=sentence, metadata={"shelf": 3}),
            Document(page_content="The mill of Quillon grinds oats.", metadata={"shelf": 4}),
        ]
    )
    result = await research(
        "When did the harbour of Quillon open?",
        settings=Settings.load(knowledge=False, iterations=1),
        providers=[store.as_retriever()],
    )
    assert sentence in result.report
    assert result.status == "completed"


async def test_a_run_whose_documents_are_of_no_use_says_so():
    result = await research(
        "When did the harbour of Quillon open?",
        settings=Settings.load(knowledge=False, iterations=1),
        providers=[tool([{"shelf": 3}])],
    )
    assert result.status != "completed"
    assert "search returned 1 results, but none has a URL or text." in {
        problem.reason for problem in result.problems
    }

"""The search engine of the world answers and fails as SearXNG does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import httpx
import pytest

from tests.world.searx import PAGE, Searx
from tests.world.sites import World

Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
async def ask(searx: Searx):
    async with httpx.AsyncClient(base_url=searx.url, timeout=5) as client:
        yield lambda query, **more: client.get(
            "/search", params={"q": query, "format": "json", **more}
        )


async def urls(answer: Awaitable[httpx.Response]) -> list[str]:
    return [result["url"] for result in (await answer).json()["results"]]


async def test_an_answer_has_the_keys_of_the_real_thing(world: World, ask: Ask):
    answer = (await ask("census Port Aldermere")).json()
    assert set(answer) == {
        *(
            "query",
            "number_of_results",
            "results",
            "answers",
            "corrections",
            "infoboxes",
            "suggestions",
            "unresponsive_engines",
        )
    }
    assert (answer["query"], answer["number_of_results"]) == ("census Port Aldermere", 0)
    best = answer["results"][0]
    assert best["url"] == world.url("news", "/2026/census")
    assert best["title"].startswith("Census: Port Aldermere passes fifty thousand")
    assert "Aldermere" in best["content"]
    assert datetime.fromisoformat(best["publishedDate"]).year == 2026
    assert best["parsed_url"][:3] == [
        "http",
        httpx.URL(best["url"]).netloc.decode(),
        "/2026/census",
    ]
    assert {"engine", "engines", "positions", "score", "category"} <= set(best)
    assert any(result["publishedDate"] is None for result in answer["results"])


@pytest.mark.parametrize(
    ("query", "site", "path"),
    [
        ("What is ferrolite?", "docs", "/"),
        ("how do I install ferrolite", "docs", "/guide/install"),
        ("FerroliteLockError held by another process", "forum", "/t/lock-error"),
        ("Tamsin Solo solar radio", "encyclopedia", "/wiki/Tamsin_Solo"),
        ("harbour report 2025 containers", "archive", "/reports/harbour-2025.pdf"),
        ("notes on spring steel", "archive", "/spring-steel.txt"),
    ],
)
async def test_the_page_that_answers_stands_among_the_first(
    world: World, ask: Ask, query: str, site: str, path: str
):
    assert world.url(site, path) in (await urls(ask(query)))[:3]


async def test_nothing_found_is_an_answer(ask: Ask):
    assert await urls(ask("xylophone zeppelin")) == []


async def test_further_pages(world: World, ask: Ask):
    for number in range(30):
        world.put(
            "blog",
            f"/walrus/{number}",
            f"<title>Walrus {number}</title><p>Walruses, part {number}.",
        )
    first, second, third = [await urls(ask("walrus", pageno=page)) for page in (1, 2, 3)]
    assert (len(first), len(second), len(third)) == (PAGE, 30 - PAGE, 0)
    assert not set(first) & set(second)


async def test_the_private_site_is_not_found(world: World, ask: Ask):
    assert world.url("private", "/secret") not in await urls(ask("code of the lamp room heron"))


async def test_scripted_answers(world: World, searx: Searx, ask: Ask):
    wanted = [
        world.url("odd", "/hang"),
        world.url("docs", "/guide/install"),
        "http://10.0.0.1/admin",
    ]
    searx.script("Ferrolite", wanted)
    assert await urls(ask("all about FERROLITE please")) == wanted
    searx.script("ferrolite", [])
    assert await urls(ask("ferrolite")) == []
    assert await urls(ask("radio"))


async def test_queries_are_logged(searx: Searx, ask: Ask):
    await ask("one", time_range="year")
    await ask("two & more")
    assert searx.queries == ["one", "two & more"]
    assert searx.requests[0].args["time_range"] == "year"


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        ("forbidden", 403, "text/html"),
        ("limited", 429, "text/plain"),
        ("error", 500, "text/html"),
        ("html", 200, "text/html"),
    ],
)
async def test_faults_that_are_no_json(searx: Searx, ask: Ask, fault, status: int, kind: str):
    searx.fail(fault)
    answer = await ask("radio")
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (status, kind)


async def test_engines_that_do_not_answer(searx: Searx, ask: Ask):
    searx.fail("unresponsive")
    answer = (await ask("radio")).json()
    assert answer["results"] == []
    assert ["brave", "timeout"] in answer["unresponsive_engines"]


async def test_truncated_json(searx: Searx, ask: Ask):
    searx.fail("truncated")
    answer = await ask("radio")
    assert answer.status_code == 200
    with pytest.raises(ValueError, match="line 1"):
        answer.json()


async def test_no_answer(searx: Searx):
    searx.fail("hang")
    async with httpx.AsyncClient(timeout=0.1) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get(f"{searx.url}/search?q=radio&format=json")


async def test_a_fault_may_pass_and_may_meet_some_queries_alone(searx: Searx, ask: Ask):
    searx.fail("error", times=2, query="radio")
    assert [(await ask(query)).status_code for query in ("town", "a radio", "Radio", "radio")] == [
        200,
        500,
        500,
        200,
    ]


async def test_without_the_json_format_there_is_a_page(searx: Searx):
    async with httpx.AsyncClient(base_url=searx.url) as client:
        assert "<form" in (await client.get("/search?q=radio")).text
        assert (await client.post("/search", data={"q": "radio", "format": "json"})).json()[
            "results"
        ]
        assert (await client.get("/healthz")).text == "OK"

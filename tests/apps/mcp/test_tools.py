"""The six tools by the official client over HTTP: what they give, as text and as data."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest
from mcp_types import CallToolResult

from spadework.apps.mcp import call_runs
from spadework.apps.mcp.call_runs import Teller
from spadework.events import Read
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.settings import Settings
from spadework.tools.web.chromium import installed_chromium
from spadework.tools.web.urls import host_of
from tests.apps.mcp.serving import QUESTION, TOOLS, given, over_http, text, tokens, until
from tests.thinned import thinned
from tests.world.held import Held
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


async def test_the_six_tools_have_descriptions_and_schemas_of_what_they_take_and_give(
    settings: Settings,
) -> None:
    async with over_http(settings) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == TOOLS
    assert tools["agentic_search"].input_schema["required"] == ["query"]
    assert {"query", "completeness_threshold", "max_iterations"} <= set(
        tools["agentic_search"].input_schema["properties"]
    )
    for tool in tools.values():
        assert tool.description
        assert len(tool.description) > 150
        assert tool.output_schema
        assert tool.output_schema["type"] == "object"
        assert tool.output_schema["properties"]


async def test_agentic_search_revises_the_report_of_a_session_that_it_follows(
    settings: Settings, model: Model, searx: Searx
) -> None:
    model.script("RevisionAnswer", {"title": "Told anew", "sections": []})
    async with over_http(settings) as client:
        first = given(await client.call_tool("agentic_search", {"query": QUESTION}))
        searched = len(searx.queries)
        wish = {"query": "in German", "follows": first["session_id"], "instructions": "For mayors."}
        second = given(await client.call_tool("agentic_search", wish))
        unknown = {"query": "shorter", "follows": "20260101-000000-abcdef"}
        refused = await client.call_tool("agentic_search", unknown)
    assert len(searx.queries) == searched
    assert "This report revises the one from the previous session" in second["report"]
    folder = session_folder(settings.home, second["session_id"])
    assert read_metadata(folder).wishes == "For mayors."
    assert refused.is_error
    assert "There is no session" in text(refused)


async def test_agentic_search_gives_a_report_with_its_sources_and_how_far_it_is_proven(
    settings: Settings, model: Model
) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with over_http(settings) as client:
        result = await client.call_tool(
            "agentic_search",
            {"query": QUESTION, "max_iterations": 1},
            progress_callback=on_progress,
        )
    data = given(result)
    assert json.loads(text(result)) == data, "text and structured content are one object"
    assert (data["status"], data["mode"], data["question"], data["iterations"]) == (
        "completed",
        "model",
        QUESTION,
        1,
    )
    assert {topic["name"]: topic["covered"] for topic in data["topics"]} == {
        "Inhabitants": True,
        "Lighthouse": True,
    }
    assert data["report"].startswith(f"# {QUESTION}")
    assert "[1]" in data["report"]
    first = data["results"][0]
    assert first["url"] in data["report"]
    assert set(first["trust_parts"]) == {"authority", "consistency", "publisher", "recency"}
    assert len({row["n"] for row in data["results"]}) == len(data["results"])
    page = (session_folder(settings.home, data["session_id"]) / "pages").glob("*.md")
    assert first["content"] in [text.read_text() for text in page], "a short page comes whole"
    assert data["usage"]["model_calls"] == len(model.requests)
    scores = [topic["score"] for topic in data["topics"]]
    assert (data["success"], data["completeness"]) == (
        True,
        pytest.approx(sum(scores) / 2, abs=0.001),
    )
    assert tokens(result) <= 20_000
    numbers = [progress for progress, _, _ in told]
    assert numbers == sorted(set(numbers)), "it only grows"
    said = " | ".join(message or "" for _, _, message in told)
    assert all(
        words in said
        for words in ("Planned 2 topics: Inhabitants, Lighthouse", "2 of 2 topics answered")
    )


async def test_serp_search_gives_ranked_hits_with_the_parts_of_their_relevance(
    settings: Settings, searx: Searx, world: World
) -> None:
    async with over_http(settings) as client:
        result = await client.call_tool(
            "serp_search", {"query": "Port Aldermere inhabitants", "max_results": 3}
        )
    data = given(result)
    assert [hit["rank"] for hit in data["hits"]] == [1, 2, 3]
    assert all(hit["url"] in text(result) for hit in data["hits"])
    for hit in data["hits"]:
        parts = hit["parts"]
        assert hit["relevance"] == pytest.approx(
            0.4 * parts["position"] + 0.3 * parts["title"] + 0.3 * parts["snippet"], abs=0.002
        )
    assert not [record for record in world.requests if record.site not in ("odd",)], (
        "nothing is read"
    )


async def test_serp_search_asks_for_what_is_wished_of_the_hits(
    settings: Settings, searx: Searx
) -> None:
    wishes = {"language": "de", "news": True, "country": "at", "sites": "nowhere.example"}
    asked = {"query": "Port Aldermere lighthouse", **wishes, "since": "2020-01-01"}
    async with over_http(settings) as client:
        found = await client.call_tool("serp_search", asked)
        refused = await client.call_tool("serp_search", asked | {"country": "Austria"})
        late = await client.call_tool("serp_search", asked | {"since": "tomorrow"})
    [request] = [one for one in searx.requests if one.path == "/search"]
    assert request.args["language"] == "de-AT"
    assert request.args["categories"] == "news"
    assert given(found)["hits"] == [], "none is from there"
    assert "search_country must be " in text(refused)
    assert "search_since must be " in text(late)


async def test_the_domains_that_the_owner_keeps_to_are_not_widened(
    settings: Settings, world: World
) -> None:
    host = host_of(world.url("news", "/"))
    asked = {"query": "Port Aldermere inhabitants", "sites": host_of(world.url("blog", "/"))}
    async with over_http(settings.with_(search_sites=host)) as client:
        hits = given(await client.call_tool("serp_search", asked))["hits"]
    assert {host_of(hit["url"]) for hit in hits} == {host}


async def test_advanced_scrape_url_reads_a_page_and_a_long_one_in_stretches(
    settings: Settings, world: World
) -> None:
    told = "".join(
        f"<p>Paragraph {n} of the long story of the harbour, which nobody has ever read to its end"
        " in one go.</p>"
        for n in range(900)
    )
    url = world.put(
        "blog",
        "/long",
        "<html><head><title>A long story</title></head><body><main><h1>A long"
        f" story</h1>{told}</main></body></html>",
    )
    async with over_http(settings) as client:
        first = await client.call_tool("advanced_scrape_url", {"url": url})
        stretches, answers = [given(first)], [first]
        while (offset := stretches[-1]["next_offset"]) is not None:
            answers.append(
                await client.call_tool(
                    "advanced_scrape_url", {"url": url, "offset": offset, "max_chars": 100_000}
                )
            )
            stretches.append(given(answers[-1]))
    assert (stretches[0]["title"], stretches[0]["level"], stretches[0]["media_type"]) == (
        "A long story",
        0,
        "text/html",
    )
    assert len(stretches) > 2
    whole = "".join(stretch["markdown"] for stretch in stretches)
    assert len(whole) == stretches[0]["chars"]
    assert "Paragraph 0 of" in whole
    assert "Paragraph 899 of" in whole
    assert "Continue with offset=" in text(first)
    assert all(tokens(answer) <= 20_000 for answer in answers)


async def test_gathering_gives_the_contents_of_the_best_pages_within_the_limit(
    settings: Settings, model: Model
) -> None:
    arguments = {"query": "Port Aldermere lighthouse", "max_pages": 3}
    async with over_http(settings) as client:
        result = await client.call_tool("intelligent_research_with_advanced_scraping", arguments)
    data = given(result)
    assert len(data["pages"]) == 3
    assert all(
        page["content"] and page["url"] in text(result) and page["content"] in text(result)
        for page in data["pages"]
    )
    assert not model.requests, "no model is asked"
    assert tokens(result) <= 20_000


async def test_a_page_that_fails_is_replaced_by_the_next_best(
    settings: Settings, searx: Searx, world: World
) -> None:
    said = "The keeper of the lamp lives on the rock all winter."
    body = (
        f"<html><head><title>Keeper</title></head><body><main><h1>Keeper</h1><p>{said}</p></main>"
    )
    good = world.put("forum", "/keeper", body)
    bad = world.put("blog", "/gone", body, status=404)
    searx.script("keeper", [bad, good])
    async with over_http(settings) as client:
        data = given(
            await client.call_tool(
                "intelligent_research_with_advanced_scraping",
                {"query": "keeper of the lamp", "max_pages": 1},
            )
        )
    assert [page["url"] for page in data["pages"]] == [good]
    assert [page["url"] for page in data["unread"]] == [bad]


@pytest.mark.parametrize("format_", thinned(["docx", "html", "json", "bib", "md"], 5))
async def test_create_research_report_writes_into_the_folder_of_the_session(
    settings: Settings, format_: str
) -> None:
    async with over_http(settings) as client:
        made = given(await client.call_tool("agentic_search", {"query": QUESTION}))
        result = await client.call_tool(
            "create_research_report", {"session_id": made["session_id"], "format": format_}
        )
    data = given(result)
    folder = settings.home / "sessions" / made["session_id"]
    file = folder / data["file"]
    assert file.resolve().is_relative_to(folder.resolve())
    assert file.stat().st_size == data["bytes"] > 0
    assert data["report"].startswith(f"# {QUESTION}")
    assert data["path"] == "", "who comes over the network is not told where files are"


async def test_a_report_is_composed_anew_of_the_quotes_of_each_topic(settings: Settings) -> None:
    async with over_http(settings) as client:
        made = given(await client.call_tool("agentic_search", {"query": QUESTION}))
        evidence = given(
            await client.call_tool(
                "get_session_data", {"session_id": made["session_id"], "part": "evidence"}
            )
        )["rows"]
        arguments = {"session_id": made["session_id"], "composition": "quotes"}
        data = given(await client.call_tool("create_research_report", arguments))
    assert evidence
    assert all(f"## {topic['name']}" in data["report"] for topic in made["topics"])
    assert data["report"].count("[1]") >= 1
    assert (settings.home / "sessions" / made["session_id"] / data["file"]).read_text() == data[
        "report"
    ]


async def test_every_part_of_a_session_can_be_read_page_by_page(settings: Settings) -> None:
    async def part(name: str, **more: object) -> dict[str, object]:
        answer: CallToolResult = await client.call_tool(
            "get_session_data", {"session_id": made["session_id"], "part": name, **more}
        )
        assert tokens(answer) <= 20_000
        return given(answer)

    async with over_http(settings) as client:
        made = given(await client.call_tool("agentic_search", {"query": QUESTION}))
        latest = given(await client.call_tool("get_session_data", {"session_id": "latest"}))
        parts = {
            name: await part(name)
            for name in (
                "overview",
                "progress",
                "plan",
                "evidence",
                "sources",
                "conflicts",
                "problems",
                "report",
            )
        }
        [entry] = (await part("evidence", limit=1))["rows"]
        by_hash = await part("page", page=entry["content_hash"])
        number = next(
            row["n"]
            for row in parts["sources"]["rows"]
            if row["content_hash"] == entry["content_hash"]
        )
        by_number = await part(
            "page", page=str(number), offset=entry["start"], limit=entry["end"] - entry["start"]
        )
        second = await part("evidence", offset=1, limit=1)
    assert latest["session_id"] == made["session_id"]
    assert latest["rows"][0]["counts"]["sources"] == len(made["results"])
    assert [row["name"] for row in parts["plan"]["rows"]] == ["Inhabitants", "Lighthouse"]
    assert parts["progress"]["rows"][1]["round"] == 1
    assert parts["report"]["text"] == made["report"]
    assert entry["quote"] in by_hash["text"]
    assert by_number["text"] == entry["quote"], "a quote stands at its place"
    assert second["offset"] == 1
    assert second["rows"][0]["id"] == "E2"
    assert not [
        value
        for name, value in parts["overview"]["rows"][0].items()
        if str(settings.home) in json.dumps(value)
    ]


@pytest.mark.full
async def test_calls_run_side_by_side(settings: Settings, world: World, model: Model) -> None:
    async with over_http(settings) as client:
        answers = await asyncio.gather(
            *(client.call_tool("agentic_search", {"query": f"{QUESTION} {n}"}) for n in range(4))
        )
    assert len({given(answer)["session_id"] for answer in answers}) == 4
    assert all(given(answer)["status"] == "completed" for answer in answers)


@pytest.mark.full
async def test_where_the_process_is_full_the_place_in_the_queue_is_told(settings: Settings) -> None:
    settings, held, told = settings.with_(parallel_sessions=1), Held(), list[str]()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")
        if "number 1 of 1 in the queue" in told[-1]:
            held.go.set()

    first = Session.start(QUESTION, settings=settings).search_with(held)
    inside = asyncio.create_task(first.result())
    await until(lambda: held.asked)
    async with over_http(settings) as client:
        answer = await client.call_tool(
            "agentic_search", {"query": QUESTION}, progress_callback=on_progress
        )
    assert not answer.is_error
    assert [message for message in told if "number 1 of 1 in the queue" in message]
    await inside


async def test_no_more_than_one_message_a_second_tells_of_pages_and_each_page_counts_once() -> None:
    told: list[str] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    teller = Teller(report, 60)
    for n in range(200):
        await teller.tell(
            Read(topic="a", url=f"https://site.example/{n % 16}", title="", reason="")
        )
    assert 1 <= len(told) <= 2
    await teller.beat()
    assert told[-1] == "16 pages read"


@pytest.mark.parametrize("tool", ["agentic_search", "serp_search"])
async def test_a_call_that_waits_is_never_silent(
    settings: Settings, searx: Searx, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    """Many clients give a call up after 20 seconds without progress, here a hundredth of that."""
    assert call_runs.BEAT_SECONDS <= 20 / 2
    monkeypatch.setattr(call_runs, "BEAT_SECONDS", call_runs.BEAT_SECONDS / 100)
    searx.delay = 0.6
    told: list[tuple[float, str]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    async with over_http(settings) as client:
        answer = await client.call_tool(tool, {"query": QUESTION}, progress_callback=on_progress)
    assert not answer.is_error
    numbers = [number for number, _ in told]
    assert numbers == sorted(set(numbers))
    assert max(Counter(message for _, message in told).values()) > 5, told


async def test_an_unknown_argument_is_refused_with_those_that_are_known(settings: Settings) -> None:
    async with over_http(settings) as client:
        refused = await client.call_tool("serp_search", {"query": "boats", "limit": 3})
    assert refused.is_error
    assert "serp_search does not accept limit. It accepts query" in text(refused)


async def test_all_that_is_told_of_the_tools_is_small(settings: Settings) -> None:
    async with over_http(settings) as client:
        tools = (await client.list_tools()).tools
    told = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    assert sum(len(json.dumps(one, separators=(",", ":"))) for one in told) < 12_000


async def test_what_is_not_offered_is_not_advertised(settings: Settings) -> None:
    for mode in ("auto", "legacy"):
        async with over_http(settings, mode) as client:
            offered = client.server_capabilities
        assert (offered.prompts, offered.logging, offered.completions) == (None, None, None)
        assert offered.tools is not None
        assert offered.resources is not None


async def test_providers_that_lack_their_key_are_not_offered(settings: Settings) -> None:
    async with over_http(settings) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    said = tools["serp_search"].input_schema["properties"]["provider"]["description"]
    assert "searxng, duckduckgo" in said
    assert not any(name in said for name in ("serper", "tavily", "brave"))
    formats = tools["create_research_report"].input_schema["properties"]["format"]["enum"]
    assert ("pdf" in formats) == bool(installed_chromium())

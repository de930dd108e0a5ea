"""The sites of the world answer as they promise, and count what they were asked."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import httpx
import pypdfium2
import pytest

from tests.world import document
from tests.world.background import Background, listen
from tests.world.sites import SITES, World
from tests.world.timing import eventually


@pytest.fixture
async def client():
    async with httpx.AsyncClient(timeout=5) as opened:
        yield opened


@pytest.mark.timed
def test_everything_starts_and_stops_quickly():
    before = time.monotonic()
    with Background() as background:
        world = World(background)
        assert httpx.get(world.url("odd", "/plain")).status_code == 200
        started = time.monotonic()
    assert started - before < 1
    assert time.monotonic() - started < 1
    with pytest.raises(httpx.ConnectError):
        httpx.get(world.url("odd", "/plain"))


@pytest.mark.timed
def test_clients_left_hanging_do_not_delay_the_end():
    with Background() as background, httpx.Client(timeout=0.3) as client:
        world = World(background)
        with pytest.raises(httpx.TimeoutException), client.stream("GET", world.url("odd", "/hang")):
            pass
        before = time.monotonic()
    assert time.monotonic() - before < 1


async def test_every_site_has_a_host_and_a_port_of_its_own(world: World):
    assert len({httpx.URL(world.url(site)).host for site in SITES}) == len(SITES)
    assert world.hosts == tuple(host for host in SITES.values() if host != SITES["private"])
    assert world.env == {"SPADEWORK_ALLOW_HOSTS": ",".join(world.hosts)}


async def test_every_document_is_served_as_it_is_on_disk(world: World, client: httpx.AsyncClient):
    files = list(document.load(world.bases))
    assert len(files) > 30
    for file in files:
        answer = await client.get(world.url(file.site, file.path))
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (
            200,
            file.body,
            file.media_type,
        )


async def test_a_request_is_logged_with_all_that_was_asked(world: World, client: httpx.AsyncClient):
    await client.post(
        world.url("news", "/2026/census?a=1&b=%C3%A9"),
        content=b"hello",
        headers={"X-Mark": "seven"},
    )
    (record,) = world.asked("news", "/2026/census")
    assert (record.method, record.args, record.body, record.headers["x-mark"]) == (
        "POST",
        {"a": "1", "b": "é"},
        b"hello",
        "seven",
    )
    assert record.status == 200
    # What was sent is written down after the client has it.
    await eventually(lambda: record.sent > 100)
    assert record.ended is not None
    assert 0 <= record.seconds < 5


@pytest.mark.timed
async def test_a_client_that_leaves_is_noticed(world: World, client: httpx.AsyncClient):
    with pytest.raises(httpx.TimeoutException):
        await client.get(world.url("odd", "/hang"), timeout=0.3)
    (record,) = world.asked("odd")
    await eventually(lambda: record.ended)
    assert record.status is None
    assert record.seconds < 4


async def test_switches_work_at_run_time_and_end_with_the_reset(
    world: World, client: httpx.AsyncClient
):
    url = world.url("news", "/2026/census")
    world.delay = 0.2
    assert (await client.get(url)).elapsed.total_seconds() >= 0.2
    world.fail_everything = 503
    assert (await client.get(url)).status_code == 503
    world.hanging = {"news"}
    with pytest.raises(httpx.TimeoutException):
        await client.get(url, timeout=0.3)
    world.hanging, world.hang_everything = set(), True
    with pytest.raises(httpx.TimeoutException):
        await client.get(world.url("docs"), timeout=0.3)
    world.reset()
    assert (await client.get(url)).status_code == 200
    assert len(world.requests) == 1


async def test_a_page_can_be_published_and_changed(world: World, client: httpx.AsyncClient):
    url = world.put(
        "blog",
        "/new",
        "<title>New</title><p>Fresh words from " + world.url("docs"),
        headers={"x-mark": "1"},
    )
    answer = await client.get(url)
    assert (answer.status_code, answer.headers["x-mark"]) == (200, "1")
    assert any(found.title == "New" and "Fresh words" in found.text for found in world.documents)
    world.put("blog", "/new", "gone", "text/plain", status=410)
    assert (await client.get(url)).status_code == 410
    world.reset()
    assert (await client.get(url)).status_code == 404


@pytest.mark.parametrize("code", [403, 404, 410, 429, 500, 503])
async def test_statuses(world: World, client: httpx.AsyncClient, code: int):
    answer = await client.get(world.url("odd", f"/status/{code}?after=7"))
    assert (answer.status_code, answer.headers["retry-after"]) == (code, "7")


async def test_a_failure_that_passes(world: World, client: httpx.AsyncClient):
    url = world.url("odd", "/status/503?times=2")
    assert [(await client.get(url)).status_code for _ in range(4)] == [503, 503, 200, 200]


async def test_redirects(world: World, client: httpx.AsyncClient):
    answer = await client.get(world.url("odd", "/chain/4"), follow_redirects=True)
    assert [step.status_code for step in answer.history] == [308, 307, 303, 302, 301]
    assert "lighthouse" in answer.text
    for path in ("/loop/a", "/grow/1"):
        with pytest.raises(httpx.TooManyRedirects):
            await client.get(world.url("odd", path), follow_redirects=True)
    away = await client.get(
        world.url("odd", "/to"), params={"url": world.url("private", "/secret")}
    )
    assert away.headers["location"] == world.url("private", "/secret")
    assert not world.asked("private")


async def test_time_taking_pages(world: World, client: httpx.AsyncClient):
    assert (
        await client.get(world.url("odd", "/slow-start?seconds=0.2"))
    ).elapsed.total_seconds() >= 0.2
    async with client.stream("GET", world.url("odd", "/drip?seconds=0.01&drops=5")) as answer:
        assert len([piece async for piece in answer.aiter_raw()]) > 2
    async with client.stream("GET", world.url("odd", "/endless")) as answer:
        read = 0
        async for piece in answer.aiter_raw():
            read += len(piece)
            if read > 3_000_000:
                break
    (record,) = world.asked("odd", "/endless")
    await eventually(lambda: record.ended)
    assert 3_000_000 <= record.sent < 30_000_000


async def test_encodings(world: World, client: httpx.AsyncClient):
    bomb = await client.get(world.url("odd", "/bomb?megabytes=5"))
    assert int(bomb.headers["content-length"]) < 10_000
    assert len(bomb.content) > 5_000_000
    for name in ("gzip", "deflate"):
        assert "lighthouse" in (await client.get(world.url("odd", f"/packed/{name}"))).text
    lying = await client.get(world.url("odd", "/charset/lying"))
    assert lying.headers["content-type"] == "text/html; charset=utf-8"
    with pytest.raises(UnicodeDecodeError):
        lying.content.decode("utf-8")
    for name, codec in (("meta", "latin-1"), ("header", "latin-1"), ("bom", "utf-16")):
        assert "Gäste geöffnet" in (
            await client.get(world.url("odd", f"/charset/{name}"))
        ).content.decode(codec)


async def test_a_page_that_is_known_is_not_sent_again(world: World, client: httpx.AsyncClient):
    url = world.url("odd", "/kept?age=60")
    first = await client.get(url)
    assert first.headers["cache-control"] == "max-age=60"
    for name, value in (
        ("if-none-match", first.headers["etag"]),
        ("if-modified-since", first.headers["last-modified"]),
    ):
        again = await client.get(url, headers={name: value})
        assert (again.status_code, again.content) == (304, b"")


async def test_long_and_deep_pages(world: World, client: httpx.AsyncClient):
    long = (await client.get(world.url("odd", "/long?paragraphs=700"))).text.splitlines()
    assert len(set(long)) == 700
    assert (await client.get(world.url("odd", "/deep?levels=300"))).text.count("<div>") == 300


async def test_a_query_or_a_slash_at_the_end_makes_no_difference(
    world: World, client: httpx.AsyncClient
):
    bodies = {
        (await client.get(world.url("docs", "/guide/install" + end))).content
        for end in ("", "/", "?utm_source=mail")
    }
    assert len(bodies) == 1


async def test_walls(world: World, client: httpx.AsyncClient):
    assert (await client.get(world.url("odd", "/bot-wall"))).status_code == 403
    dressed = {"user-agent": "Mozilla/5.0", "accept-language": "en"}
    assert (await client.get(world.url("odd", "/bot-wall"), headers=dressed)).status_code == 200
    assert (
        await client.get(world.url("odd", "/cookie-wall"), follow_redirects=True)
    ).status_code == 200


@pytest.mark.parametrize(
    "path", ["/short", "/cut-chunk", "/garbage", "/headers", "/half-headers", "/reset", "/closed"]
)
async def test_broken_answers(world: World, client: httpx.AsyncClient, path: str):
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        await client.get(world.url("broken", path))
    assert len(world.asked("broken", path)) == 1


async def test_robots_forbid_a_part_of_the_documentation(world: World, client: httpx.AsyncClient):
    assert "Disallow: /internal/" in (await client.get(world.url("docs", "/robots.txt"))).text
    assert (await client.get(world.url("news", "/robots.txt"))).status_code == 404


async def test_the_pdf_is_one(world: World, client: httpx.AsyncClient):
    body = (await client.get(world.url("archive", "/reports/harbour-2025.pdf"))).content
    with pypdfium2.PdfDocument(io.BytesIO(body)) as paper:
        page = paper[0]
        text = page.get_textpage()
        assert "1,482 ships" in text.get_text_range()
        text.close()
        page.close()
        assert paper.get_metadata_dict()["Title"] == "Harbour report 2025 of Port Aldermere"


async def test_links_between_sites_have_real_addresses(world: World):
    assert not any(b"site://" in file.body for file in document.load(world.bases))
    page = next(found for found in world.documents if found.path == "/posts/radio-of-my-life")
    assert world.url("private", "/secret").encode() in page.body


def test_a_socket_that_listens_has_a_port_of_its_own():
    with listen("127.0.1.99") as one, listen("127.0.1.99") as other:
        assert one.getsockname() != other.getsockname()


def test_the_environment_is_ours(tmp_path: Path):
    foreign = [
        name
        for name in os.environ
        if name.startswith(("OPENAI_", "LANGSMITH", "LANGCHAIN", "SEARXNG_URL"))
    ]
    assert foreign == []
    assert [name for name in os.environ if name.startswith("SPADEWORK_")] == ["SPADEWORK_HOME"]
    assert os.environ["SPADEWORK_HOME"].startswith(str(tmp_path))

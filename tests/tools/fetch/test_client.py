"""Fetching from real servers: the ordinary page, every odd server by its right name and in time,
and good manners.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from itertools import pairwise

import pytest
from blockbuster import blockbuster_ctx

from spadework.errors import (
    Blocked,
    FetchError,
    NotAllowed,
    TooLarge,
    TooSlow,
    Unreachable,
    Unreadable,
)
from spadework.settings import Settings
from spadework.tools.fetch import exchange
from spadework.tools.fetch.client import Web
from tests.tools.fetch.conftest import until
from tests.world.sites import World
from tests.world.timing import peak


async def test_an_ordinary_page_comes_with_what_the_server_said(world: World, web: Web):
    page = await web.fetch(world.url("odd", "/plain#part"), seconds=5)
    assert (page.url, page.status, page.media_type, page.charset, page.level) == (
        world.url("odd", "/plain"),
        200,
        "text/html",
        "utf-8",
        0,
    )
    assert b"41 metres tall" in page.body
    [asked] = world.asked("odd", "/plain")
    assert asked.headers["user-agent"].startswith("spadework/")
    assert asked.headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.timed
@pytest.mark.parametrize(
    ("site", "path", "error", "says"),
    [
        ("odd", "/status/401", Blocked, "401 (unauthorized)"),
        ("odd", "/status/403", Blocked, "403 (forbidden)"),
        ("odd", "/status/404", Blocked, "404 (not found)"),
        ("odd", "/status/410", Blocked, "410 (gone)"),
        ("odd", "/status/429", Blocked, "429 (too many requests)"),
        ("odd", "/status/499", Blocked, "499"),
        ("odd", "/status/500", Unreachable, "500 (internal server error)"),
        ("odd", "/status/503", Unreachable, "503 (service unavailable)"),
        ("odd", "/loop/a", Unreachable, "redirects more than 8 times"),
        ("odd", "/grow/1", Unreachable, "redirects more than 8 times"),
        ("odd", "/to?url=file:///etc/passwd", NotAllowed, "not an http or https URL"),
        ("odd", "/to?url=//user:secret@example.com/", NotAllowed, "user name or password"),
        ("odd", "/hang", TooSlow, "did not load within"),
        ("odd", "/drip", TooSlow, "did not load within"),
        ("odd", "/endless", TooLarge, "1,000,000 bytes"),
        ("odd", "/bomb", TooLarge, "1,000,000 bytes"),
        ("odd", "/bomb?layers=2", TooLarge, "1,000,000 bytes"),
        ("odd", "/bomb?layers=4", Unreadable, "gzip, gzip, gzip, gzip"),
        ("odd", "/packed/broken", Unreachable, "ends early"),
        ("broken", "/short", Unreachable, "sent a broken response"),
        ("broken", "/cut-chunk", Unreachable, "sent a broken response"),
        ("broken", "/garbage", Unreachable, "sent a broken response"),
        ("broken", "/headers", Unreachable, "sent a broken response"),
        ("broken", "/half-headers", Unreachable, "sent a broken response"),
        ("broken", "/reset", Unreachable, "sent a broken response"),
        ("broken", "/closed", Unreachable, "sent a broken response"),
        ("private", "/secret", NotAllowed, "127.0.2.1 is not a public address"),
    ],
)
async def test_an_odd_server_is_named_right_and_in_time(
    world: World, settings: Settings, site, path, error, says
):
    started = time.monotonic()
    async with Web(settings.with_(page_bytes=1_000_000)) as web:
        with pytest.raises(FetchError) as refusal:
            await web.fetch(world.url(site, path), seconds=1.5)
    assert type(refusal.value) is error
    assert says in str(refusal.value)
    assert "secret" not in str(refusal.value).replace("/secret", "")
    assert time.monotonic() - started < 2.5


@pytest.mark.timed
async def test_a_server_that_sends_no_first_byte_is_left_before_the_deadline(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exchange, "FIRST_BYTE_SECONDS", 0.3)
    started = time.monotonic()
    async with Web(settings) as web:
        with pytest.raises(TooSlow, match=r"did not begin to respond within 0\.3 s"):
            await web.fetch(world.url("odd", "/hang"), seconds=30)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "path",
    [
        "/slow-start?seconds=0.3",
        "/drip?seconds=0.01&drops=10",
        "/packed/gzip",
        "/packed/deflate",
        "/untyped",
    ],
)
async def test_slow_packed_and_untyped_pages_come_whole(world: World, web: Web, path):
    page = await web.fetch(world.url("odd", path), seconds=5)
    assert page.body.startswith(b"<title>")
    assert b"Aldermere" in page.body


async def test_a_page_of_an_old_server_ends_with_its_connection(world: World, web: Web):
    assert b"Half a page" in (await web.fetch(world.url("broken", "/old"), seconds=5)).body


@pytest.mark.parametrize("path", ["/chain/5", "/refresh", "/cookie-wall", "/to?url=/plain"])
async def test_redirects_lead_to_the_page(world: World, web: Web, path):
    page = await web.fetch(world.url("odd", path), seconds=5)
    assert b"41 metres tall" in page.body
    assert page.url.endswith(("/plain", "/cookie-wall"))


async def test_cookies_stay_with_their_host(world: World, web: Web):
    world.put(
        "blog",
        "/set",
        "",
        status=302,
        headers={"location": world.url("odd", "/plain"), "set-cookie": "session=1"},
    )
    await web.fetch(world.url("blog", "/set"), seconds=5)
    assert "cookie" not in world.asked("odd", "/plain")[0].headers


async def test_a_server_that_turns_us_away_is_asked_once_more_like_a_browser(
    world: World, web: Web
):
    page = await web.fetch(world.url("odd", "/bot-wall"), seconds=5)
    assert page.level == 1
    first, second = world.asked("odd", "/bot-wall")
    assert first.headers["user-agent"].startswith("spadework/")
    assert second.headers["user-agent"].startswith("Mozilla/")
    await web.fetch(world.url("odd", "/bot-wall"), seconds=5)
    assert len(world.asked("odd", "/bot-wall")) == 3, "the level that worked is remembered"


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_says_later_is_asked_later(world: World, web: Web, status):
    page = await web.fetch(world.url("odd", f"/status/{status}?after=1&times=1"), seconds=5)
    assert page.status == 200
    first, second = world.asked("odd", f"/status/{status}")
    assert second.started - first.started >= 1


@pytest.mark.parametrize(
    ("after", "seconds"), [("3600", 5), ("2", 0.5), ("Fri, 01 Jan 2100 00:00:00 GMT", 5)]
)
async def test_later_is_not_waited_for_when_it_is_far_off(world: World, web: Web, after, seconds):
    with pytest.raises(Blocked, match="429"):
        await web.fetch(
            world.url("odd", f"/status/429?after={after}".replace(" ", "%20")), seconds=seconds
        )
    assert len(world.asked("odd", "/status/429")) == 1


async def test_a_server_that_fails_once_is_asked_again(world: World, web: Web):
    assert (await web.fetch(world.url("odd", "/status/502?times=1"), seconds=5)).status == 200
    with pytest.raises(Unreachable):
        await web.fetch(world.url("odd", "/status/500"), seconds=5)
    assert len(world.asked("odd", "/status/500")) == 2


async def test_a_redirect_to_a_private_address_reaches_nobody(world: World, web: Web):
    received: list[str] = []

    async def listener(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(str(writer.get_extra_info("peername")))
        writer.close()

    async with await asyncio.start_server(listener, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        hosts = [
            "127.0.0.1",
            "localhost",
            "2130706433",
            "0x7f.1",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "0.0.0.0",
            "127.1",
        ]
        for host in [*hosts, "127.0.0.1."]:
            target = f"http://{host}:{port}/latest/meta-data/"
            with pytest.raises(NotAllowed):
                await web.fetch(target, seconds=5)
            with pytest.raises(NotAllowed):
                await web.fetch(world.url("odd", f"/to?url={target}"), seconds=5)
            with pytest.raises(NotAllowed):
                await web.fetch(world.url("odd", f"/refresh?url={target}"), seconds=5)
    assert received == []
    assert not world.asked("private")


async def test_robots_txt_is_honoured_and_asked_for_once(world: World, web: Web):
    with pytest.raises(Blocked, match=r"robots\.txt does not allow"):
        await web.fetch(world.url("docs", "/internal/notes"), seconds=5)
    await asyncio.gather(*(web.fetch(world.url("docs", "/changelog"), seconds=5) for _ in range(3)))
    assert len(world.asked("docs", "/robots.txt")) == 1
    assert not world.asked("docs", "/internal/notes")


async def test_robots_txt_is_honoured_behind_a_redirect(world: World, web: Web):
    with pytest.raises(Blocked, match=r"robots\.txt"):
        await web.fetch(
            world.url("odd", "/to?url=" + world.url("docs", "/internal/notes")), seconds=5
        )


async def test_robots_txt_can_be_lifted(world: World, settings: Settings):
    async with Web(settings.with_(robots=False)) as web:
        world.put("docs", "/internal/notes", "<p>Notes for those who own the site.</p>")
        assert (await web.fetch(world.url("docs", "/internal/notes"), seconds=5)).status == 200
    assert not world.asked("docs", "/robots.txt")


async def test_robots_txt_addresses_us_by_name(world: World, web: Web):
    world.put(
        "blog",
        "/robots.txt",
        "User-agent: *\nAllow: /\n\nUser-agent: spadework\nDisallow: /\n",
        "text/plain",
    )
    world.put("news", "/robots.txt", "User-agent: research\nDisallow: /\n", "text/plain")
    with pytest.raises(Blocked, match=r"robots\.txt"):
        await web.fetch(world.url("blog"), seconds=5)
    await web.fetch(world.url("news"), seconds=5)


@pytest.mark.parametrize("status", [401, 404])
async def test_a_site_without_a_robots_txt_allows_everything(world: World, web: Web, status):
    world.put("blog", "/robots.txt", "User-agent: *\nDisallow: /", "text/plain", status=status)
    world.put("blog", "/page", "<p>Anyone may read this.</p>")
    assert (await web.fetch(world.url("blog", "/page"), seconds=5)).status == 200


async def test_a_crawl_delay_is_kept(world: World, web: Web):
    world.put("blog", "/robots.txt", "User-agent: *\nCrawl-delay: 0.4", "text/plain")
    world.put("blog", "/page", "<p>Anyone may read this, slowly.</p>")
    await asyncio.gather(*(web.fetch(world.url("blog", "/page"), seconds=5) for _ in range(3)))
    starts = sorted(asked.started for asked in world.asked("blog", "/page"))
    assert all(later - earlier > 0.3 for earlier, later in pairwise(starts))


@pytest.mark.timed
async def test_a_crawl_delay_longer_than_the_time_left_is_said_at_once(world: World, web: Web):
    world.put("blog", "/robots.txt", "User-agent: *\nCrawl-delay: 60", "text/plain")
    world.put("blog", "/page", "<p>Anyone may read this, slowly.</p>")
    await web.fetch(world.url("blog", "/page"), seconds=5)
    started = time.monotonic()
    with pytest.raises(TooSlow, match="requires 60 s between two pages"):
        await web.fetch(world.url("blog", "/page"), seconds=5)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("most", [1, 2])
async def test_a_host_is_asked_for_few_pages_at_once(world: World, settings: Settings, most):
    world.delay = 0.1
    async with Web(settings.with_(parallel_per_host=most)) as web:
        await asyncio.gather(
            *(web.fetch(world.url("odd", f"/plain?{n}"), seconds=10) for n in range(6))
        )
    asked = world.asked("odd", "/plain")
    at_once = max(
        sum(other.started <= one.started < (other.ended or 0) for other in asked) for one in asked
    )
    assert at_once == most


async def test_a_host_is_asked_for_few_pages_at_once_by_all_sessions_together(
    world: World, settings: Settings
):
    world.delay = 0.05
    async with AsyncExitStack() as open_:
        webs = [
            await open_.enter_async_context(Web(settings.with_(parallel_per_host=2)))
            for _ in range(6)
        ]
        await asyncio.gather(
            *(
                web.fetch(world.url("odd", f"/plain?{n}-{page}"), seconds=20)
                for n, web in enumerate(webs)
                for page in range(3)
            )
        )
    asked = world.asked("odd", "/plain")
    assert len(asked) == 18
    assert peak(asked) == 2


async def test_a_crawl_delay_is_kept_by_all_sessions_together(world: World, settings: Settings):
    world.put("blog", "/robots.txt", "User-agent: *\nCrawl-delay: 0.4", "text/plain")
    world.put("blog", "/page", "<p>Anyone may read this, slowly.</p>")
    async with Web(settings) as one, Web(settings) as other:
        pages = [(web, world.url("blog", f"/page?{n}")) for n, web in enumerate((one, other) * 2)]
        await asyncio.gather(*(web.fetch(url, seconds=10) for web, url in pages))
    starts = sorted(asked.started for asked in world.asked("blog", "/page"))
    assert len(starts) == 4
    assert all(later - earlier > 0.3 for earlier, later in pairwise(starts))


def test_a_crawl_delay_is_kept_by_all_event_loops_of_the_process(world: World, settings: Settings):
    world.put("blog", "/robots.txt", "User-agent: *\nCrawl-delay: 0.4", "text/plain")
    world.put("blog", "/page", "<p>Anyone may read this, slowly.</p>")

    async def read(n: int) -> None:
        async with Web(settings) as web:
            await web.fetch(world.url("blog", f"/page?{n}"), seconds=10)

    threads = [threading.Thread(target=asyncio.run, args=(read(n),)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    starts = sorted(asked.started for asked in world.asked("blog", "/page"))
    assert len(starts) == 3
    assert all(later - earlier > 0.3 for earlier, later in pairwise(starts))


@pytest.mark.timed
async def test_hosts_do_not_wait_for_each_other(world: World, web: Web):
    world.delay = 0.3
    started = time.monotonic()
    await asyncio.gather(
        *(
            web.fetch(world.url(site), seconds=10)
            for site in ("news", "docs", "forum", "archive", "encyclopedia")
        )
    )
    assert time.monotonic() - started < 1.5


@pytest.mark.parametrize("path", ["/hang", "/drip", "/status/503?after=4", "/endless"])
async def test_a_cancelled_fetch_leaves_no_task_and_no_socket(
    world: World, settings: Settings, sockets: Callable[[], int], path
):
    async with Web(settings.with_(robots=False, page_bytes=10**12)) as web:
        fetches = [
            asyncio.create_task(web.fetch(world.url("odd", path), seconds=30)) for _ in range(3)
        ]
        await until(lambda: len(world.asked("odd")) > 0)
        assert sockets() > 0 or "503" in path
        for fetch in fetches:
            fetch.cancel()
        await asyncio.wait(fetches)
        assert all(fetch.cancelled() for fetch in fetches)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        if "503" not in path:  # an answered request leaves a connection in the pool
            await until(lambda: sockets() == 0)  # a transport closes in a later turn of the loop
        assert (await web.fetch(world.url("odd", "/plain"), seconds=5)).status == 200
    assert sockets() == 0


async def test_a_failed_fetch_leaves_no_socket_once_the_client_is_closed(
    world: World, settings: Settings, sockets: Callable[[], int]
):
    async with Web(settings.with_(page_bytes=1_000)) as web:
        for path in ("/endless", "/bomb", "/status/403", "/hang", "/grow/1"):
            with contextlib.suppress(FetchError):
                await web.fetch(world.url("odd", path), seconds=0.3)
    assert sockets() == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_proxies_of_the_environment_are_not_asked(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, world.url("private"))
    async with Web(settings) as web:
        await web.fetch(world.url("odd", "/plain"), seconds=5)
    assert not world.asked("private")


async def test_nothing_blocks_the_event_loop(world: World, settings: Settings):
    with blockbuster_ctx("spadework"):
        async with Web(settings) as web:
            for path in ("/plain", "/packed/gzip", "/chain/2", "/bot-wall"):
                await web.fetch(world.url("odd", path), seconds=5)

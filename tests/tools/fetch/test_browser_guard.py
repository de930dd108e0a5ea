"""A page in the browser reaches what the guard allows and nothing else, by whichever way it tries;
counted at a listener.
"""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import pytest

from spadework.errors import FetchError, NotAllowed
from spadework.settings import Settings
from spadework.tools.fetch.browser import handle
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.web.chromium import headless_shell, installed_chromium
from tests.tools.fetch.browsing import Trap, browser_proxy, kept_open, needs_chromium
from tests.world.sites import SITES, World

TEXT = (
    "<article><h1>Tide tables</h1><p>The tide tables of Port Aldermere were printed by hand until"
    " the winter of 1974.</p></article>"
)

#: Ways out of a page that stays where it is. Each tells its name in the path.
WAYS = {
    "script": "<script src='http://PLACE/script'></script>",
    "style": "<link rel=stylesheet href='http://PLACE/style'>",
    "import": "<style>@import url(http://PLACE/import);</style>",
    "iframe": "<iframe src='http://PLACE/iframe'></iframe>",
    "object": "<object data='http://PLACE/object'></object>",
    "fetch": "<script>fetch('http://PLACE/fetch').catch(() => 0)</script>",
    "post": (
        "<script>fetch('http://PLACE/post', {method: 'POST', body: 'a=1', mode:"
        " 'no-cors'}).catch(() => 0)</script>"
    ),
    "xhr": (
        "<script>const x = new XMLHttpRequest(); x.open('GET', 'http://PLACE/xhr');"
        " x.send()</script>"
    ),
    "beacon": "<script>navigator.sendBeacon('http://PLACE/beacon', 'a')</script>",
    "events": "<script>new EventSource('http://PLACE/events')</script>",
    "socket": "<script>new WebSocket('ws://PLACE/socket')</script>",
    "worker": (
        "<script>new Worker(URL.createObjectURL(new"
        " Blob([\"fetch('http://PLACE/worker')\"])))</script>"
    ),
    "redirect": "<script>fetch('/to?place=PLACE').catch(() => 0)</script>",
}
#: Ways that are harder to see.
INDIRECT = {
    "prefetch": (
        "<link rel=dns-prefetch href='//PLACE'><link rel=preconnect href='http://PLACE'><link"
        " rel=prefetch href='http://PLACE/pre'>"
    ),
    "https": "<script>fetch('https://PLACE/https').catch(() => 0)</script>",
    "wss": "<script>new WebSocket('wss://PLACE/wss')</script>",
    "notation": (
        "<script>for (const h of ['2130706945', '0x7f000201', '127.2.1', '[::ffff:127.0.2.1]'])"
        " fetch(`http://${h}:PORT/n`).catch(() => 0)</script>"
    ),
    "rtc": (
        "<script>(async () => { const urls = ['stun:PLACE', 'turn:PLACE',"
        " 'turn:PLACE?transport=tcp']; const c = new RTCPeerConnection({iceServers: [{urls,"
        " username: 'a', credential: 'b'}]}); c.createDataChannel('x'); await"
        " c.setLocalDescription(await c.createOffer()); })()</script>"
    ),
    "transport": (
        "<script>try { new WebTransport('https://PLACE/t').ready.catch(() => 0) } catch {}</script>"
    ),
}
#: Ways that are not taken even to a host that is allowed.
CLOSED = {
    "image": "<img src='http://PLACE/image'>",
    "video": "<video src='http://PLACE/video.mp4' autoplay></video>",
    "service worker": (
        "<script>navigator.serviceWorker && navigator.serviceWorker.register('/sw.js').catch(() =>"
        " 0)</script>"
    ),
    "ping": "<a ping='http://PLACE/ping' href='#x' id=a>a</a><script>a.click()</script>",
    "popup": "<script>window.open('http://PLACE/popup')</script>",
}
#: Ways that leave the page.
EXITS = {
    "location": "<script>location = 'http://PLACE/location'</script>",
    "refresh": "<meta http-equiv=refresh content='0; url=http://PLACE/refresh'>",
    "form": (
        "<form action='http://PLACE/form' method=post><input name=a"
        " value=b></form><script>document.forms[0].submit()</script>"
    ),
    "download": "<a href='http://PLACE/download' download id=a>a</a><script>a.click()</script>",
}


@pytest.fixture(scope="module", params=["preferred", pytest.param("whole", marks=pytest.mark.full)])
def chromium(request: pytest.FixtureRequest) -> str:
    """What is read with by default, the headless shell where there is one; and the browser with
    windows beside it.
    """
    needs_chromium()
    if request.param == "whole" and not headless_shell():
        pytest.skip(
            "There is no headless shell, so that the whole browser is the one that is preferred."
        )
    return installed_chromium() if request.param == "whole" else ""


@pytest.fixture
def settings(world: World, chromium: str) -> Settings:
    return Settings(allow_hosts=world.hosts, chromium=chromium)


@pytest.fixture(scope="module", autouse=True)
def open_browser(_world: World, chromium: str) -> Iterator[None]:
    with kept_open(
        Settings(allow_hosts=_world.hosts, chromium=chromium), _world.url("odd", "/plain")
    ):
        yield


@pytest.fixture
async def browser(settings: Settings) -> AsyncIterator[Browser]:
    async with Browser(settings) as opened:
        yield opened


@pytest.fixture
def trap() -> Iterator[Trap]:
    made = Trap(SITES["private"])
    yield made
    made.close()


@pytest.fixture
def guest() -> Iterator[Trap]:
    """The same kind of server at an address that is allowed."""
    made = Trap(SITES["mirror"])
    yield made
    made.close()


def page(ways: dict[str, str], trap: Trap) -> str:
    return f"<title>Tides</title>{TEXT}{''.join(ways.values())}".replace(
        "PLACE", trap.place
    ).replace("PORT", str(trap.port))


async def read(world: World, browser: Browser, ways: dict[str, str], trap: Trap) -> str:
    world.put(
        "archive", "/to", "", status=302, headers={"location": f"http://{trap.place}/redirect"}
    )
    world.put(
        "archive",
        "/sw.js",
        f"fetch('http://{trap.place}/sw'); self.onfetch = () => 0",
        "text/javascript",
    )
    return (
        await browser.visit(world.put("archive", "/tides", page(ways, trap)), seconds=30)
    ).body.decode()


async def test_whatever_a_page_asks_for_the_refused_is_not_reached(
    world: World, browser: Browser, trap: Trap
):
    assert "printed by hand" in await read(world, browser, WAYS | INDIRECT | CLOSED, trap)
    assert trap.came == []
    assert not world.asked("archive", "/sw.js"), "service workers are blocked"


@pytest.mark.full
async def test_the_same_ways_lead_to_what_is_allowed(world: World, browser: Browser, guest: Trap):
    await read(world, browser, WAYS, guest)
    came = {line.split(" ")[1].strip("/") for line in guest.came if " " in line}
    assert came >= set(WAYS), "or the test above proves nothing"


@pytest.mark.full
async def test_what_is_closed_is_closed_to_all(world: World, browser: Browser, guest: Trap):
    await read(world, browser, CLOSED, guest)
    assert guest.came == []


async def test_nothing_goes_past_the_proxy(world: World, browser: Browser, guest: Trap):
    await read(world, browser, INDIRECT, guest)
    assert not [line for line in guest.came if line.startswith("UDP")]


@pytest.mark.parametrize("way", EXITS)
async def test_a_page_does_not_lead_to_what_is_refused(
    world: World, browser: Browser, trap: Trap, way
):
    try:
        await read(world, browser, {way: EXITS[way]}, trap)
    except NotAllowed as error:
        assert "127.0.2.1 is not a public address" in str(error)
    assert trap.came == []


@pytest.mark.full
async def test_a_page_that_leads_on_at_once_hangs_never(
    world: World, settings: Settings, trap: Trap
):
    plain = world.put("archive", "/plain", TEXT)

    async def come_and_go() -> None:
        for _ in range(20):
            async with Browser(settings) as browser:
                with suppress(NotAllowed):
                    await read(world, browser, {"download": EXITS["download"]}, trap)
                again = await browser.visit(plain, seconds=20)
                assert b"printed by hand" in again.body

    await asyncio.gather(*(come_and_go() for _ in range(3)))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_what_is_refused_is_refused(
    world: World, browser: Browser, trap: Trap, status
):
    url = world.put(
        "archive", "/moved", "", status=status, headers={"location": f"http://{trap.place}/secret"}
    )
    with pytest.raises(NotAllowed, match=r"127\.0\.2\.1 is not a public address"):
        await browser.visit(url, seconds=20)
    assert trap.came == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.2.1:PORT/",
        "https://127.0.2.1:PORT/",
        "http://localhost:PORT/",
        "http://[::ffff:7f00:201]:PORT/",
    ],
)
async def test_the_refused_is_not_visited(browser: Browser, trap: Trap, url):
    with pytest.raises(NotAllowed, match="not a public address"):
        await browser.visit(url.replace("PORT", str(trap.port)), seconds=20)
    assert trap.came == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "data:text/html,<p>a",
        "javascript:1",
        "chrome://version",
        "view-source:http://a.example/",
    ],
)
async def test_only_pages_of_the_web_are_visited(browser: Browser, url):
    with pytest.raises(NotAllowed, match="not an http or https URL"):
        await browser.visit(url, seconds=20)


async def test_a_name_that_turns_inside_is_refused(world: World, trap: Trap, chromium: str):
    async def resolve(host: str) -> list[str]:
        asked.append(host)
        return [SITES["archive"] if asked.count(host) == 1 else SITES["private"]]

    asked: list[str] = []
    url = world.put(
        "archive",
        "/turning",
        f"{TEXT}<script>fetch('http://turning.example:{trap.port}/again').catch(() => 0)</script>",
    )
    async with Browser(
        Settings(allow_hosts=(SITES["archive"],), chromium=chromium), resolve=resolve
    ) as browser:
        seen = await browser.visit(url.replace(SITES["archive"], "turning.example"), seconds=20)
    assert b"printed by hand" in seen.body
    assert asked.count("turning.example") >= 2, "a connection is resolved and judged anew"
    assert trap.came == []


def test_the_proxy_serves_nobody_but_the_browser(world: World):
    address = browser_proxy()
    for headers in (
        {},
        {"Proxy-Authorization": "Basic YTpi"},
        {"Proxy-Authorization": "Bearer x"},
        {"Proxy-Authorization": "Basic \x01"},
    ):
        connection = http.client.HTTPConnection(address, timeout=5)
        connection.request("GET", world.url("odd", "/plain"), headers=headers)
        assert connection.getresponse().status == 407
        connection.close()
    assert not world.asked("odd")


async def test_cookies_and_storage_of_a_visit_are_gone_in_the_next(world: World, browser: Browser):
    script = (
        "<p id=found></p><script>(async () => { found.textContent = ['before:', document.cookie,"
        " localStorage.a, sessionStorage.a, window.name, (await indexedDB.databases()).map((base)"
        " => base.name)].join(' ');document.cookie = 'a=kept; max-age=9999'; localStorage.a ="
        " sessionStorage.a = window.name = 'kept'; indexedDB.open('kept') })()</script>"
    )
    url = world.put("archive", "/keeps", TEXT + script)
    first = (await browser.visit(url, seconds=20)).body
    for _ in range(2):
        again = (await browser.visit(url, seconds=20)).body
        assert b"kept" not in again.split(b"<script>")[0]
    assert b"before: " in first


@pytest.mark.full
async def test_visits_to_two_hosts_at_once_see_nothing_of_each_other(
    world: World, browser: Browser
):
    script = (
        "<p id=found></p><script>document.cookie = 'who=' + location.host; found.textContent ="
        " 'cookies: ' + document.cookie</script>"
    )
    urls = [world.put(site, "/who", TEXT + script) for site in ("archive", "blog", "forum")]
    for seen in await asyncio.gather(*(browser.visit(url, seconds=30) for url in urls)):
        assert seen.body.count(b"cookies: who=") == 1


async def test_a_page_that_loads_without_end_is_cut(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    url = world.put(
        "archive",
        "/greedy",
        f"{TEXT}<script>for (let n = 0; n < 4; n++) fetch('{world.url('odd', '/endless')}?' +"
        " n).catch(() => 0)</script>",
    )
    monkeypatch.setattr(handle, "MOST_BYTES", 2_000_000)
    async with Browser(settings) as browser:
        assert b"printed by hand" in (await browser.visit(url, seconds=30)).body
    sent = sum(record.sent for record in world.asked("odd", "/endless"))
    assert sent < 30_000_000, "what lies in the buffers of four connections is more than the limit"


async def test_a_page_over_the_limit_is_too_large(world: World, settings: Settings):
    url = world.put(
        "archive", "/grows", f"{TEXT}<script>document.body.append('x'.repeat(3e6))</script>"
    )
    async with Browser(settings.model_copy(update={"page_bytes": 1_000_000})) as browser:
        with pytest.raises(FetchError, match="larger than 1,000,000 bytes"):
            await browser.visit(url, seconds=20)

"""Reading at the levels of the browser: pages made by scripts, doors that open for a browser and
doors that do not.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from spadework.errors import Blocked, FetchError, TooSlow, Unreachable, Unreadable
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.page_reader import Reader
from tests.thinned import thinned
from tests.tools.fetch.browsing import kept_open, needs_chromium
from tests.world.sites import World

WORDS = "The lighthouse of Port Aldermere is 41 metres tall and was first lit on 3 October 1887. "
ARTICLE = f"<article><h1>The lighthouse</h1><p>{WORDS * 4}</p></article>"


def app(html: str, *, after: int = 100) -> str:
    """A page that is empty until its script has run."""
    return (
        "<title>App</title><div id=root></div><script>setTimeout(() => root.innerHTML ="
        f" {json.dumps(html)}, {after})</script>"
    )


@pytest.fixture(scope="module", autouse=True)
def open_browser(_world: World) -> Iterator[None]:
    needs_chromium()
    with kept_open(Settings(allow_hosts=_world.hosts), _world.url("odd", "/plain")):
        yield


@pytest.fixture
async def browser(settings: Settings) -> AsyncIterator[Browser]:
    async with Browser(settings) as opened:
        yield opened


@pytest.fixture
async def reader(web: Web, browser: Browser) -> Reader:
    return Reader(web, browser)


async def seen(browser: Browser, url: str) -> str:
    return (await browser.visit(url, seconds=30)).body.decode()


async def test_a_page_made_by_a_script_is_read_in_the_browser(world: World, reader: Reader):
    fetched, found = await reader.read(world.put("archive", "/app", app(ARTICLE)), seconds=30)
    assert (fetched.level, fetched.status, fetched.media_type) == (2, 200, "text/html")
    assert found.markdown.startswith("# The lighthouse")
    assert WORDS.strip() in found.markdown


@pytest.mark.full
async def test_a_page_that_fetches_its_text_late_is_waited_for(world: World, browser: Browser):
    data = world.url("odd", "/slow-start?seconds=1.2").replace(world.url("odd", ""), "")
    page = (
        "<p>Loading the tide tables, please wait a moment.</p><div"
        f" id=root></div><script>fetch('{data}')"
    )
    page += ".then((answer) => answer.text()).then((text) => root.innerHTML = text)</script>"
    url = world.put("odd", "/late", page)
    assert "printed by hand" in await seen(browser, url)


async def test_what_plain_http_gives_is_not_read_in_the_browser(world: World, reader: Reader):
    for body in (
        ARTICLE + "<script src=/a.js></script>",
        f"<p>{WORDS}</p>",
        f"<p>{WORDS}</p><script>let a = 1</script>",
    ):
        fetched, _ = await reader.read(world.put("archive", "/plain-enough", body), seconds=30)
        assert fetched.level == 0


@pytest.mark.full
async def test_a_shell_with_some_text_gives_way_to_what_its_scripts_show(
    world: World, reader: Reader
):
    shell = (
        "<header><p>Welcome to the archive of the harbour office, open since"
        f" 1887.</p></header>{app(ARTICLE)}"
    )
    fetched, found = await reader.read(world.put("archive", "/shell", shell), seconds=30)
    assert fetched.level == 2
    assert WORDS.strip() in found.markdown


@pytest.mark.full
async def test_a_thin_page_is_kept_where_the_browser_shows_no_more(world: World, reader: Reader):
    url = world.put(
        "archive", "/thin", f"<p>{WORDS}</p><div id=root></div><script>let nothing = 1</script>"
    )
    fetched, found = await reader.read(url, seconds=30)
    assert fetched.level == 0
    assert WORDS.strip() in found.markdown


async def test_the_level_that_worked_is_remembered_for_the_host(world: World, reader: Reader):
    await reader.read(world.put("archive", "/app", app(ARTICLE)), seconds=30)
    fetched, _ = await reader.read(world.put("archive", "/second", app(ARTICLE)), seconds=30)
    assert fetched.level == 2
    assert len(world.asked("archive", "/second")) == 1, "it is not asked for plainly first"
    assert len(world.asked("archive", "/app")) == 2
    fetched, _ = await reader.read(world.put("blog", "/other", ARTICLE), seconds=30)
    assert fetched.level == 0


@pytest.mark.full
async def test_a_file_of_a_host_that_needs_a_browser_is_still_read(world: World, reader: Reader):
    await reader.read(world.put("archive", "/app", app(ARTICLE)), seconds=30)
    fetched, found = await reader.read(
        world.put("archive", "/table.csv", "year,metres\n1887,41\n" * 20, "text/csv"), seconds=30
    )
    assert "| 1887 | 41 |" in found.markdown
    assert fetched.level == 1, "without a browser, with the headers of one"


@pytest.mark.parametrize("status", thinned([403, 429, 503], 3))
async def test_a_server_that_lets_in_browsers_alone_is_visited_with_one(
    world: World, reader: Reader, status
):
    page = "<title>Hello</title><script>document.cookie = 'let-me-in=1'; location.reload()</script>"
    world.put("archive", "/guarded", page, status=status)
    task = asyncio.create_task(reader.read(world.url("archive", "/guarded"), seconds=30))
    while len(world.asked("archive", "/guarded")) < 3:  # noqa: ASYNC110 - the browser knows nothing of this loop's events
        await asyncio.sleep(0.01)
    world.put("archive", "/guarded", ARTICLE)
    fetched, found = await task
    assert fetched.level == 2
    assert WORDS.strip() in found.markdown


async def test_a_check_that_a_browser_passes_is_waited_for(world: World, reader: Reader):
    check = (
        "<title>Just a moment...</title><p>Checking your browser before accessing the"
        " archive.</p><script>window._cf_chl_opt = {};"
    )
    check += (
        "setTimeout(() => document.documentElement.innerHTML ="
        f" {json.dumps('<title>Tides</title>' + ARTICLE)}, 1500)</script>"
    )
    fetched, found = await reader.read(world.put("archive", "/checked", check), seconds=30)
    assert fetched.level == 2
    assert WORDS.strip() in found.markdown


async def test_a_captcha_is_reported_and_left_alone(world: World, reader: Reader):
    page = (
        "<title>Robot check</title><form method=post><p>Complete the captcha to go on.</p><input"
        " name=letters><button>Go on</button></form>"
    )
    with pytest.raises(Blocked, match="is behind a captcha"):
        await reader.read(world.put("archive", "/captcha", page), seconds=40)
    assert {record.method for record in world.asked("archive", "/captcha")} == {"GET"}
    agents = [record.headers["user-agent"] for record in world.asked("archive", "/captcha")]
    assert len(agents) == 2, "a browser is let in or not, and nothing is tried after it"
    assert "Headless" in agents[-1], "it says what it is"


async def test_the_browser_does_not_hide_that_it_is_automated(world: World, browser: Browser):
    page = "<p id=p></p><script>p.textContent = 'automated: ' + navigator.webdriver</script>"
    assert "automated: true" in await seen(browser, world.put("archive", "/probe", page))


@pytest.mark.parametrize("level", [0, 1])
async def test_no_level_over_the_highest_allowed_is_tried(world: World, level):
    settings = Settings(allow_hosts=world.hosts, max_level=level)
    async with Web(settings) as web, Browser(settings) as browser:
        with pytest.raises(Unreadable, match="no text"):
            await Reader(web, browser).read(world.put("archive", "/app", app(ARTICLE)), seconds=10)
        with pytest.raises(Blocked, match="403"):
            await Reader(web, browser).read(
                world.put("archive", "/closed", "", status=403), seconds=10
            )
    assert len(world.asked("archive", "/closed")) == level + 1


async def test_without_chromium_the_error_says_what_to_install(world: World):
    settings = Settings(allow_hosts=world.hosts, chromium="/no/such/chromium")
    async with Web(settings) as web, Browser(settings) as browser:
        reader = Reader(web, browser)
        with pytest.raises(
            Unreadable,
            match=(
                r"no text.*browser may be able to read it.*/no/such/chromium cannot be run.*apt"
                r" install chromium"
            ),
        ):
            await reader.read(world.put("archive", "/app", app(ARTICLE)), seconds=10)
        with pytest.raises(Blocked, match=r"403.*browser may be able to read it"):
            await reader.read(world.put("archive", "/closed", "", status=403), seconds=10)
        fetched, _ = await reader.read(world.put("archive", "/plain", ARTICLE), seconds=10)
    assert fetched.level == 0


async def test_robots_txt_counts_for_the_browser_too(world: World, reader: Reader):
    await reader.read(world.put("archive", "/app", app(ARTICLE)), seconds=30)
    world.put("odd", "/robots.txt", "User-agent: *\nDisallow: /closed", "text/plain")
    with pytest.raises(Blocked, match=r"robots\.txt"):
        await reader.read(world.put("odd", "/closed", app(ARTICLE)), seconds=30)
    assert not world.asked("odd", "/closed")


BANNERS = {
    "a known one": (
        "<div id=a>We use cookies. <button id=onetrust-accept-btn-handler"
        " onclick='PRESSED'>Fine</button></div>"
    ),
    "a box with buttons": (
        "<div style='position:fixed;bottom:0'><p>We use cookies to improve the"
        " site.</p><button>Settings</button><button onclick='wrong()'>Accept all</button><button"
        " onclick='PRESSED'>Reject all</button></div>"
    ),
    "a German box": (
        "<div role=dialog><p>Wir verwenden Cookies. Datenschutz.</p><button onclick='PRESSED'>Nur"
        " notwendige</button></div>"
    ),
    "one in a shadow root": (
        "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = `<div"
        " style='position:fixed'>Your cookie choices: <button"
        " onclick='PRESSED'>Decline</button></div>`</script>"
    ),
}


@pytest.mark.parametrize("name", thinned(BANNERS, 2))
async def test_a_consent_banner_is_closed(world: World, browser: Browser, name):
    page = (
        f"<main><h1>Tides</h1><p>{WORDS}</p><p"
        f" id=more></p></main>{BANNERS[name].replace('PRESSED', 'pressed(this)')}<script>"
    )
    page += "function wrong() { document.body.remove() }; function pressed(button) {"
    page += (
        "document.getElementById('more').textContent = 'The door opened at six.';"
        " button.closest('div').remove() }</script>"
    )
    html = await seen(browser, world.put("archive", "/banner", page))
    assert '<p id="more">The door opened at six.</p>' in html
    assert WORDS.strip() in html


@pytest.mark.full
async def test_a_banner_without_a_button_is_taken_away(world: World, browser: Browser):
    page = (
        f"<main><h1>Tides</h1><p>{WORDS}</p></main><div style='position:fixed'>This site lives on"
        " cookies.</div>"
    )
    assert "lives on cookies" not in await seen(browser, world.put("archive", "/stuck", page))


async def test_what_only_looks_like_a_banner_stays(world: World, browser: Browser):
    page = (
        f"<main><h1>Cookies</h1><p>{WORDS} A recipe for cookies.</p><button"
        " onclick='document.body.remove()'>Accept</button></main>"
    )
    page += (
        "<nav style='position:sticky;top:0'>Recipes <button"
        " onclick='document.body.remove()'>OK</button></nav>"
    )
    html = await seen(browser, world.put("archive", "/recipe", page))
    assert "A recipe for cookies" in html and "Recipes" in html


@pytest.mark.timed
async def test_a_page_that_grows_when_scrolled_is_scrolled(world: World, browser: Browser):
    page = (
        "<main id=list></main><div id=end style='height:10px'></div><script>let n = 0; const more ="
        " () => { for (let i = 0; i < 10; i++) {"
    )
    page += " const p = document.createElement('p'); p.style.height = '120px'; list.append(p);"
    page += f" p.textContent = `Entry ${{++n}}. {WORDS}` }} }};"
    page += (
        "more(); new IntersectionObserver((seen) => seen[0].isIntersecting && n < 60 &&"
        " setTimeout(more, 100)).observe(end)</script>"
    )
    assert "Entry 60." in await seen(browser, world.put("archive", "/scroll", page))


@pytest.mark.timed
async def test_a_page_that_grows_without_end_is_left(world: World, browser: Browser):
    page = (
        "<main id=list></main><script>const more = () => { for (let i = 0; i < 40; i++) { const p ="
        " document.createElement('p');"
    )
    page += (
        f" p.textContent = `{WORDS}`; p.style.height = '100px'; list.append(p) }} }}; more();"
        " addEventListener('scroll', more)</script>"
    )
    started = time.monotonic()
    assert WORDS.strip() in await seen(browser, world.put("archive", "/endless", page))
    assert time.monotonic() - started < 25


async def test_shadow_roots_and_frames_of_the_site_are_part_of_the_page(
    world: World, browser: Browser
):
    world.put(
        "archive", "/framed", "<p>Text of a frame of the same site, which stands in its place.</p>"
    )
    world.put("blog", "/strange", "<p>Text of a frame from elsewhere.</p>")
    page = (
        f"<main><h1>Tides</h1><p>{WORDS}</p><tide-table><span>slotted"
        " words</span></tide-table><iframe src=/framed></iframe>"
    )
    page += f"<iframe src='{world.url('blog', '/strange')}'></iframe></main><script>"
    page += "customElements.define('tide-table', class extends HTMLElement { connectedCallback() {"
    page += (
        "this.attachShadow({mode: 'open'}).innerHTML = '<p>High water at six, <slot></slot>, low"
        " water at noon.</p>' } })"
    )
    html = await seen(browser, world.put("archive", "/nested", page + "</script>"))
    assert "High water at six, <span>slotted words</span>, low water at noon." in html
    assert "Text of a frame of the same site" in html
    assert "from elsewhere" not in html


async def test_a_script_that_sends_on_is_followed(world: World, browser: Browser):
    world.put("archive", "/goal", ARTICLE)
    url = world.put(
        "archive",
        "/start",
        "<p>Please wait, you are being taken to the page.</p><script>setTimeout(() => location ="
        " '/goal', 300)</script>",
    )
    fetched = await browser.visit(url, seconds=30)
    assert fetched.url == world.url("archive", "/goal")
    assert WORDS.strip() in fetched.body.decode()


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("text/plain", WORDS * 3),
        ("application/json", '{"tide": "' + WORDS + '"}'),
        ("application/xml", f"<a>{WORDS}</a>"),
    ],
)
async def test_what_the_browser_shows_as_text_is_handed_over_as_it_was(
    world: World, browser: Browser, media_type, body
):
    fetched = await browser.visit(world.put("archive", "/file", body, media_type), seconds=20)
    assert (fetched.media_type, fetched.body.decode()) == (media_type, body)


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("/status/404", Blocked, "404"),
        ("/status/500", Unreachable, "500"),
        ("/not-a.zip", Unreadable, "a download"),
        ("/hang", TooSlow, "in the browser"),
    ],
)
async def test_a_page_that_cannot_be_had_is_named(
    world: World, browser: Browser, path, error, says
):
    world.put("odd", "/not-a.zip", "PK", "application/zip")
    with pytest.raises(error, match=says):
        await browser.visit(world.url("odd", path), seconds=4)


@pytest.mark.parametrize("place", ["127.0.1.8:9", "no-such-name.invalid"])
async def test_a_server_that_is_not_there_is_unreachable(browser: Browser, place):
    with pytest.raises(Unreachable, match="could not be reached"):
        await browser.visit(f"http://{place}/", seconds=20)


async def test_a_script_without_end_costs_its_page_alone(world: World, browser: Browser):
    bad = world.put("archive", "/loop", f"<p>{WORDS}</p><script>while (true);</script>")
    with pytest.raises(FetchError):
        await browser.visit(bad, seconds=4)
    assert WORDS.strip() in await seen(browser, world.put("archive", "/good", ARTICLE))


@pytest.mark.full
async def test_a_part_that_never_comes_does_not_hold_the_page(world: World, browser: Browser):
    page = f"{ARTICLE}<script src='{world.url('odd', '/hang')}'></script><p>behind</p>"
    fetched = await browser.visit(world.put("archive", "/held", page), seconds=8)
    assert WORDS.strip() in fetched.body.decode()


async def test_words_of_the_browser_are_not_those_of_the_page(world: World, browser: Browser):
    page = "<script>alert('a'); confirm('b'); prompt('c'); print(); onbeforeunload = () => 'stay';"
    page += f"history.pushState(0, '', '/x')</script>{ARTICLE}"
    fetched = await browser.visit(world.put("archive", "/dialogs", page), seconds=20)
    assert fetched.url == world.url("archive", "/x")


@pytest.mark.parametrize(
    "script",
    [
        "performance.getEntriesByType = () => [{responseStatus: 'good'}]",
        "Object.defineProperty(HTMLElement.prototype, 'innerText',"
        " {get: () => ({trim: () => ({length: NaN})})})",
        "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => ({slice: () => 7})})",
        "Object.defineProperty(HTMLElement.prototype, 'innerText',"
        " {get: () => ({trim: () => ({length: new Date(8.64e15)})})})",
        "Object.defineProperty(Element.prototype, 'outerHTML',"
        " {get: () => ['x'.repeat(20000000)]})",
    ],
)
async def test_a_page_that_meddles_with_the_browser_harms_itself_alone(
    world: World, browser: Browser, script
):
    url = world.put("archive", "/meddling", f"<p>{WORDS}</p><script>{script}</script>")
    try:
        fetched = await browser.visit(url, seconds=30)
    except FetchError:
        return
    assert len(fetched.body) < Settings().page_bytes

"""Reading pages: whatever the format, wherever the fault."""

from __future__ import annotations

import asyncio
import time

import pytest
from blockbuster import blockbuster_ctx

from spadework.errors import Blocked, NotAllowed, TooLarge, TooSlow, Unreadable
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.page_reader import Reader
from tests.world.sites import World

LONG = "The winter tide reached the second step of the harbour office on eleven days in 1974. "


@pytest.fixture
def reader(web: Web) -> Reader:
    return Reader(web)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/plain", "first lit on 3 October 1887"),
        ("/untyped", "first lit on 3 October 1887"),
        ("/not-a.pdf", "first lit on 3 October 1887"),
        ("/packed/deflate", "first lit on 3 October 1887"),
        ("/refresh", "first lit on 3 October 1887"),
        ("/bot-wall", "first lit on 3 October 1887"),
        ("/octets", "14 crowns a night"),
        ("/charset/lying", "für Gäste geöffnet"),
        ("/charset/meta", "für Gäste geöffnet"),
        ("/charset/header", "für Gäste geöffnet"),
        ("/charset/bom", "für Gäste geöffnet"),
    ],
)
async def test_a_page_is_read_whatever_it_says_it_is(world: World, reader: Reader, path, words):
    _, found = await reader.read(world.url("odd", path), seconds=10)
    assert words in found.markdown


@pytest.mark.parametrize(
    ("media_type", "text", "markdown"),
    [
        ("text/plain", LONG * 2, LONG.strip()),
        ("text/markdown", f"# Tides\n\n{LONG}\n", "# Tides"),
        ("text/x-rst", f"Tides\n=====\n\n{LONG}\n", "# Tides"),
        (
            "text/x-python",
            f"def tide():\n    return '{LONG}'\n",
            "```python\ndef tide():\n    return",
        ),
        ("application/json", '{"tide": "' + LONG + '"}', '```json\n{"tide"'),
    ],
)
async def test_other_formats_have_readers_of_their_own(
    world: World, reader: Reader, media_type, text, markdown
):
    fetched, found = await reader.read(world.put("archive", "/tides", text, media_type), seconds=10)
    assert fetched.media_type == media_type
    assert markdown in found.markdown


@pytest.mark.parametrize(
    "media_type", ["image/png", "application/zip", "application/msword", "video/mp4"]
)
async def test_a_format_without_a_reader_is_named(world: World, reader: Reader, media_type):
    with pytest.raises(Unreadable, match=f"{media_type} is not supported"):
        await reader.read(world.put("archive", "/file", "\x00 some bytes", media_type), seconds=10)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html></html>",
        "<p>Too short to be a page.</p>",
        "<script>app()</script>",
        "<nav><a href=/>Home</a></nav>",
    ],
)
async def test_a_page_without_text_is_unreadable(world: World, reader: Reader, body):
    with pytest.raises(Unreadable, match="no text"):
        await reader.read(world.put("archive", "/empty", body), seconds=10)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            (
                "<title>Just a moment...</title><p>Checking your browser before you can see this"
                " site.</p>"
            ),
            "a browser check",
        ),
        (
            (
                "<div id=app></div><noscript>You need to enable JavaScript to run this"
                " app.</noscript><script src=a.js></script>"
            ),
            "a request to enable JavaScript",
        ),
        (
            (
                "<h1>Sign in</h1><p>Please sign in to continue to the archive of the harbour"
                " office, or go away.</p>"
            ),
            "a login",
        ),
        (
            "<title>Robot check</title><form>Type the letters of the captcha <input></form>",
            "a captcha",
        ),
    ],
)
async def test_a_door_is_not_taken_for_the_page(world: World, reader: Reader, body, kind):
    with pytest.raises(Blocked, match=f"behind {kind}"):
        await reader.read(world.put("archive", "/door", body), seconds=10)


async def test_a_page_about_doors_is_read(world: World, reader: Reader):
    text = (
        "<article><h1>Captchas</h1><p>"
        + "A captcha asks you to verify you are human, and few people like it. " * 20
        + "</p></article>"
    )
    _, found = await reader.read(world.put("archive", "/captcha", text), seconds=10)
    assert "verify you are human" in found.markdown


@pytest.mark.timed
async def test_a_page_nested_without_end_is_done_with_soon(world: World, reader: Reader):
    started = time.monotonic()
    with pytest.raises(TooLarge, match="more tags than can be read"):
        await reader.read(world.url("odd", "/deep"), seconds=10)
    assert time.monotonic() - started < 3


@pytest.mark.timed
async def test_reading_counts_against_the_deadline(world: World, reader: Reader):
    url = world.put("archive", "/long", "<p>a</p>" * 70_000)
    started = time.monotonic()
    with pytest.raises(TooSlow, match=r"not read within 0\.4 s|did not load within 0\.4 s"):
        await reader.read(url, seconds=0.4)
    assert time.monotonic() - started < 3


async def test_what_may_not_be_fetched_is_not_read(world: World, reader: Reader):
    with pytest.raises(NotAllowed):
        await reader.read(world.url("private", "/secret"), seconds=5)


async def test_pages_are_read_at_the_same_time_without_blocking_the_loop(
    world: World, settings: Settings
):
    async with Web(settings) as web:
        reader = Reader(web)
        with blockbuster_ctx("spadework"):
            read = await asyncio.gather(
                *(
                    reader.read(world.url("odd", path), seconds=10)
                    for path in ("/plain", "/octets", "/untyped") * 3
                )
            )
    assert len(read) == 9

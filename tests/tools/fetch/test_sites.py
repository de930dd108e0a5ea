"""Sites with ways of their own: what their documented interfaces answer is read, and stands at the
page's own address.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.page_reader import SITES, Reader, arxiv, github, npm, ways_to, wikipedia
from tests.world.paper import pdf

TIDES = "The winter tide reached the second step of the harbour office on eleven days in 1974. "
README = f"# Tides\n\n{TIDES}\n\n```sh\npip install tides\n```\n"
PAPER = f"<title>Of tides</title><article><h1>Of tides</h1><p>{TIDES * 3}</p></article>"
PAGE = f"<title>A page</title><main><h1>A page</h1><p>{'What people see of it. ' * 12}</p></main>"
RENDERED = (
    f'<div class="mw-parser-output"><p>The <b>tide</b> is high twice a day. {TIDES}</p>'
    f"<h2>Causes</h2><p>The moon. {TIDES}</p></div>"
)
PACKAGE = {
    "_id": "@harbour/tides",
    "name": "@harbour/tides",
    "dist-tags": {"latest": "2.1.0"},
    "versions": {"2.1.0": {"description": "Tables of tides.", "dependencies": {"moon": "^1.0.0"}}},
    "time": {"2.1.0": "2026-02-14T09:00:00.000Z"},
    "license": "MIT",
    "readme": README,
}
CONTENTS = {
    "type": "file",
    "encoding": "base64",
    "name": "README.md",
    "path": "README.md",
    "content": base64.encodebytes(README.encode()).decode(),
}
Answers = dict[str, tuple[str, str | bytes]]


@asynccontextmanager
async def answering(answers: Answers) -> AsyncIterator[tuple[str, list[str]]]:
    """A server with these answers, by path: its address, and the paths it was asked for."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        asked.append(path)
        kind, said = answers.get(path, ("", ""))
        body = said.encode() if isinstance(said, str) else said
        status = "200 OK" if kind else "404 Not Found"
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
        writer.write(f"{head}connection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def read(path: str, answers: Answers) -> tuple[str, str, list[str], str]:
    """The address from the page's own host on, title and text of what is read, and what was asked
    for.
    """
    async with (
        answering(answers) as (base, asked),
        Web(Settings(allow_hosts=("127.0.0.1",))) as web,
    ):
        sites = (
            partial(arxiv, base=base),
            partial(wikipedia, hosts=r"127\.0\.0\.1:\d+"),
            partial(npm, base=base, registry=f"{base}/registry"),
            # any two words are its own
            partial(github, base=base, api=f"{base}/api", raw=f"{base}/raw"),
        )
        fetched, found = await Reader(web, sites=sites).read(base + path, seconds=20)
    return fetched.url.removeprefix(base), found.title, asked, found.markdown


@pytest.mark.parametrize(
    ("path", "answers", "title", "words"),
    [
        ("/abs/2401.01234v2", {"/html/2401.01234v2": ("text/html", PAPER)}, "Of tides", TIDES),
        ("/pdf/2401.01234.pdf", {"/html/2401.01234": ("text/html", PAPER)}, "Of tides", TIDES),
        (
            "/abs/hep-th/9901001",
            {"/pdf/hep-th/9901001": ("application/pdf", pdf(TIDES * 3))},
            "",
            "second step of the harbour office",
        ),
        (
            "/wiki/High_tide_(sea)",
            {"/wiki/High_tide_(sea)?action=render": ("text/html; charset=UTF-8", RENDERED)},
            "High tide (sea)",
            "## Causes",
        ),
        (
            "/harbour/tides",
            {"/api/repos/harbour/tides/readme": ("application/json", json.dumps(CONTENTS))},
            "harbour/tides",
            "```sh\npip install tides\n```",
        ),
        (
            "/harbour/tides/blob/main/src/tides.py",
            {
                "/raw/harbour/tides/main/src/tides.py": (
                    "text/plain; charset=utf-8",
                    f'"""{TIDES}"""\n',
                )
            },
            "tides.py",
            '```python\n"""The winter',
        ),
        (
            "/package/@harbour/tides",
            {"/registry/@harbour%2Ftides": ("application/json", json.dumps(PACKAGE))},
            "@harbour/tides",
            "- Dependencies: moon",
        ),
    ],
)
async def test_the_best_text_of_a_page_stands_at_its_own_address(path, answers, title, words):
    address, named, _, markdown = await read(path, answers)
    assert address == path
    assert words in markdown
    assert named == title or not title


@pytest.mark.parametrize(
    ("path", "interface"),
    [
        ("/abs/2401.01234", "/html/2401.01234"),
        ("/wiki/Tide", "/wiki/Tide?action=render"),
        ("/harbour/tides", "/api/repos/harbour/tides/readme"),
        ("/package/tides", "/registry/tides"),
    ],
)
@pytest.mark.parametrize("closed", ["robots", "nothing", "garbage"])
async def test_where_a_way_is_closed_the_page_itself_is_read(path, interface, closed):
    answers: Answers = {path: ("text/html", PAGE)}
    if closed == "robots":
        rules = f"User-agent: *\nDisallow: {interface}\n"
        answers |= {"/robots.txt": ("text/plain", rules), interface: ("text/html", "never asked")}
    elif closed == "garbage":
        answers[interface] = ("application/json", "[1, 2]")
    address, _, asked, markdown = await read(path, answers)
    assert (address, "What people see of it." in markdown) == (path, True)
    assert (interface in asked) == (closed != "robots")


@pytest.mark.parametrize(
    "url",
    [
        "https://arxiv.org/list/cs.CL/recent",
        "https://en.wikipedia.org/wiki/Special:Search",
        "https://en.wikipedia.org/wiki/Tide?oldid=1",
        "https://github.com/harbour/tides/issues/3",
        "https://github.com/topics/tides",
        "https://pypi.org/project/tides",
        "https://www.npmjs.com/~penn",
        "https://example.com/project/tides",
        "https://arxiv.org.example.com/abs/2401.01234",
        "https://[bad/abs/2401.01234",
    ],
)
def test_other_pages_are_read_as_they_are(url):
    assert ways_to(url) == ()


def test_the_known_sites_ask_their_documented_addresses():
    asked = {
        "https://arxiv.org/abs/2401.01234": "https://arxiv.org/html/2401.01234",
        "https://de.m.wikipedia.org/wiki/Gezeiten": (
            "https://de.wikipedia.org/wiki/Gezeiten?action=render"
        ),
        "https://github.com/a/b": "https://api.github.com/repos/a/b/readme",
        "https://github.com/a/b/blob/main/c.md": (
            "https://raw.githubusercontent.com/a/b/main/c.md"
        ),
        "https://www.npmjs.com/package/a/v/1.0.0": "https://registry.npmjs.org/a/1.0.0",
    }
    assert {url: ways_to(url)[0].url for url in asked} == asked
    assert len(SITES) == 4

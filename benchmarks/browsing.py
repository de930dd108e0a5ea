"""Pages per second and memory of reading 40 pages made by scripts in a browser, ours and
crawl4ai's, 10 pages at once, over loopback.

python benchmarks/browsing.py --theirs PYTHON
    PYTHON is the interpreter of an environment with crawl4ai 0.9.5 and psutil; without it only ours
    runs.

Each contender runs in a process of its own, three times in turn, against the same server in this
process: a page of an application (a shell, 200 kB of script shared by all pages, its data fetched
in two steps, 20 paragraphs and a table, 12 pictures, a font). First come 10 other pages at once,
which are timed apart, from before the browser starts. Memory is the largest sum of the PSS of all
Chromium processes. A page counts when its last paragraph and its last row of the table were read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

PAGES, AT_ONCE, RUNS, HOST = 40, 10, 3, "127.0.3.1"

SHELL = """<!doctype html><title>Harbour {n}</title><link rel=stylesheet href=/style.css><div id=root></div>
<script src=/app.js></script>"""  # noqa: E501
STYLE = (
    "@font-face { font-family: a; src: url(/font.woff2) } body { font-family: a; max-width: 60em }"
)
APP = (
    "const padding = [" + ",".join(f'"{n:08d}-{n * 7919:012d}"' for n in range(8_000)) + "];\n"
    """(async () => {
  const key = location.pathname.slice(6);
  const head = await (await fetch(`/data/${key}/head`)).json();
  const body = await (await fetch(`/data/${head.key}/body`)).json();
  const rows = body.rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("");
  root.innerHTML = `<nav><a href=/page/1>Home</a></nav><main><article><h1>${head.title}</h1>${body.text.map((p) => `<p>${p}</p>`).join("")}
    <table><tr><th>Day</th><th>Metres</th></tr>${rows}</table></article>
    ${body.pictures.map((name) => `<img src=${name} width=100 height=100>`).join("")}</main><footer>Harbour office</footer>`;
})();"""  # noqa: E501
)


def text(n: int) -> list[str]:
    """The paragraphs of page `n`."""
    sentence = (
        "On day {} of the year the keeper of lighthouse {} wrote that the lamp had burned from dusk"
        " until the fog lifted over the pier. "
    )
    return [sentence.format(day, n) * 3 for day in range(20)]


def answer(path: str) -> tuple[str, bytes]:
    """Media type and body of a path of the server."""
    if path.startswith("/page/"):
        return "text/html", SHELL.format(n=path[6:]).encode()
    if path.startswith("/data/"):
        n = int(path.split("/")[2])
        made = {"title": f"Lighthouse {n}", "key": n} if path.endswith("head") else _body(n)
        return "application/json", json.dumps(made).encode()
    known = {
        "/app.js": ("text/javascript", APP.encode()),
        "/style.css": ("text/css", STYLE.encode()),
    }
    return known.get(path, ("image/png", bytes(20_000)))


def _body(n: int) -> dict[str, object]:
    pictures = [f"/picture/{n}/{k}.png" for k in range(12)]
    return {
        "text": text(n),
        "rows": [[f"{day}.3.", f"{n}.{day:02d} m"] for day in range(30)],
        "pictures": pictures,
    }


def serve() -> str:
    """Start the server in a thread; its address."""
    ready: list[str] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                media_type, body = answer(head.split(b" ")[1].decode())
                status = "404 Not Found" if b" /robots.txt " in head else "200 OK"
                facts = (
                    f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nCache-Control:"
                    f" max-age=600\r\nContent-Length: {len(body)}\r\n\r\n"
                )
                await asyncio.sleep(0.02)
                writer.write(facts.encode() + body)
                await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(talk, HOST, 0)
        ready.append("http://{}:{}".format(*server.sockets[0].getsockname()))
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    while not ready:
        time.sleep(0.01)
    return ready[0]


def whole(n: int, markdown: str) -> bool:
    """Does the text of page `n` have its last paragraph and its last row?"""
    return text(n)[-1].strip() in " ".join(markdown.split()) and f"{n}.29 m" in markdown


async def timed(read: Callable[[str], Awaitable[str]], base: str, began: float) -> dict[str, float]:
    """Read all pages, AT_ONCE at a time. `began` is when the reader was opened."""
    turns = asyncio.Semaphore(AT_ONCE)
    peak = [0.0]

    async def one(n: int) -> bool:
        async with turns:
            return whole(n, await read(f"{base}/page/{n}"))

    watching = threading.Event()
    watcher = threading.Thread(target=watch, args=(peak, watching))
    watcher.start()
    await asyncio.gather(*(one(n) for n in range(PAGES + 1, PAGES + AT_ONCE + 1)))
    warm = time.perf_counter()
    good = sum(await asyncio.gather(*(one(n) for n in range(1, PAGES + 1))))
    ended = time.perf_counter()
    watching.set()
    watcher.join()
    return {"cold": warm - began, "seconds": ended - warm, "good": good, "peak_mb": peak[0]}


def watch(peak: list[float], end: threading.Event) -> None:
    """Keep the largest sum of the PSS of all Chromium processes below this one, in megabytes,
    looked at twice a second.
    """
    import psutil

    own = psutil.Process()
    while not end.wait(0.5):
        total = 0
        for child in own.children(recursive=True):
            with suppress(psutil.Error):
                if "chrom" in child.name():
                    total += child.memory_full_info().pss
        peak[0] = max(peak[0], total / 1e6)


async def ours(base: str) -> dict[str, float]:
    """The browser level of our reader, with the host known to need it."""
    from spadework.settings import Settings
    from spadework.tools.fetch.browser.handle import Browser
    from spadework.tools.fetch.client import Web
    from spadework.tools.fetch.page_reader import Reader

    with tempfile.TemporaryDirectory() as home:
        settings = Settings(
            allow_hosts=(HOST,),
            parallel_per_host=AT_ONCE,
            chromium=whole_browser() if WHOLE else "",
            home=home,
            cache_mb=0,
        )
        began = time.perf_counter()
        async with Web(settings) as web, Browser(settings) as browser:
            reader = Reader(web, browser)

            async def read(url: str) -> str:
                fetched, found = await reader.read(url, seconds=60)
                assert fetched.level == 2, fetched
                return found.markdown

            return await timed(read, base, began)


def whole_browser() -> str:
    """The Chromium with windows."""
    return shutil.which("chromium") or shutil.which("google-chrome") or ""


async def theirs(base: str) -> dict[str, float]:
    """crawl4ai, with the Chromium of this machine where Playwright has none of its own; it has no
    setting for that.
    """
    from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig  # type: ignore[import-not-found]
    from playwright.async_api import BrowserType

    chromium = whole_browser() if WHOLE else shutil.which("chromium-headless-shell")
    launch = BrowserType.launch

    async def launched(self: BrowserType, **given: object) -> object:
        return await launch(self, **given | {"executable_path": chromium, "channel": None})  # type: ignore[arg-type]

    BrowserType.launch = launched  # type: ignore[method-assign]
    config = CrawlerRunConfig(
        cache_mode=CacheMode.BYPASS,
        verbose=False,
        wait_until="networkidle" if WAIT else "domcontentloaded",
    )
    began = time.perf_counter()
    async with AsyncWebCrawler(config=BrowserConfig(headless=True, verbose=False)) as crawler:

        async def read(url: str) -> str:
            done = await crawler.arun(url, config=config)
            return str(done.markdown or "")

        return await timed(read, base, began)


WAIT = os.environ.get("THEIRS_WAIT") == "1"
WHOLE = os.environ.get("WHOLE") == "1"


def run(python: str, contender: str, base: str, **env: str) -> dict[str, float]:
    """One run of a contender in a process of its own."""
    command = [python, __file__, "--contender", contender, "--base", base]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | env | {"CRAWL4AI_NO_CLOUD_NOTICE": "1"},
    )
    if done.returncode:
        sys.exit(done.stderr[-2_000:])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def main() -> None:
    """Print a row a contender: the best of its runs, with all of them behind it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--theirs", default="")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--contender", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    parser.add_argument("--base", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contender:
        print(json.dumps(asyncio.run((ours if given.contender == "ours" else theirs)(given.base))))
        return
    base = serve()
    contenders: dict[str, Callable[[], dict[str, float]]] = {}
    both = {"headless shell": "0", "whole Chromium": "1"}
    for name, whole in (
        both.items() if shutil.which("chromium-headless-shell") else [("Chromium", "1")]
    ):
        contenders[f"spadework, {name}"] = partial(run, sys.executable, "ours", base, WHOLE=whole)
        if given.theirs:
            contenders[f"crawl4ai, {name}"] = partial(
                run, given.theirs, "theirs", base, WHOLE=whole
            )
    if given.theirs:
        contenders["crawl4ai, waits for the network"] = partial(
            run, given.theirs, "theirs", base, WHOLE="1", THEIRS_WAIT="1"
        )
    rounds = [
        {name: contender() for name, contender in contenders.items()} for _ in range(given.runs)
    ]
    print(
        "| reader | first 10 pages, s | pages/s afterwards | whole pages | peak memory, MB"
        " |\n|---|---|---|---|---|"
    )
    for name in contenders:
        runs = [each[name] for each in rounds]
        cold, speeds = (", ".join(f"{value:.2f}" for value in values) for values in _times(runs))
        good, memory = (
            ", ".join(str(each["good"]) for each in runs),
            max(each["peak_mb"] for each in runs),
        )
        print(f"| {name} | {cold} | {speeds} | {good} of {PAGES} | {memory:.0f} |")


def _times(runs: list[dict[str, float]]) -> tuple[list[float], list[float]]:
    return [each["cold"] for each in runs], [PAGES / each["seconds"] for each in runs]


if __name__ == "__main__":
    main()

"""The browser's processes: none before it is needed, one browser for all, none afterwards, however
it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import subprocess
import sys
import time

import psutil
import pytest

from spadework.errors import FetchError, SettingsError, Unreachable
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser
from tests.tools.fetch.browsing import chromiums, needs_chromium
from tests.tools.fetch.conftest import until
from tests.world.sites import World


@pytest.fixture(autouse=True)
def none_before_and_after() -> None:
    needs_chromium()
    assert chromiums() == []


async def test_it_starts_with_the_first_page_and_ends_with_the_last_holder(
    world: World, settings: Settings
):
    async with Browser(settings) as first, Browser(settings) as second:
        assert chromiums() == []
        await asyncio.gather(
            *(browser.visit(world.url("odd", "/plain"), seconds=30) for browser in (first, second))
        )
        assert (
            sum(" --type=" not in line and "--proxy-server=" in line for line in chromiums()) == 1
        ), "one browser for the process"
        await first.__aexit__(None, None, None)
        assert chromiums()
        with pytest.raises(SettingsError, match="closed"):
            await first.visit(world.url("odd", "/plain"), seconds=30)
    assert chromiums() == []


@pytest.mark.full
async def test_a_cancelled_visit_leaves_nothing(world: World, settings: Settings):
    async with Browser(settings) as browser:
        for path in ("/plain", "/hang"):
            visit = asyncio.create_task(browser.visit(world.url("odd", path), seconds=60))
            await until(lambda path=path: bool(world.asked("odd", path)), seconds=30)
            visit.cancel()
            with pytest.raises(asyncio.CancelledError):
                await visit
        await until(lambda: all(record.ended for record in world.asked("odd")), seconds=10)
        assert await browser.visit(world.url("odd", "/plain"), seconds=30)
        started = time.monotonic()
    assert time.monotonic() - started < 10
    assert chromiums() == []


async def test_it_is_closed_while_pages_are_open(world: World, settings: Settings):
    async with Browser(settings) as browser:
        visits = [
            asyncio.create_task(browser.visit(world.url(site, "/hang"), seconds=60))
            for site in ("odd", "odd")
        ]
        await until(lambda: len(world.asked("odd", "/hang")) == 2, seconds=30)
    assert chromiums() == []
    for outcome in await asyncio.gather(*visits, return_exceptions=True):
        assert isinstance(outcome, asyncio.CancelledError | FetchError)


@pytest.mark.full
def test_an_event_loop_that_dies_takes_the_browser_with_it(world: World, settings: Settings):
    loop = asyncio.new_event_loop()
    visit = loop.create_task(Browser(settings).visit(world.url("odd", "/hang"), seconds=6))

    async def begun() -> None:
        await until(lambda: bool(world.asked("odd", "/hang")), seconds=30)

    loop.run_until_complete(begun())
    assert chromiums()
    visit._log_destroy_pending = False  # it is meant to be destroyed
    loop.close()
    del loop, visit
    deadline = time.monotonic() + 15
    while chromiums() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.1)
    assert chromiums() == []


@pytest.mark.full
async def test_a_browser_that_was_killed_is_started_again(world: World, settings: Settings):
    async with Browser(settings) as browser:
        await browser.visit(world.url("odd", "/plain"), seconds=30)
        visit = asyncio.create_task(browser.visit(world.url("odd", "/hang"), seconds=30))
        await until(lambda: bool(world.asked("odd", "/hang")), seconds=30)
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if "--proxy-server=" in " ".join(child.cmdline()):
                    child.kill()
        with pytest.raises(Unreachable, match="crashed the browser"):
            await visit
        assert await browser.visit(world.url("odd", "/plain"), seconds=30)
    assert chromiums() == []


PROGRAM = """
import asyncio, sys
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser
async def main():
    browser = Browser(Settings())
    visit = asyncio.create_task(browser.visit(sys.argv[1], seconds=60))
    await asyncio.to_thread(sys.stdin.readline)
async def opened():
    browser = Browser(Settings())
    await browser.visit(sys.argv[1], seconds=60)
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    globals()["kept"] = browser
asyncio.run(main() if sys.argv[2] == "hanging" else opened())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "end",
    [
        "killed",
        *(
            pytest.param(end, marks=pytest.mark.full)
            for end in ("returns", "hanging", "terminated", "interrupted")
        ),
    ],
)
def test_a_program_that_ends_leaves_no_browser(world: World, monkeypatch: pytest.MonkeyPatch, end):
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    path = "/hang" if end == "hanging" else "/plain"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, world.url("odd", path), end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as program:
        asyncio.run(until(lambda: bool(world.asked("odd", path)), seconds=30))
        if path == "/plain":
            assert program.stdout and program.stdout.readline() == b"open\n"
        children = psutil.Process(program.pid).children(recursive=True)
        assert chromiums(program.pid)
        signals = {
            "killed": signal.SIGKILL,
            "terminated": signal.SIGTERM,
            "interrupted": signal.SIGINT,
        }
        if end in signals:
            program.send_signal(signals[end])
        assert program.stdin
        with contextlib.suppress(BrokenPipeError):
            program.stdin.close()
        program.wait(20)
    _, alive = psutil.wait_procs(children, timeout=15)
    assert [process.name() for process in alive] == []

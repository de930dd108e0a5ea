"""A report of twenty pages over 200 sources answers at once: opening a card, filtering, scrolling;
and a plan shows when it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.apps.web.prepared import large, put
from tests.apps.web.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

Open = Callable[..., "Page"]
#: The longest an interaction may take until it is painted, in milliseconds.
MOST_MS = 100

_WATCH = """() => {
  window.slowest = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.slowest = Math.max(window.slowest, entry.duration);
  }).observe({ type: "event", durationThreshold: 16, buffered: true });
}"""  # noqa: E501


@pytest.mark.timed
def test_a_large_report_is_without_jank(server: Server, open_page: Open) -> None:
    session = put(server.home, *large("large"))
    page = open_page(f"{server.url}/s/{session}")
    assert page.locator("#list .source").count() == 200
    assert page.locator(".mark").count() == 500 + 2  # the two sentences set apart at the top
    page.evaluate(_WATCH)
    taken = []
    for _ in range(3):
        page.evaluate("window.slowest = 0")
        for n in (0, 250, 499):
            page.locator(".mark").nth(n).click()
            page.locator(".card:popover-open").wait_for()
            page.keyboard.press("Escape")
        page.get_by_label("Filter the sources").press_sequentially("register 17")
        page.get_by_label("Filter the sources").fill("")
        page.get_by_role("button", name="Switch between dark and light").click()
        page.evaluate("new Promise(requestAnimationFrame)")
        taken.append(page.evaluate("window.slowest"))
    # The best of three: what else this machine does is not the page's.
    assert min(taken) < MOST_MS, taken


def test_the_contents_of_a_large_report_lead_to_their_chapters(
    server: Server, open_page: Open
) -> None:
    session = put(server.home, *large("contents"))
    page = open_page(
        f"{server.url}/s/{session}",
        viewport={"width": 1440, "height": 900},
        reduced_motion="reduce",
    )
    for n in (20, 3):
        link = page.locator(".contents.beside a").nth(n - 1)
        link.click()
        page.wait_for_function(
            "hash => { const top = document.querySelector(hash)"
            ".getBoundingClientRect().top; return top >= 0 && top < innerHeight / 2; }",
            arg=link.get_attribute("href"),
        )
        page.wait_for_function(
            "n => document.querySelectorAll('.contents.beside a')[n - 1].ariaCurrent", arg=n
        )

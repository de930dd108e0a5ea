"""Titles, quotes, URLs and pages that mean harm stand on the page as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.apps.web.prepared import put
from tests.apps.web.server import Server
from tests.tools.export.results import HOSTILE, HOSTILE_URLS, hostile

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

Open = Callable[..., "Page"]


@pytest.mark.parametrize(
    "n", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(4, len(HOSTILE_URLS), 4))]
)
def test_hostile_results_inject_nothing(server: Server, open_page: Open, n: int) -> None:
    words = "".join(HOSTILE)
    for i, url in enumerate(HOSTILE_URLS[n : n + 4]):
        result = hostile(words, url).model_copy(update={"session_id": f"hostile-{n}-{i}"})
        session = put(server.home, result, {"h": words.replace("\r\n", "\n") * 3})
        page = open_page(f"{server.url}/s/{session}")
        for mark in page.locator(".mark").all():
            mark.click()
            page.keyboard.press("Escape")
        for summary in page.locator("#sources summary").all():
            summary.click()
        links = page.evaluate("[...document.links].map(link => link.protocol)")
        assert set(links) <= {"http:", "https:"}
        assert (
            page.locator(
                "main script, main iframe, main img, main svg[onload], [onerror], [onmouseover]"
            ).count()
            == 0
        )
        page.goto(f"{server.url}/s/{session}/pages/h?e=E2#E2")
        assert page.locator("script:not([src]), iframe, img").count() == 0
        assert page.locator("mark").count() >= 1


def test_a_hostile_question_is_shown_as_it_is(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    words = "<img src=x onerror=alert(1)> {{ 7 * 7 }} \"'><script>alert(1)</script>"
    page.get_by_label("Your question").fill(words)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("heading", level=1).filter(has_text="{{ 7 * 7 }}").wait_for()
    assert page.get_by_role("heading", level=1).inner_text() == words
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the run").click()
    page.get_by_role("button", name="Resume").wait_for()

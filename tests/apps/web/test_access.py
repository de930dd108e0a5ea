"""Every view, in both themes, has no fault that axe finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.apps.web.prepared import put
from tests.apps.web.server import Server
from tests.apps.web.test_page import ask, finished
from tests.tools.export.results import full
from tests.world.model import Model
from tests.world.sites import World

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

Open = Callable[..., "Page"]
#: A page with code and a table that no phone is wide enough for.
WIDE = (
    f"# Seats\n\n```\n{'ferries(' * 30}\n```\n\n|{' a boat of some size |' * 12}\n|{'---|' * 12}\n"
    f"|{' 212 seats |' * 12}\n"
)


def faults(page: Page) -> list[str]:
    """What axe finds wrong with a page, once its movements are over."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    page.evaluate("document.fonts.ready")
    found = axe.run(page).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:200]} {node['failureSummary'][:200]}"
        for fault in found
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.full)])
def test_the_views_of_a_run(
    server: Server, model: Model, world: World, open_page: Open, scheme: str
) -> None:
    model.script("DoubtAnswer", {"question": "Which town?", "options": ["The port", "The village"]})
    page = open_page(server.url, color_scheme=scheme, reduced_motion="reduce")
    page.get_by_text("Options").click()
    found = {"start": faults(page)}
    world.hang_everything = True
    ask(page, unseen=False)
    page.get_by_role("button", name="The port").wait_for()
    found["asked back"] = faults(page)
    page.get_by_role("button", name="The port").click()
    page.get_by_text("Edit the topics").click()
    found["plan"] = faults(page)
    page.get_by_role("button", name=re.compile("^Approve")).click()
    page.locator("#list .source").first.wait_for()
    found["running"] = faults(page)
    page.get_by_role("button", name="Cancel", exact=True).click()
    found["confirm"] = faults(page)
    page.get_by_role("button", name="Cancel the run").click()
    page.get_by_role("button", name="Resume").wait_for()
    found["cancelled"] = faults(page)
    world.hang_everything = False
    page.get_by_role("button", name="Resume").click()
    finished(page)
    page.locator(".plan.done > summary").click()
    page.locator(".topic summary").first.click()
    found["report"] = faults(page)
    page.get_by_role("button", name="Export").click()
    found["export"] = faults(page)
    page.keyboard.press("Escape")
    page.locator(".mark").first.click()
    found["card"] = faults(page)
    page.locator(".card:popover-open a").first.click()
    page.wait_for_url(re.compile("/pages/"))
    found["snapshot"] = faults(page)
    assert {view: wrong for view, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.full)])
def test_the_other_views(server: Server, open_page: Open, scheme: str) -> None:
    session = put(
        server.home, full().model_copy(update={"session_id": f"full-{scheme}"}), {"h": WIDE}
    )
    page = open_page(f"{server.url}/s/{session}", color_scheme=scheme, reduced_motion="reduce")
    found = {"every kind of section": faults(page)}
    page.goto(f"{server.url}/settings")
    page.locator(".findings").wait_for()
    found["settings"] = faults(page)
    page.goto(f"{server.url}/statistics")
    found["statistics"] = faults(page)
    phone = open_page(
        server.url,
        color_scheme=scheme,
        viewport={"width": 390, "height": 844},
        reduced_motion="reduce",
    )
    phone.get_by_role("button", name="History", exact=True).click()
    found["drawer"] = faults(phone)
    phone.goto(f"{server.url}/s/{session}/pages/h")
    found["wide page"] = faults(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    lost = open_page(noisy=True, color_scheme=scheme)
    lost.goto(f"{server.url}/s/nobody")
    found["not found"] = faults(lost)
    assert {view: wrong for view, wrong in found.items() if wrong} == {}

"""Makes the pictures of the web page in this folder: `python docs/images/make.py`. Needs Chromium;
no key, no model, no network.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from spadework.tools.web.chromium import installed_chromium

HERE = Path(__file__).resolve().parent
BEFORE = ("How do I retry a failing HTTP request in Python?", "Compare httpx and requests")
QUESTION = "What is LangGraph and how do I use it?"
SIZE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
#: Milliseconds: the first question waits for the index of the installed documentation.
PATIENCE = 300_000


def main() -> int:
    """Serve the page over the installed documentation, and go through it with a browser; 1 where
    there is none.
    """
    browser = installed_chromium()
    if browser is None:
        print("No Chromium is installed here.", file=sys.stderr)  # noqa: T201
        return 1
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        env = {**os.environ, "SPADEWORK_HOME": home, "SPADEWORK_SEARCH": "library"}
        command = [sys.executable, "-m", "spadework", "serve", "--port", "0"]
        with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            found = re.search(r"http://\S+/", server.stderr.readline())
            assert found is not None
            chromium = playwright.chromium.launch(executable_path=str(browser))
            page = chromium.new_page(viewport=SIZE)  # type: ignore[arg-type]
            page.set_default_timeout(PATIENCE)
            try:
                context(page, found[0])
                phone = chromium.new_page(
                    viewport=PHONE, device_scale_factor=2, color_scheme="dark"
                )  # type: ignore[arg-type]
                phone.goto(page.url.partition("/pages/")[0])
                phone.locator("article.report:not(.draft)").wait_for()
                shoot(phone, "phone")
            finally:
                chromium.close()
                server.terminate()
    return 0


def context(page: Page, address: str) -> None:
    """Yield the views of a wide window, one after the other; it ends at a page as it was read."""
    for question in BEFORE:
        ask(page, address, question)
        page.get_by_role("button", name=re.compile("^Approve")).click()
        page.locator("article.report:not(.draft)").wait_for()
    page.goto(address)
    shoot(page, "start")
    ask(page, address, QUESTION)
    page.get_by_role("button", name=re.compile("^Approve")).wait_for()
    shoot(page, "plan")
    page.get_by_role("button", name=re.compile("^Approve")).click()
    page.locator("#list .source").nth(3).wait_for()
    shoot(page, "running")
    page.locator("article.report:not(.draft)").wait_for()
    mark = page.locator(".mark").nth(1)
    mark.evaluate("mark => scrollBy(0, mark.getBoundingClientRect().top - 380)")
    mark.click()
    page.locator(".card:popover-open").wait_for()
    shoot(page, "report")
    page.locator(".card:popover-open").get_by_role("link", name="View in the saved page").click()
    page.locator("mark.wanted").first.wait_for()
    shoot(page, "snapshot")


def ask(page: Page, address: str, question: str) -> None:
    """Ask a question on the start page."""
    page.goto(address)
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def shoot(page: Page, name: str) -> None:
    """Save what is seen now."""
    page.screenshot(path=HERE / f"web-{name}.png", animations="disabled")


if __name__ == "__main__":
    sys.exit(main())

"""The HTML report in a real browser: cards by keyboard, no request, no script, light and dark, a
phone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spadework.tools.export.html_report import to_html
from tests.tools.export.results import HOSTILE, full, hostile

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def opened(browser: Browser, file: Path, html: str, **options: object) -> tuple[Page, list[str]]:
    """The page, and what it asked of a network, said on its console or opened as a dialog."""
    file.write_text(html, encoding="utf-8")
    page = browser.new_context(**options).new_page()  # type: ignore[arg-type]
    seen: list[str] = []
    page.on(
        "request",
        lambda request: (
            seen.append(request.url) if not request.url.startswith(("file:", "data:")) else None
        ),
    )
    page.on("console", lambda message: seen.append(message.text))
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.goto(file.as_uri())
    return page, seen


def test_a_card_opens_and_closes_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    page, seen = opened(browser, tmp_path / "r.html", to_html(full()))
    page.locator(".mark").nth(2).focus()
    page.keyboard.press("Enter")
    card = page.locator(":popover-open")
    assert "There are 40 sluices." in card.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "View on the page"
    page.keyboard.press("Escape")
    assert card.count() == 0
    assert page.evaluate("document.activeElement.className") == "mark"
    assert seen == []


def test_hostile_values_run_nothing_and_ask_for_nothing(browser: Browser, tmp_path: Path) -> None:
    page, seen = opened(
        browser, tmp_path / "r.html", to_html(hostile("".join(HOSTILE), "https://a.example/"))
    )
    for mark in page.locator(".mark").all():
        mark.click(force=True)
        page.keyboard.press("Escape")
    assert seen == []


def test_it_follows_the_colours_of_the_system_and_fits_a_phone(
    browser: Browser, tmp_path: Path
) -> None:
    colours = []
    for scheme in ("light", "dark"):
        page, _ = opened(
            browser,
            tmp_path / "r.html",
            to_html(full()),
            color_scheme=scheme,
            viewport={"width": 360, "height": 740},
        )
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert len(set(colours)) == 2

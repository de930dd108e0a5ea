"""LangChain's chat page for LangGraph servers, agent-chat-ui, in a browser: what it shows of a run
while it goes on. The page is built as docs/guides/langgraph.md says; its folder `dist` stands in
SPADEWORK_TEST_CHAT_PAGE, and pictures go to the folder of SPADEWORK_TEST_SHOTS.
"""

from __future__ import annotations

import functools
import http.server
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, sync_playwright

from spadework.tools.export.html_report import find_chromium
from tests.world.brain import play
from tests.world.dev import serving
from tests.world.model import Model

BUILT = Path(os.environ.get("SPADEWORK_TEST_CHAT_PAGE", ""))
SHOTS = Path(os.environ.get("SPADEWORK_TEST_SHOTS", ""))

pytestmark = [
    pytest.mark.process,
    pytest.mark.full,
    pytest.mark.timeout(180),
    pytest.mark.xdist_group("server"),
    pytest.mark.skipif(not (BUILT / "index.html").is_file(), reason="agent-chat-ui is not built"),
]

NOTES = {
    "quillon": "The Quillon is a wind-up radio that plays for 45 minutes after one winding.",
    "port": "Port Aldermere lies on the northern coast and has a harbour for eleven ferries.",
}
#: From the model's plan to that on the page.
MOST_SECONDS = 2.0
QUESTION = "What is the Quillon, and what is Port Aldermere?"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_request(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(model: Model, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    (tmp_path / "notes").mkdir()
    for name, said in NOTES.items():
        (tmp_path / "notes" / f"{name}.md").write_text(f"# {name.title()}\n\n{said}\n")
    env = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    env |= {
        **model.env,
        "HOME": str(tmp_path),
        "SPADEWORK_LIBRARY": str(tmp_path / "notes"),
        "SPADEWORK_SEARCH": "library",
        **getattr(request, "param", {}),
    }
    with serving(env, tmp_path / "log") as url:
        yield url


@pytest.fixture
def page(server: str) -> Iterator[Page]:
    handler = functools.partial(_Quiet, directory=str(BUILT))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as site, sync_playwright() as p:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        browser = p.chromium.launch(executable_path=find_chromium())
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        asked = urlencode({"apiUrl": server, "assistantId": "chat"})
        page.goto(f"http://127.0.0.1:{site.server_port}/?{asked}")
        yield page
        browser.close()
        site.shutdown()


def _send(page: Page, text: str) -> None:
    page.get_by_placeholder("Type your message...").fill(text)
    page.get_by_role("button", name="Send").click()


def _seen(page: Page, text: str, *, seconds: float = 60) -> float:
    page.get_by_text(text).first.wait_for(timeout=1_000 * seconds)
    return time.monotonic()


def _shoot(page: Page, name: str) -> None:
    if SHOTS.name:
        page.screenshot(path=SHOTS / f"{name}.png")


def test_plan_progress_and_report_are_seen_as_they_come(page: Page, model: Model) -> None:
    play(model, {"The Quillon": "Quillon", "Port Aldermere": "Port Aldermere"})
    model.delay = 1.5
    _send(page, QUESTION)
    seen = _seen(page, "Plan")
    made = [r.record.ended for r in model.requests if r.record.ended]
    assert seen - made[0] < MOST_SECONDS
    _shoot(page, "plan")
    _seen(page, "Read ")
    _shoot(page, "progress")
    _seen(page, "So far:")
    _shoot(page, "draft")
    _seen(page, "About this report")
    page.get_by_role("button", name="Cancel").wait_for(state="detached", timeout=20_000)
    _shoot(page, "report")
    shown = page.locator("body").inner_text()
    assert NOTES["quillon"] in shown
    assert "So far:" not in shown, "the report stays alone"
    _send(page, "thanks!")
    _seen(page, "You are welcome")
    _shoot(page, "thanks")


@pytest.mark.parametrize("server", [{"SPADEWORK_APPROVE": "1"}], indirect=True)
def test_a_plan_is_edited_in_the_pages_form(page: Page, model: Model) -> None:
    play(model, {"The Quillon": "Quillon", "Port Aldermere": "Port Aldermere"})
    _send(page, QUESTION)
    _seen(page, "Edit/Accept")
    _shoot(page, "approve")
    topics = page.get_by_role("textbox").first
    assert topics.input_value() == "The Quillon\nPort Aldermere"
    topics.fill("The Quillon")
    page.get_by_role("button", name="Submit").click()
    _seen(page, "About this report")
    shown = page.locator("body").inner_text()
    assert NOTES["quillon"] in shown
    assert NOTES["port"] not in shown, "the topic that was taken out is not researched"

"""Makes the pictures of the web page in this folder: `python docs/images/make.py`. Needs Chromium;
no key, no model, no network.

What a run shows is of the installed documentation. The report is the example `comparison`; the
one with a chart and a picture is made here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from spadework.tools.export.sheet import PICTURE_FOLDER
from spadework.tools.stores.private_files import write_atomically
from spadework.tools.web.chromium import installed_chromium
from spadework.values import Picture, Result, Section, Sentence, Usage

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BEFORE = "How do I retry a failing HTTP request in Python?"
QUESTION = "What is LangGraph and how do I use it?"
COMPARED = "Compare streaming and logical replication in PostgreSQL. Which should I choose when?"
SIZE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
#: Milliseconds: the first question waits for the index of the installed documentation.
PATIENCE = 240_000
EXAMPLE, HARBOUR = "20261125-101010-aaaaaa", "20261126-090000-bbbbbb"
#: The figure of the page that the small web has.
FIGURE = """<body style="margin:0;padding:28px 36px;font:600 20px sans-serif;background:#fff">
Passengers a year, in thousands<svg width="640" height="300" style="display:block;margin-top:18px">
<g fill="#2b6ca3"><rect x="40" y="150" width="90" height="120"/><rect x="190" y="108" width="90"
height="162"/><rect x="340" y="60" width="90" height="210"/><rect x="490" y="18" width="90"
height="252"/></g><g font-size="18" font-weight="400"><text x="62" y="294">2021</text><text x="212"
y="294">2022</text><text x="362" y="294">2023</text><text x="512" y="294">2024</text></g></svg>"""
CAPTION = "Figure 2: passengers of the ferries by year, in thousands; 412 in 2024."
TOLD = "The ferries carried 412,000 passengers in 2024, more than in any year before."


def main() -> int:
    """Prepare sessions, serve the page, and go through it with a browser; 1 where there is none."""
    sys.path[:0] = [str(ROOT), str(HERE)]
    browser = installed_chromium()
    if browser is None:
        print("No Chromium is installed here.", file=sys.stderr)  # noqa: T201
        return 1
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(browser))
        paper = chromium.new_page(viewport={"width": 712, "height": 380})
        paper.set_content(FIGURE)
        prepare(Path(home), paper.screenshot())
        env = {**os.environ, "SPADEWORK_HOME": home, "SPADEWORK_SEARCH": "library"}
        command = [sys.executable, "-m", "spadework", "serve", "--port", "0"]
        with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                found = re.search(r"http://\S+/", server.stderr.readline())
                assert found is not None
                said = go_through(chromium, found[0])
            finally:
                chromium.close()
                server.terminate()
    print(*said, sep="\n", file=sys.stderr)  # noqa: T201
    return bool(said)


def prepare(home: Path, figure: bytes) -> None:
    """Write the sessions that are not asked here."""
    from example import reopened

    from tests.apps.web.prepared import put

    compared = reopened(ROOT / "docs/examples/comparison.html", EXAMPLE, COMPARED)
    for result in (compared, harbour()):
        folder = home / "sessions" / put(home, result, {})
        told = folder / "session_metadata.json"
        known = json.loads(told.read_text()) | {"created_at": datetime.now(UTC).isoformat()}
        told.write_text(json.dumps(known))
        for picture in result.pictures:
            write_atomically(folder / PICTURE_FOLDER / picture.name, figure)


def harbour() -> Result:
    """Return a report with a chart and a picture."""
    from example import cited

    from tests.tools.export.results import WEB, evidence
    from tests.tools.export.test_chart import table

    made = table(("212 m", "1,060 m", "530 m"))
    [topic], document = made.topics, made.document
    quotes = (*topic.evidence, evidence("E9", "Ferries", TOLD, WEB))
    ferries = Sentence(text=TOLD, evidence_ids=("E9",))
    sections = (*document.sections, Section(heading="Ferries", sentences=(ferries,)))
    said = [sentence for section in sections for sentence in section.sentences]
    of = {"url": f"{WEB}/ferries.png", "page": WEB, "caption": CAPTION, "evidence_id": "E9"}
    picture = Picture(name=f"{'0' * 64}.png", **of)
    changes = {
        "session_id": HARBOUR,
        "question": "How long are the quays of Port Aldermere, and how busy are its ferries?",
        "status": "completed",
        "mode": "model",
        "topics": (topic.model_copy(update={"evidence": quotes}),),
        "document": document.model_copy(update={"sections": sections}),
        "citations": cited(said),
        "pictures": (picture,),
        "usage": Usage(pages=1),
    }
    return made.model_copy(update=changes)


def go_through(chromium: Browser, address: str) -> list[str]:
    """Save every view; what a page said on its console."""
    said: list[str] = []

    def opened(**options: object) -> Page:
        page = chromium.new_page(**options)  # type: ignore[arg-type]
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: said.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    page = opened(viewport=SIZE)
    running(page, address)
    dark = opened(viewport=SIZE, color_scheme="dark")
    phone = opened(viewport=PHONE, device_scale_factor=2)
    with_card(page, f"{address}s/{EXAMPLE}", "report")
    with_card(dark, f"{address}s/{EXAMPLE}", "dark")
    phone.goto(f"{address}s/{EXAMPLE}")
    shoot(phone, "phone")
    for name in ("chart", "picture"):
        page.goto(f"{address}s/{HARBOUR}")
        page.locator(f"figure.{name}").evaluate(
            "it => it.scrollIntoView({block: 'center', behavior: 'instant'})"
        )
        shoot(page, name)
    return said


def running(page: Page, address: str) -> None:
    """Save the views of a question from its start to a page that was read for it."""
    ask(page, address, BEFORE)
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
    page.locator(".mark").nth(1).click()
    page.locator(".card:popover-open").get_by_role("link", name="View in the saved page").click()
    page.locator("mark.wanted").first.wait_for()
    shoot(page, "snapshot")


def with_card(page: Page, address: str, name: str) -> None:
    """Save a report whose second mark is open."""
    page.goto(address)
    page.locator(".mark").nth(1).click()
    page.locator(".card:popover-open").wait_for()
    shoot(page, name)


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

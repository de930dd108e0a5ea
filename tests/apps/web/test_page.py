"""The page in a browser: ask, watch, answer, stop, cancel, resume, read, check, export, follow
up.
"""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

import docx
import pytest

from tests.apps.web.prepared import large, put
from tests.apps.web.server import Server
from tests.world.model import Model
from tests.world.sites import World

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

Open = Callable[..., "Page"]
QUESTION = "What is known about Port Aldermere?"
FORUM = """<title>The lighthouse of Port Aldermere</title>
<link itemscope itemtype="https://schema.org/DiscussionForumPosting"><h1>The lighthouse</h1>
<p>The lighthouse of Port Aldermere was first lit in 1887, and its keeper had 12 inhabitants.</p>"""
#: The page notes itself when its plan can be approved: whoever asks it from outside learns so
#: later.
_WHEN_PLANNED = """
new MutationObserver((_, watching) => {
  if (![...document.querySelectorAll("button")].some((button) => button.textContent.trim().startsWith("Approve"))) return;
  window.planned = Date.now();
  watching.disconnect();
}).observe(document, {childList: true, subtree: true});
"""  # noqa: E501


def ask(page: Page, question: str = QUESTION, *, unseen: bool = True) -> str:
    """Ask on the page that is open; the id of the session."""
    page.get_by_label("Your question").fill(question)
    if unseen:
        page.get_by_label("Start without showing me the plan").check()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url(re.compile(r"/s/"))
    return page.url.rpartition("/")[2]


def finished(page: Page) -> None:
    """Wait for the report."""
    page.locator("article.report:not(.draft)").wait_for()


def test_a_question_is_planned_approved_watched_and_answered(
    server: Server, open_page: Open
) -> None:
    page = open_page(server.url)
    assert page.evaluate("document.activeElement.id") == "question"
    session = ask(page, unseen=False)
    page.get_by_role("button", name=re.compile("^Approve")).click()
    finished(page)
    page.locator(".plan.done > summary").click()
    assert page.locator(".topic .name").all_inner_texts() == ["Inhabitants", "Lighthouse"]
    assert page.locator(".topic .phase").all_inner_texts() == ["answered", "answered"]
    assert page.locator(".mark").count() >= 2
    assert page.locator("#list .source[data-state=cited]").count() >= 1
    assert page.get_by_role("status").first.inner_text() == "The report is ready."
    assert page.locator(f"#state-{session}").inner_text() == "answered"


@pytest.mark.timed
def test_the_plan_stands_in_the_page_within_a_second_of_being_made(
    server: Server, open_page: Open
) -> None:
    page = open_page(server.url)
    page.add_init_script(_WHEN_PLANNED)
    session = ask(page, unseen=False)
    page.get_by_role("button", name=re.compile("^Approve")).wait_for()
    seen = page.evaluate("window.planned") / 1000
    # The run waits for an answer, so what was written last is the plan, and that it is asked about.
    made = (server.home / "sessions" / session / "events.jsonl").stat().st_mtime
    assert seen - made < 1.0


def test_reloading_amid_a_run_loses_and_repeats_nothing(
    server: Server, world: World, open_page: Open
) -> None:
    world.delay = 0.6
    page = open_page(server.url)
    session = ask(page)
    page.locator("#list .source").first.wait_for()
    page.reload()
    before = page.locator("#list .source").count()
    assert before >= 1
    finished(page)
    titles = page.locator("#list .source .title").all_inner_texts()
    assert len(titles) == len(set(titles))
    live = page.locator(".topic .meta").all_text_contents()
    page.reload()
    assert page.locator(".topic .meta").all_text_contents() == live, (
        "what was watched equals what is read from the log"
    )
    assert (server.home / "sessions" / session / "result.json").exists()


@pytest.mark.full
def test_a_styled_input_breaks_no_rule_when_the_report_comes(
    server: Server, world: World, open_page: Open
) -> None:
    page = open_page(server.url)
    world.hang_everything = True
    ask(page)
    page.locator("#list .source").first.wait_for()
    page.locator("#filter").evaluate("input => { input.style.caretColor = 'auto' }")
    page.get_by_role("button", name="Stop and write").click()
    finished(page)


@pytest.mark.full
def test_stop_and_write_ends_with_a_report(server: Server, world: World, open_page: Open) -> None:
    page = open_page(server.url)
    world.hang_everything = True
    ask(page)
    page.locator("#list .source").first.wait_for()
    page.get_by_role("button", name="Stop and write").click()
    page.get_by_text("Searching has stopped.").wait_for()
    finished(page)
    assert "stopped early" in page.locator(".facts").inner_text()


@pytest.mark.full
def test_a_cancelled_run_can_be_resumed(server: Server, world: World, open_page: Open) -> None:
    page = open_page(server.url)
    world.hang_everything = True
    ask(page)
    page.locator("#list .source").first.wait_for()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Keep running").click()
    assert page.locator(":popover-open").count() == 0
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the run").click()
    page.get_by_text("Pages already read are kept.").wait_for()
    world.hang_everything = False
    page.get_by_role("button", name="Resume").click()
    finished(page)
    assert page.locator(".topic").count() == 2


@pytest.mark.parametrize("way", ["option", "words"])
def test_a_question_asked_back_is_answered(
    server: Server, model: Model, open_page: Open, way: str
) -> None:
    model.script(
        "DoubtAnswer",
        {"question": "Which town do you mean?", "options": ["The port", "The village"]},
    )
    page = open_page(server.url)
    ask(page)
    page.get_by_role("heading", name="Which town do you mean?").wait_for()
    if way == "option":
        page.get_by_role("button", name="The village").click()
    else:
        page.get_by_label("Your answer").fill("the village")
        page.keyboard.press("Enter")
    finished(page)
    planning = next(
        request.prompt for request in model.requests if request.schema_name == "PlanAnswer"
    )
    assert "village" in planning.lower()


def test_what_approves_an_edited_plan_stands_below_its_topics(
    server: Server, open_page: Open
) -> None:
    page = open_page(server.url)
    ask(page, unseen=False)
    page.get_by_text("Edit the topics").click()
    last = page.get_by_role("button", name="Add a topic").bounding_box()
    approving = page.get_by_role("button", name=re.compile("^Approve")).bounding_box()
    assert last
    assert approving
    assert approving["y"] > last["y"] + last["height"]


@pytest.mark.full
def test_the_plan_is_changed_before_it_is_approved(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    ask(page, unseen=False)
    page.get_by_text("Edit the topics").click()
    page.get_by_role("button", name="Move down: Inhabitants").click()
    page.locator("#edited li", has=page.get_by_label("Topic 2")).get_by_role(
        "button", name="Move up: Inhabitants"
    ).wait_for()
    page.get_by_role("button", name="Add a topic").click()
    page.get_by_label("Topic 3").fill("Harbour")
    page.get_by_role("button", name="Remove: Inhabitants").click()
    page.get_by_role("button", name="Remove: Inhabitants").wait_for(state="detached")
    page.get_by_label("Topic 1").fill("The old lighthouse")
    page.get_by_role("button", name=re.compile("^Approve")).click()
    page.locator(".topic .name", has_text="Harbour").wait_for()
    assert page.locator(".topic .name").all_inner_texts() == ["The old lighthouse", "Harbour"]
    finished(page)


@pytest.mark.parametrize("topic", ["Go", "1. FC Aldermere", "change: drop 1"])
def test_a_topic_is_taken_as_it_is_named(server: Server, topic: str) -> None:
    with server.client() as client:
        csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/").text)
        assert csrf
        sent: dict[str, object] = {"csrf": csrf[1], "question": QUESTION}
        session = client.post("/ask", data=sent).headers["location"]
        _until(lambda: "Approve the plan" in client.get(session).text)
        client.post(f"{session}/answer", data=sent | {"topic": [topic]})
        log = server.home / "sessions" / session.rpartition("/")[2] / "events.jsonl"
        _until(lambda: '"answered"' in log.read_text())
        client.post(f"{session}/stop", data=sent)
        _until(lambda: '"finished"' in log.read_text())
    told = [json.loads(line) for line in log.read_text().splitlines()]
    plans = [event["plan"] for event in told if event["type"] == "planned"]
    assert [each["name"] for each in plans[-1]["topics"]] == [topic]


def _until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_quote_opens_by_mouse_and_by_keyboard_and_leads_to_its_words(
    server: Server, open_page: Open
) -> None:
    page = open_page(server.url)
    ask(page)
    finished(page)
    mark, card = page.locator(".mark").nth(1), page.locator(".card:popover-open")
    mark.scroll_into_view_if_needed()
    mark.hover()
    card.wait_for()
    page.mouse.move(5, 400)
    card.wait_for(state="hidden")
    mark.click()
    card.wait_for()
    assert re.search(r"trust \d+ %", card.inner_text())
    assert "supported" in card.inner_text()
    parts = r"trust \d+ % \(authority \d+, consistency \d+, publisher \d+, recency \d+\)"
    assert re.search(parts, page.locator("#list").text_content() or "")
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    page.locator(".mark").nth(2).focus()
    page.keyboard.press("Shift+Tab")
    page.locator(f"#{mark.get_attribute('popovertarget')}:popover-open").wait_for()
    quote = card.locator("blockquote mark").first.inner_text()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "View in the saved page"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/pages/"))
    marked = page.locator("mark.wanted")
    assert "".join(marked.all_inner_texts()) == quote
    assert marked.first.is_visible()
    box = marked.first.bounding_box()
    assert box is not None
    assert 0 <= box["y"] <= 720, "scrolled to"


def test_every_export_is_handed_over(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    session = ask(page)
    finished(page)
    bodies = {}
    for label, ending in (
        ("Markdown", "md"),
        ("HTML", "html"),
        ("PDF", "pdf"),
        ("Word", "docx"),
        ("JSON", "json"),
    ):
        page.get_by_role("button", name="Export").focus()
        page.keyboard.press("Enter")
        with page.expect_download(timeout=70_000) as waiting:
            page.get_by_role("link", name=label, exact=True).click()
        assert waiting.value.suggested_filename == f"spadework-{session}.{ending}"
        bodies[ending] = waiting.value.path().read_bytes()
    assert bodies["md"].decode().startswith(f"# {QUESTION}")
    assert b"<!DOCTYPE html>" in bodies["html"]
    assert bodies["pdf"].startswith(b"%PDF")
    assert docx.Document(BytesIO(bodies["docx"])).paragraphs[0].text == QUESTION
    assert json.loads(bodies["json"])["session_id"] == session


@pytest.mark.full
def test_the_report_can_be_copied(server: Server, open_page: Open) -> None:
    page = open_page(server.url, permissions=["clipboard-read", "clipboard-write"])
    ask(page)
    finished(page)
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith(f"# {QUESTION}")


def test_a_follow_up_builds_on_the_session(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    first = ask(page)
    finished(page)
    page.get_by_role("textbox", name="Follow up").fill("And who lights the lamp?")
    page.get_by_label("Start without showing me the plan").check()
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url(lambda url: "/s/" in url and first not in url)
    finished(page)
    earlier = page.get_by_text(f"Version 1: {QUESTION}")
    assert not page.get_by_label("Version 1", exact=True).is_visible()
    earlier.click()
    assert "Port Aldermere" in page.get_by_label("Version 1", exact=True).inner_text()
    link = page.get_by_role("link", name="Open version 1 with its quotes and sources")
    assert link.get_attribute("href") == f"/s/{first}"
    assert page.get_by_text("Version 2: this report").is_visible()


@pytest.mark.full
def test_the_sources_are_filtered_by_words_state_and_kind(
    server: Server, open_page: Open, world: World
) -> None:
    world.put("forum", "/keeper", FORUM)
    page = open_page(server.url)
    ask(page)
    finished(page)
    rows = page.locator("#list .source:visible")
    every = rows.count()
    shown = page.get_by_label("Filter by state or kind")
    shown.select_option("cited")
    cited = rows.count()
    assert 0 < cited < every
    shown.select_option(label="Forum")
    assert [row.get_attribute("data-kind") for row in rows.all()] == ["forum"]
    assert "· forum ·" in rows.first.inner_text()
    page.get_by_label("Filter the sources").fill("no source has these words")
    assert rows.count() == 0


def test_only_one_kind_of_sources_is_asked_for(
    server: Server, open_page: Open, world: World
) -> None:
    world.put("forum", "/keeper", FORUM)
    page = open_page(server.url)
    page.get_by_text("Options").click()
    page.get_by_label("Kind of sources").select_option("Forums")
    ask(page)
    finished(page)
    read = page.locator("#list .source:not([data-state='not read'])")
    assert [row.get_attribute("data-kind") for row in read.all()] == ["forum"]


@pytest.mark.full
def test_a_session_is_deleted_after_confirmation(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    session = ask(page, "What is to be deleted?")
    finished(page)
    page.get_by_role("button", name="Delete: What is to be deleted?").click()
    assert (server.home / "sessions" / session).exists()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url(f"{server.url}/")
    assert not (server.home / "sessions" / session).exists()
    assert page.get_by_text("What is to be deleted?").count() == 0


def test_the_start_page_says_what_is_searched_and_gives_examples(
    server: Server, open_page: Open
) -> None:
    page = open_page(server.url)
    assert page.locator(".what").inner_text().startswith("Searched: searxng. Written by ")
    example = page.locator(".examples a").first
    words = example.inner_text()
    example.click()
    assert page.locator("#question").input_value() == words


def test_model_depth_and_sources_are_chosen_beside_the_question(
    server: Server, model: Model, open_page: Open
) -> None:
    page = open_page(server.url)
    offered = page.get_by_label("Model").locator("option").all_inner_texts()
    page.get_by_label("Depth").select_option("quick")
    page.get_by_label("Sources").select_option("searxng")
    session = ask(page)
    finished(page)
    told = json.loads((server.home / "sessions" / session / "session_metadata.json").read_text())
    assert (told["settings"]["effort"], told["settings"]["search"]) == ("quick", "searxng")
    assert f"written by {offered[0]}" in page.locator(".facts").inner_text()


def test_a_model_that_is_not_offered_is_refused(server: Server) -> None:
    with server.client() as client:
        csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/").text)
        assert csrf
        sent = {"csrf": csrf[1], "question": QUESTION, "model": "openai:the-dearest"}
        refused = client.post("/ask", data=sent)
    assert refused.status_code == 422
    assert "The model openai:the-dearest is not available here" in refused.text


def test_the_answer_stands_first_and_apart_with_its_marks(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    ask(page)
    finished(page)
    answer = page.locator("article.report > section").first
    assert "kind-summary" in str(answer.get_attribute("class"))
    first = answer.locator("p").first
    assert 1 <= first.locator(".said").count() <= 2
    assert first.locator(".mark").count() >= 1


def test_a_question_that_a_read_page_answers_starts_a_follow_up(
    server: Server, open_page: Open
) -> None:
    result, pages = large("related", sources=2, sections=1, sentences=2)
    page_read = "# The pier\n\n## How long is the pier?\n\nThe pier is 212 metres long.\n"
    put(server.home, result, pages | {"h0": pages["h0"] + page_read})
    page = open_page(f"{server.url}/s/related")
    page.get_by_role("link", name="How long is the pier?").click()
    assert page.get_by_label("Follow up").input_value() == "How long is the pier?"
    assert page.locator("input[name=follows]").get_attribute("value") == "related"


def test_small_talk_is_answered_and_begins_no_session(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    before = {*(server.home / "sessions").glob("*")}
    page.get_by_label("Your question").fill("Hello, who are you?")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("I search, read pages").wait_for()
    assert {*(server.home / "sessions").glob("*")} == before


def test_the_history_is_searched(server: Server, open_page: Open) -> None:
    for n in range(7):
        put(server.home, *large(f"listed-{n}", sources=2, sections=1, sentences=2))
    page = open_page(server.url)
    rows = page.locator(".sessions > li[data-session]:visible")
    days = page.locator("li.day:visible")
    everything = rows.count(), days.count()
    page.get_by_label("Search the history").fill("nothing of the kind")
    assert (rows.count(), days.count()) == (0, 0)
    page.get_by_label("Search the history").fill("")
    assert (rows.count(), days.count()) == everything


def test_only_the_keyboard_is_needed(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".planned").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    finished(page)


def test_dark_and_light_follow_the_system_and_the_toggle(server: Server, open_page: Open) -> None:
    def paper(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = (open_page(server.url, color_scheme=scheme) for scheme in ("light", "dark"))
    assert paper(light) != paper(dark)
    light.get_by_role("button", name="Switch between dark and light").click()
    assert paper(light) == paper(dark)
    light.reload()
    assert paper(light) == paper(dark), "the choice is kept"


def test_a_phone_has_one_column_and_the_history_in_a_drawer(
    server: Server, open_page: Open
) -> None:
    page = open_page(
        server.url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    ask(page)
    finished(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    ways = [button.bounding_box() for button in page.locator(".tools .button:visible").all()]
    assert ways
    assert all(box and box["x"] + box["width"] <= 390 for box in ways)
    page.get_by_role("button", name="Export").tap()
    menu = page.locator("#export").bounding_box()
    assert menu
    assert menu["x"] + menu["width"] <= 390
    page.keyboard.press("Escape")
    page.locator(".mark").first.tap()
    page.locator(".card:popover-open").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.keyboard.press("Escape")
    page.get_by_role("button", name="History", exact=True).tap()
    drawer = page.get_by_role("navigation", name="History")
    drawer.get_by_role("link", name=re.compile(re.escape(QUESTION))).first.wait_for()
    page.get_by_role("button", name="Close the history").tap()
    drawer.wait_for(state="hidden")


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.full)]
)
def test_the_page_lives_through_a_restart_of_the_server(
    world: World, server: Server, open_page: Open, how: signal.Signals
) -> None:
    page = open_page(server.url, noisy=True)
    world.hang_everything = True
    session = ask(page)
    page.locator("#list .source").first.wait_for()
    server.stop(how)
    page.get_by_text("The server is not responding").wait_for()
    world.hang_everything = False
    server.start()
    finished(page)
    assert page.locator("#lost-server").is_hidden()
    log = [
        json.loads(line)
        for line in (server.home / "sessions" / session / "events.jsonl").read_text().splitlines()
    ]
    assert [event["type"] for event in log].count("started") == 2
    assert log[-1]["type"] == "finished"
    titles = page.locator("#list .source .title").all_inner_texts()
    assert len(titles) == len(set(titles))

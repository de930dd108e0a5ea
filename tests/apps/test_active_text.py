"""Sixty texts that mean harm, wherever a text from outside stands, through every way out: nothing
of them is active.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import pypdfium2
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from lxml import html
from rich.console import Console

from spadework.agents.report.length import review
from spadework.apps.mcp.research_tools import structure_result
from spadework.apps.openai.chat_completion import (
    around,
    cite_marks,
    completion_of,
    news_of,
    stream_chunks,
)
from spadework.apps.openai.chat_request import ChatRequest
from spadework.apps.terminal.live_run import word_event
from spadework.apps.terminal.screen import draw_report
from spadework.budget import Limits
from spadework.events import Assessed, Event, Finished, Notice, Planned, Read, Searched, Troubled
from spadework.graph.chat import message_of as chat_message
from spadework.sessions.brief import Brief
from spadework.sessions.record.records import Records
from spadework.settings import Settings
from spadework.tools.export.bibtex import to_bibtex
from spadework.tools.export.docx_report import to_docx
from spadework.tools.export.html_report import to_html, to_pdf
from spadework.tools.export.markdown_report import safe_url
from spadework.values import Coverage, Plan, Problem, Query, Topic, Usage
from spadework.visible import visible
from tests.apps.mcp.serving import over_http
from tests.apps.process import Terminal
from tests.apps.web.prepared import put
from tests.apps.web.server import Server
from tests.tools.export.active import TEXTS, UNSEEN, active_in_html, active_in_markdown, everywhere
from tests.tools.export.test_bibtex import read as entries
from tests.tools.export.test_docx_report import assert_harmless
from tests.tools.export.test_pdf_report import needs_chromium

pytestmark = pytest.mark.process

RESULT = everywhere()
URLS = {safe_url(source.url) for source in RESULT.sources}
PAGE = "\n".join(TEXTS)
#: What a terminal may be told by us: colours, and links to a web page or a stored page.
OURS = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;[^;\x1b\x07]*;(?:(?:https?|file)://[!-~]*)?\x1b\\")


def strings(value: Any) -> Iterator[str]:
    """All texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for one in pair for text in strings(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in strings(one))


def outside_fences(text: str) -> str:
    """What a model reads that is not marked as text from pages."""
    return re.sub(r"<page_text>\n.*?\n</page_text>", "", text, flags=re.DOTALL)


def events() -> list[Event]:
    """Every kind of event that tells of a text from outside."""
    found: list[Event] = []
    for words in TEXTS:
        plan = Plan(
            question=words,
            topics=(Topic(name=words, question=words, queries=(Query(text=words),)),),
        )
        found += [
            Planned(plan=plan),
            Searched(topic=words, query=words, provider=words, hits=1),
            Read(topic=words, url=words or "x", title=words, chars=0, reason=words),
            Troubled(problem=Problem(stage="read", subject=words, reason=words)),
            Notice(text=words),
        ]
    coverage = tuple(Coverage(topic=words, covered=False, score=0.1) for words in TEXTS)
    return [*found, Assessed(round=1, coverage=coverage, evidence=1, usage=Usage())]


def test_there_are_sixty() -> None:
    assert len(set(TEXTS)) >= 60


def test_markdown() -> None:
    fences = sum(e.kind == "code" for topic in RESULT.topics for e in topic.evidence)
    assert active_in_markdown(RESULT.report, URLS, fences) == []
    assert active_in_markdown(chat_message(RESULT).text, URLS, fences) == []
    assert active_in_markdown(review(RESULT), set()) == []


def test_html() -> None:
    page = to_html(RESULT)
    assert active_in_html(page) == []
    drawn = html.document_fromstring(page)
    assert not drawn.xpath("//script")
    assert len(drawn.xpath("//style")) == len(drawn.xpath("//main")) == 1


@needs_chromium
def test_pdf() -> None:
    document = pypdfium2.PdfDocument(to_pdf(RESULT))
    try:
        text = "\n".join(document[n].get_textpage().get_text_range() for n in range(len(document)))
    finally:
        document.close()
    # PDFium ends lines with CR LF, and marks a broken word with U+FFFE.
    assert not UNSEEN.findall(text.replace("\r\n", "\n").replace("\x02", ""))
    assert "javascript:alert(1)" in "".join(text.split())


def test_docx() -> None:
    assert_harmless(RESULT)
    document = docx.Document(io.BytesIO(to_docx(RESULT)))
    outside = [rel for rel in document.part.rels.values() if rel.is_external]
    assert {rel.reltype for rel in outside} == {RELATIONSHIP_TYPE.HYPERLINK}
    assert not [p.text for p in document.paragraphs if UNSEEN.search(p.text)]


def test_json_and_bibtex() -> None:
    told = RESULT.model_dump_json()
    assert not UNSEEN.search(told)
    assert not [text for text in strings(json.loads(told)) if UNSEEN.search(text)]
    bib = to_bibtex(RESULT)
    assert not UNSEEN.search(bib)
    assert len(entries(bib)) == len(RESULT.sources)


def test_a_compressed_answer_of_a_tool() -> None:
    made = structure_result(RESULT, {"h": visible(PAGE)}, 20_000)
    assert not UNSEEN.search(made.model_dump_json())
    assert active_in_markdown(made.report, URLS) == []


def test_the_terminal_draws_it() -> None:
    for terminal in (True, False):
        screen = io.StringIO()
        colours = "standard" if terminal else None
        console = Console(file=screen, force_terminal=terminal, color_system=colours, width=100)
        draw_report(RESULT, console)
        drawn = OURS.sub("", screen.getvalue()) if terminal else screen.getvalue()
        assert UNSEEN.findall(drawn) == []


def test_progress() -> None:
    assert not [word_event(event) for event in events() if UNSEEN.search(word_event(event))]
    assert not [1 for event in events() if UNSEEN.search(event.model_dump_json())]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("active") / "home"
    put(folder, RESULT, {"h": visible(PAGE)})
    metadata = folder / "sessions" / RESULT.session_id / "session_metadata.json"
    # As another program could have left it: no value of ours has seen to it.
    told = json.loads(metadata.read_text()) | {"query": PAGE}
    metadata.write_text(json.dumps(told))
    return folder


def test_commands(home: Path, tmp_path: Path) -> None:
    terminal = Terminal({"SPADEWORK_SEARCH": "library", "SPADEWORK_HOME": str(home)}, tmp_path)
    for command in (
        ["sessions"],
        ["sessions", "show", RESULT.session_id],
        ["sessions", "show", RESULT.session_id, "--json"],
        ["resume", RESULT.session_id],
        ["resume", RESULT.session_id, "--events"],
        ["stats"],
        ["stats", "--json"],
    ):
        code, out, err = terminal.run(*command)
        assert code in (0, 3), err
        assert UNSEEN.findall(out + err) == [], command


async def test_the_files_of_a_session(tmp_path: Path) -> None:
    folder = tmp_path / "20260101-000000-aaaaaa"
    folder.mkdir()
    records = await Records.begin(folder, Brief(visible(PAGE)), Settings.load(), Limits())
    for event in events():
        await records.saw(records.record.tell(event))
    await records.finish(RESULT)
    for path in folder.glob("*.md"):
        allowed = URLS if "report" in path.name else set()
        assert active_in_markdown(path.read_text(), allowed) == [], path.name
    for path in folder.glob("*.json*"):
        assert not UNSEEN.search(path.read_text()), path.name


async def test_v1() -> None:
    async def told() -> Any:
        for event in (*events(), Finished(result=RESULT)):
            yield event

    asked = ChatRequest.model_validate(
        {
            "model": "spadework",
            "messages": [{"role": "user", "content": "What is a heron?"}],
            "stream_options": {"include_usage": True},
        }
    )
    lines = [line async for line in stream_chunks(news_of(told()), asked, "x")]
    parsed = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    marked = {"marked": cite_marks(RESULT)}
    for body in (*parsed, completion_of(asked, RESULT), around(RESULT), marked):
        assert not [text for text in strings(body) if UNSEEN.search(text)]
    assert all(line.endswith("\n\n") and line.count("\n") == 2 for line in lines)
    thoughts = [p["choices"][0]["delta"].get("reasoning_content") for p in parsed if p["choices"]]
    assert not [t for t in thoughts if t and active_in_markdown(t, set())]


async def test_tools_of_mcp(home: Path, tmp_path: Path) -> None:
    settings = Settings.load(home=home, search="library", library=(tmp_path,))
    parts = ("overview", "progress", "plan", "report", "evidence", "sources", "problems")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("get_session_data", {"session_id": RESULT.session_id, "part": part}) for part in parts
    ]
    asked += [("get_session_data", {"session_id": RESULT.session_id, "part": "page", "page": "1"})]
    asked += [("create_research_report", {"session_id": RESULT.session_id})]
    async with over_http(settings) as client:
        for tool, arguments in asked:
            told = await client.call_tool(tool, arguments)
            said = told.content[0].text
            assert not told.is_error, said
            assert not [t for t in (said, *strings(told.structured_content)) if UNSEEN.search(t)]
            # Every fence is closed by us alone: what stands outside has none of its words.
            assert said.count("<page_text>") == said.count("</page_text>"), arguments
            assert not re.search(r"</?page_text>", outside_fences(said)), arguments


def test_the_web_page(home: Path, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# A note\n\nA note.\n")
    env = {"SPADEWORK_SEARCH": "library", "SPADEWORK_LIBRARY": str(tmp_path)}
    server = Server(env, home)
    try:
        with server.client() as client:
            of = f"/s/{RESULT.session_id}"
            plain = active_in_html(client.get("/").text)
            assert plain == []
            for path in ("/", of, f"{of}/pages/h", f"{of}/pages/h?e=E2", "/statistics"):
                answer = client.get(path)
                assert answer.status_code == 200, path
                assert active_in_html(answer.text) == [], path
            assert active_in_markdown(client.get(f"{of}/report.md").text, URLS) == []
    finally:
        server.stop()

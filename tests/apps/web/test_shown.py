"""What pages say, as their HTML has it: asked of the server in this process, without a browser."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import httpx
import pytest

from spadework.apps.web.app import build_app
from spadework.apps.web.page_templates import part
from spadework.events import Finished
from spadework.sessions.health import Check
from spadework.sessions.record.log import log_event
from spadework.sessions.storage.files import hold_session
from spadework.settings import Settings
from spadework.values import Picture, Result
from tests.apps.web.prepared import large, put
from tests.tools.export.painted import gif
from tests.world.background import Background, listen

ID = "20260304-050607-0000aa"
TITLE = "Register 0 of the harbour"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    library = (tmp_path / "notes", tmp_path / "manuals")
    for folder in library:
        folder.mkdir()
    app = build_app(Settings.load(home=tmp_path, search="library", library=library))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
    ) as client:
        yield client


def quoting(mode: Literal["model", "extractive"] = "model", heading: str = "") -> Result:
    """A report of one sentence whose quote stands under a heading of its page."""
    result, _ = large(ID, sources=1, sections=1, sentences=1)
    [topic] = result.topics
    evidence = tuple(e.model_copy(update={"heading": heading}) for e in topic.evidence)
    topics = (topic.model_copy(update={"evidence": evidence}),)
    return result.model_copy(update={"mode": mode, "topics": topics})


async def card_of(client: httpx.AsyncClient, home: Path, result: Result) -> str:
    """The card of the only quote of a report."""
    put(home, result, {})
    page = (await client.get(f"/s/{ID}")).text
    card = re.search(r'<div class="card".*?</article>', page, re.DOTALL)
    assert card
    return card[0]


async def test_a_card_says_what_was_found_only_where_a_model_judged(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    assert '<span class="verdict">supported</span>' in await card_of(client, tmp_path, quoting())


async def test_a_card_of_a_report_without_a_model_says_that_it_is_a_quote(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    card = await card_of(client, tmp_path, quoting("extractive"))
    assert "quoted word for word" in card
    assert not re.search("supported|verdict", card)


@pytest.mark.parametrize(("heading", "count"), [(TITLE, 1), (f"{TITLE} › Ships", 2)])
async def test_a_card_has_the_title_of_its_page_once(
    client: httpx.AsyncClient, tmp_path: Path, heading: str, count: int
) -> None:
    card = await card_of(client, tmp_path, quoting(heading=heading))
    assert card.count(TITLE) == count


async def test_pictures_are_served_with_the_type_of_their_bytes(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    put(tmp_path, quoting(), {})
    folder, zeros, ones = tmp_path / "sessions" / ID / "pictures", "0" * 64, "1" * 64
    folder.mkdir()
    (folder / f"{zeros}.png").write_bytes(gif())
    (folder / f"{ones}.png").write_text("<script>alert(1)</script>")
    (folder.parent / "a.png").write_bytes(gif())
    shown = await client.get(f"/s/{ID}/pictures/{zeros}.png")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/gif")
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    for name in (f"{ones}.png", f"{'2' * 64}.png", "%2e%2e%2fa.png", "..%2Fa.png"):
        assert (await client.get(f"/s/{ID}/pictures/{name}")).status_code == 404


async def test_a_page_has_the_pictures_that_are_in_its_folder(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    of = {"url": "https://a.example/a.png", "page": "https://a.example/", "caption": "The harbour."}
    names = [f"{n * 64}.png" for n in "01"]
    known = tuple(Picture(name=name, evidence_id="E1", **of) for name in names)
    told = quoting().model_copy(update={"pictures": known, "session_dir": "/where/it/ran"})
    folder = tmp_path / "sessions" / put(tmp_path, told, {})
    log_event(folder, Finished(result=told))
    (folder / "pictures").mkdir()
    (folder / "pictures" / names[1]).write_bytes(gif())
    page = (await client.get(f"/s/{ID}")).text
    assert [name in page for name in names] == [False, True]


async def test_the_start_page_names_the_libraries(client: httpx.AsyncClient) -> None:
    assert "Searched: the library notes and manuals." in (await client.get("/")).text


async def test_the_history_has_the_time_of_day(client: httpx.AsyncClient, tmp_path: Path) -> None:
    put(tmp_path, quoting(), {})
    assert re.search(r"<time>\d\d:\d\d</time> · ", (await client.get("/")).text)


async def test_a_session_of_another_process_is_not_offered_to_be_resumed(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    folder = tmp_path / "sessions" / put(tmp_path, quoting(), {})
    (folder / "result.json").unlink()
    with hold_session(folder):
        page = (await client.get(f"/s/{ID}")).text
    assert "Another process is working on this session." in page
    assert "Resume" not in page
    assert "Resume" in (await client.get(f"/s/{ID}")).text


@pytest.mark.parametrize("ending", ["md", "html", "docx", "json", "bib"])
async def test_a_report_that_found_nothing_is_handed_over(
    client: httpx.AsyncClient, tmp_path: Path, ending: str
) -> None:
    result = quoting()
    [topic] = result.topics
    nothing = {"topics": (topic.model_copy(update={"covered": False, "evidence": ()}),)}
    document = result.document.model_copy(update={"sections": ()})
    put(tmp_path, result.model_copy(update={**nothing, "sources": (), "document": document}), {})
    answer = await client.get(f"/s/{ID}/report.{ending}")
    assert answer.status_code == 200
    assert f"{ID}.{ending}" in answer.headers["content-disposition"]


def test_commands_in_findings_are_code_and_nothing_else_is() -> None:
    check = Check(state="hint", text="Install it: `pip <b>`, 3 ` 4.", hint="Or `apt install x`.")
    html = part("_findings.html", findings=[check])
    assert "Install it: <code>pip &lt;b&gt;</code>, 3 ` 4." in html
    assert "Or <code>apt install x</code>." in html


class Lists:
    """A model server that lists two models, or hangs."""

    def __init__(self, background: Background) -> None:
        self.asked, self.hangs = 0, False
        sock = listen("127.0.0.1")
        background.converse(self._answer, sock)
        self.url = "http://{}:{}/v1".format(*sock.getsockname())

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        if self.hangs:
            with suppress(ConnectionError):
                await reader.read()
        else:
            body = json.dumps({"data": [{"id": "able"}, {"id": "baker"}]})
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write((head + body).encode())
            await writer.drain()
        writer.close()


@pytest.fixture
def lists(background: Background) -> Lists:
    return Lists(background)


def over(lists: Lists, home: Path) -> httpx.AsyncClient:
    """A client of a new server, whose model server lists its models."""
    app = build_app(Settings.load(home=home, search="library", openai_base_url=lists.url))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


async def choose(client: httpx.AsyncClient, model: str) -> str:
    """What is said of a form with a model, which is refused for its minutes at the latest."""
    page = (await client.get("/")).text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)
    assert csrf
    sent = {"csrf": csrf[1], "question": "What is the Quillon radio?", "model": model}
    refused = await client.post("/ask", data=sent | {"minutes": "none"})
    assert refused.status_code == 422
    return refused.text


async def test_the_models_are_listed_once_for_many_pages(lists: Lists, tmp_path: Path) -> None:
    async with over(lists, tmp_path) as client:
        pages = [(await client.get("/")).text for _ in range(3)]
    assert all('<option value="openai:baker">' in page for page in pages)
    assert lists.asked == 1


async def test_a_model_that_was_offered_is_taken_though_its_server_hangs(
    lists: Lists, tmp_path: Path
) -> None:
    async with over(lists, tmp_path) as client:
        await client.get("/")
        lists.hangs = True
        assert "is not available here" not in await choose(client, "openai:able")


async def test_a_model_is_looked_for_anew_where_it_is_not_known(
    lists: Lists, tmp_path: Path
) -> None:
    lists.hangs = True
    async with over(lists, tmp_path) as client:
        await client.get("/")
        lists.hangs = False
        assert "is not available here" not in await choose(client, "openai:able")
        assert "openai:carol is not available here" in await choose(client, "openai:carol")


async def test_a_model_server_that_hangs_delays_one_page(lists: Lists, tmp_path: Path) -> None:
    lists.hangs = True
    async with over(lists, tmp_path) as client:
        await client.get("/")
        began = time.monotonic()
        for _ in range(3):
            await client.get("/")
    assert time.monotonic() - began < 1.0

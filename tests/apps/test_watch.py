"""A watched question reports the figure that changed, with its quotes, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from lxml import etree, html
from markdown_it import MarkdownIt

from spadework.sessions.changes import Change, Changes
from tests.apps.process import Terminal
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about the Tarn Viaduct?"
ATOM = {"a": "http://www.w3.org/2005/Atom"}


def page(length: int) -> str:
    return (
        "<title>Tarn Viaduct</title><h1>Tarn Viaduct</h1><p>The Tarn Viaduct was opened in 1911 by"
        f" the Tarn Railway Company.</p><p>The Tarn Viaduct is {length} metres long and carries two"
        " tracks.</p>"
    )


@pytest.fixture
def terminal(world: World, searx: Searx, tmp_path: Path) -> Terminal:
    return Terminal({**world.env, **searx.env}, tmp_path)


@pytest.fixture
def hook() -> Iterator[tuple[str, list[dict[str, object]]]]:
    """The address of a webhook, and what was sent there."""
    sent: list[dict[str, object]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(500 if "token" in self.path else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", sent
        server.shutdown()
        thread.join()


def test_one_changed_figure_is_reported_and_nothing_else(
    terminal: Terminal, world: World, hook: tuple[str, list[dict[str, object]]]
) -> None:
    address, sent = hook
    to = ("--feed", "changes.atom", "--webhook", address)
    asked = ("watch", QUESTION, "--search", "searxng", *to)
    url = world.put("encyclopedia", "/tarn-viaduct", page(212))
    first = terminal.run(*asked)
    assert first[:2] == (0, ""), first[2]
    assert terminal.run(*asked)[:2] == (0, ""), "nothing changed"
    world.put("encyclopedia", "/tarn-viaduct", page(219))
    code, out, err = terminal.run(*asked)
    assert code == 0, err
    assert out.splitlines()[0] == f"# {QUESTION}"
    assert out.count(f"]({url})") == out.count("\n- ") == 1
    assert out.count("Before: ") == out.count("Now: ") == 1
    assert "> Before: The Tarn Viaduct is 212 metres long" in out
    assert "> Now: The Tarn Viaduct is 219 metres long" in out
    assert "1911" not in out
    assert len(sent) == 1
    assert str(sent[0]["text"]).strip() == out.strip()
    world.put("encyclopedia", "/tarn-viaduct", page(240))
    assert terminal.run(*asked)[0] == 0
    feed = etree.parse(terminal.folder / "changes.atom")
    told = feed.xpath("/a:feed/a:entry/a:content/text()", namespaces=ATOM)
    assert ["240 metres" in each for each in told] == [True, False], "the newest first"
    assert "219 metres" in told[1]


def test_a_call_that_comes_too_soon_does_nothing(terminal: Terminal, world: World) -> None:
    world.put("encyclopedia", "/tarn-viaduct", page(212))
    asked = ("watch", QUESTION, "--search", "searxng", "--every", "1d")
    assert terminal.run(*asked)[0] == 0
    count = len(world.requests)
    assert terminal.run(*asked) == (0, "", "")
    assert len(world.requests) == count
    [told] = Path(terminal.env["SPADEWORK_HOME"]).glob("sessions/*/session_metadata.json")
    future = json.loads(told.read_text()) | {"created_at": "2999-01-01T00:00:00Z"}
    told.write_text(json.dumps(future))
    assert terminal.run(*asked)[:2] == (0, "")
    assert len(world.requests) > count, "a clock that was wrong does not end the watch"


def test_a_span_that_is_none_is_named(terminal: Terminal) -> None:
    code, _, err = terminal.run("watch", QUESTION, "--every", "daily")
    assert (code, err) == (
        2,
        "spadework: --every must be a number and a unit such as 30m, 12h, 1d or 1w, not 'daily'.\n",
    )


def test_what_was_not_delivered_is_reported_again(
    terminal: Terminal, world: World, hook: tuple[str, list[dict[str, object]]]
) -> None:
    address, sent = hook
    feed = terminal.folder / "changes.atom"
    asked = ("watch", QUESTION, "--search", "searxng", "--feed", feed.name, "--webhook")
    world.put("encyclopedia", "/tarn-viaduct", page(212))
    assert terminal.run(*asked, address)[0] == 0
    world.put("encyclopedia", "/tarn-viaduct", page(219))
    refused = f"{address}secret?token=hidden"
    code, out, err = terminal.run(*asked, refused)
    assert (code, "219 metres" in out) == (1, True)
    assert err.splitlines()[-1] == "spadework: The webhook at 127.0.0.1 failed: status 500."
    assert not feed.exists(), "the next run adds the entry"
    code, out, err = terminal.run(*asked, address)
    assert (code, "212 metres" in out, "219 metres" in out) == (0, True, True), err
    assert [each["since"] for each in sent[:-1]] == [sent[-1]["since"]]
    assert terminal.run(*asked, address)[:2] == (0, "")
    assert len(etree.parse(feed).xpath("/a:feed/a:entry", namespaces=ATOM)) == 1


@pytest.mark.parametrize(
    ("to", "said"),
    [
        (("--feed", "letter.xml"), "is not an Atom feed"),
        (("--feed", "nowhere/changes.atom"), "does not exist"),
        (("--webhook", "http://[secret"), "--webhook must be a web address"),
        (("--webhook", "ftp://example.com/secret"), "--webhook must be a web address"),
        (("--webhook", "http://example.com:99999/secret"), "--webhook must be a web address"),
    ],
)
def test_what_cannot_be_delivered_to_is_told_before_the_run(
    terminal: Terminal, world: World, to: tuple[str, str], said: str
) -> None:
    (terminal.folder / "letter.xml").write_text("<letter/>")
    before = len(world.requests)
    code, _, err = terminal.run("watch", QUESTION, "--search", "searxng", *to)
    assert (code, said in err, "secret" in err, err.count("\n")) == (2, True, False, 1), err
    assert len(world.requests) == before


def test_a_run_that_fails_is_no_last_run(terminal: Terminal, world: World, searx: Searx) -> None:
    asked = ("watch", QUESTION, "--search", "searxng")
    world.put("encyclopedia", "/tarn-viaduct", page(212))
    assert terminal.run(*asked)[0] == 0
    searx.fail("error")
    code, out, err = terminal.run(*asked)
    assert (code, out, "The research failed" in err) == (1, "", True), err
    searx.reset()
    assert terminal.run(*asked, "--every", "1d") == (0, "", ""), "the first still counts"
    assert terminal.run(*asked)[:2] == (0, ""), "nothing changed"


def changed() -> Changes:
    """A change on a page that would write Markdown of its own."""
    return Changes(
        question="Is *it* long?",
        session_id="20260102-101112-a1b2c3",
        since="20260101-101112-a1b2c3",
        at=datetime(2026, 1, 2, tzinfo=UTC),
        changes=(
            Change(
                topic="Length <b>",
                url="javascript:alert(1)",
                title="x](http://evil.example) ![pixel](http://evil.example/p.png)",
                before="[212](http://evil.example/)",
                after="<img src=x> <!channel> **219**",
            ),
        ),
    )


def test_words_of_a_page_are_no_markdown() -> None:
    drawn = MarkdownIt().render(changed().markdown())
    found = html.fragment_fromstring(drawn, create_parent=True)
    assert not found.xpath("//a | //img | //em | //b")
    assert [each.text for each in found.iter("strong")] == ["Length <b>"]

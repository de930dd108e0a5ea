"""What the server refuses: other hosts, other sites, forms without their token, paths that lead
elsewhere, files over the limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from spadework.apps.web.forms import safe_name
from spadework.apps.web.security import Access
from spadework.sessions.users import OWNER
from spadework.settings import Settings
from tests.apps.web.prepared import large, put
from tests.apps.web.server import Server

pytestmark = pytest.mark.process

HEADERS = {
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def token_of(client: httpx.Client) -> str:
    """The token of the form on the start page."""
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/").text)
    assert found
    return found[1]


def test_every_answer_has_the_headers_that_keep_a_page_safe(client: httpx.Client) -> None:
    for path in ("/", "/static/page.js", "/nowhere", "/settings", "/favicon.ico"):
        headers = client.get(path).headers
        assert all(headers[name].startswith(value) for name, value in HEADERS.items()), path
        assert "unsafe" not in headers["content-security-policy"]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "[::1",
        "a b",
        "127.0.0.1@evil.example",
    ],
)
def test_a_host_that_is_not_ours_is_refused(client: httpx.Client, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "192.168.1.5", "LOCALHOST"])
def test_addresses_and_localhost_are_ours(client: httpx.Client, server: Server, host: str) -> None:
    assert client.get("/", headers={"Host": f"{host}:{server.port}"}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1", "http://[", ""],
)
def test_a_request_from_another_site_is_refused(client: httpx.Client, origin: str) -> None:
    data = {"csrf": token_of(client), "question": "What is a sluice?"}
    assert client.post("/ask", data=data, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize(
    "path",
    ["/ask", "/s/x/answer", "/s/x/plan", "/s/x/stop", "/s/x/cancel", "/s/x/resume", "/s/x/delete"],
)
@pytest.mark.parametrize("csrf", [None, "", "guessed"])
def test_a_form_without_the_token_of_its_page_is_refused(
    client: httpx.Client, path: str, csrf: str | None
) -> None:
    token_of(client)
    assert (
        client.post(
            path, data={"question": "What?"} | ({} if csrf is None else {"csrf": csrf})
        ).status_code
        == 403
    )


@pytest.mark.parametrize(
    "session", ["%2e%2e", "..%2f..", "%00", "a%2f..%2fb", "nobody", "." * 300, "\u0430bc"]
)
def test_an_id_leads_nowhere_but_to_its_session(
    client: httpx.Client, server: Server, session: str
) -> None:
    (server.home / "sessions").mkdir(parents=True, exist_ok=True)
    (server.home / "result.json").write_text("{}")
    (server.home / "session_metadata.json").write_text('{"query": "secret of the home folder"}')
    csrf = token_of(client)
    for path in ("", "/events", "/report.md", "/pages/x"):
        answer = client.get(f"/s/{session}{path}")
        assert answer.status_code == 404, path
        assert "secret" not in answer.text
    for action in ("resume", "delete"):
        assert client.post(f"/s/{session}/{action}", data={"csrf": csrf}).status_code in (404, 405)
    assert server.home.exists()


@pytest.mark.parametrize(
    "name", ["..%2f..%2fsession_metadata", "../evidence", "%2e%2e", "x.md", "%00", "*"]
)
def test_a_page_hash_leads_to_no_other_file(
    client: httpx.Client, server: Server, name: str
) -> None:
    (server.home / "sessions" / "mine" / "pages").mkdir(parents=True, exist_ok=True)
    assert client.get(f"/s/mine/pages/{name}").status_code == 404


@pytest.mark.parametrize("ending", ["exe", "md%2f..", "..", "md.bak"])
def test_an_export_that_there_is_not_is_not_found(
    client: httpx.Client, server: Server, ending: str
) -> None:
    (server.home / "sessions" / "mine").mkdir(parents=True, exist_ok=True)
    assert client.get(f"/s/mine/report.{ending}").status_code == 404


@pytest.mark.parametrize(("files", "said"), [(6, "At most 5 files"), (1, "too large")])
def test_files_over_the_limits_are_one_sentence(
    client: httpx.Client, files: int, said: str
) -> None:
    size = 10 if files > 1 else 21_000_000
    sent = [("files", (f"{n}.txt", b"x" * size, "text/plain")) for n in range(files)]
    answer = client.post("/ask", data={"csrf": token_of(client), "question": "What?"}, files=sent)
    assert answer.status_code == 413
    assert said in answer.text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("question", " ", "The question is empty"),
        ("minutes", "0", "minutes must be"),
        ("minutes", "soon", "minutes must be"),
        ("effort", "huge", "effort must be"),
        ("question", "x" * 20_001, "longer than 20,000"),
        ("follows", "../..", "There is no session"),
    ],
)
def test_a_wrong_wish_is_one_sentence(
    client: httpx.Client, field: str, value: str, said: str
) -> None:
    answer = client.post(
        "/ask", data={"csrf": token_of(client), "question": "What?"} | {field: value}
    )
    assert answer.status_code in (404, 422)
    assert said in answer.text


def test_a_number_that_is_far_too_long_is_none(client: httpx.Client, server: Server) -> None:
    long = "9" * 5_000
    session = put(server.home, *large("20260304-050607-00a900", sources=1, sections=1, sentences=1))
    for view in ("", "&plain"):
        page = client.get(f"/s/{session}/pages/h0?part={long}{view}").text
        assert "<mark>In the year 1500 the harbour master" in page
    changed = client.post(
        f"/s/{session}/plan",
        params={"change": f"remove {long}"},
        data={"csrf": token_of(client), "topic": "Harbour"},
    )
    assert 'value="Harbour"' in changed.text


def test_what_does_not_run_cannot_be_stopped_or_answered(client: httpx.Client) -> None:
    csrf = token_of(client)
    for action in ("stop", "cancel", "answer"):
        assert client.post(f"/s/nobody/{action}", data={"csrf": csrf}).status_code == 409


def test_beyond_this_machine_a_token_is_asked(tmp_path: Path) -> None:
    server = Server({}, tmp_path / "home", "--host", "0.0.0.0")
    try:
        with server.client() as client:
            assert server.token
            for path in ("/", "/static/page.js", "/settings", "/s/x/events", "/nowhere"):
                assert client.get(path).status_code == 401
            assert client.get("/", params={"token": "wrong"}).status_code == 401
            assert (
                client.get("/", headers={"Authorization": f"Bearer {server.token}"}).status_code
                == 200
            )
            opened = client.get("/", params={"token": server.token, "x": "1"})
            assert (opened.status_code, opened.headers["location"]) == (303, "/?x=1")
            assert {"httponly", "samesite=strict"} <= {
                part.strip().lower() for part in opened.headers["set-cookie"].split(";")
            }
            assert client.get("/").status_code == 200
        assert (server.home / ".serve-token").stat().st_mode & 0o077 == 0
    finally:
        server.stop()


def test_a_token_that_is_set_is_asked_on_loopback_too() -> None:
    access = Access.of(Settings.load(token="s3cret"))
    assert access.user_of("s3cret") == OWNER
    assert access.user_of("s3cret ") is None


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "C:\\x\\y.txt",
        "",
        ".",
        "..",
        "a\x00b.md",
        "x" * 500 + ".pdf",
        "né (1).md",
        "-rf",
    ],
)
def test_the_name_of_a_file_stays_a_name(name: str) -> None:
    safe = safe_name(name)
    assert safe not in ("", ".", "..")
    assert not set("/\\\x00") & set(safe)
    assert len(safe) <= 91

"""Where an answer leads: by its header, or by a page that is only a signpost."""

from __future__ import annotations

import httpx
import pytest

from spadework.errors import NotAllowed
from spadework.tools.fetch.exchange import SIGNPOST_BYTES, Answer, next_url

HERE = "https://example.com/a/b?c=d"


def answer(status: int = 200, body: str = "", **headers: str) -> Answer:
    return Answer(
        HERE,
        status,
        httpx.Headers({name.replace("_", "-"): value for name, value in headers.items()}),
        body.encode(),
    )


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", "https://example.com/x"),
        ("x", "https://example.com/a/x"),
        ("//other.example/y", "https://other.example/y"),
        ("?q", "https://example.com/a/b?q"),
    ],
)
def test_a_location_is_taken_from_where_it_stands(status, location, target):
    assert next_url(answer(status, location=location)) == target


@pytest.mark.parametrize("status", [200, 201, 300, 304, 404])
def test_other_statuses_lead_nowhere(status):
    assert next_url(answer(status, location="/x")) is None
    assert next_url(answer(301)) is None


@pytest.mark.parametrize(
    "location", ["ftp://example.com/", "javascript:1", "http://[", "http://me:pw@example.com/"]
)
def test_a_way_that_is_not_http_is_not_followed(location):
    with pytest.raises(NotAllowed):
        next_url(answer(302, location=location))


@pytest.mark.parametrize(
    "meta",
    [
        '<meta http-equiv="refresh" content="0; url=/new?a=1&amp;b=2">',
        "<META content='3;URL=/new?a=1&b=2' HTTP-EQUIV=Refresh>",
        "<meta http-equiv=refresh content=\"0;url='/new?a=1&b=2'\"/>",
    ],
)
def test_a_signpost_leads_on(meta):
    assert (
        next_url(
            answer(
                body=f"<html><head>{meta}</head></html>", content_type="text/html; charset=utf-8"
            )
        )
        == "https://example.com/new?a=1&b=2"
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('<meta http-equiv="refresh" content="300; url=/new">', "text/html"),
        ('<meta http-equiv="refresh" content="30">', "text/html"),
        ('<meta http-equiv="refresh" content="0; url=/new">' + "x" * SIGNPOST_BYTES, "text/html"),
        ('<meta http-equiv="refresh" content="0; url=/new">', "text/plain"),
        ('<meta name="refresh" content="0; url=/new">', "text/html"),
    ],
)
def test_a_page_that_only_renews_itself_is_no_signpost(body, kind):
    assert next_url(answer(body=body, content_type=kind)) is None

"""Headers: what we send at each level, and what servers may send without harm."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given, strategies as st

from spadework.tools.fetch.exchange import Answer, for_level
from spadework.tools.web.connections import rate_limit_reset, retry_after

URL = "https://example.com/a/b?c"


def test_the_first_level_is_honest_and_the_second_like_a_browser():
    honest, browser = (for_level(level, URL, "spadework/0.1") for level in (0, 1))
    assert honest["User-Agent"] == "spadework/0.1"
    assert "Referer" not in honest
    assert browser["User-Agent"].startswith("Mozilla/")
    assert browser["Referer"] == "https://example.com/"
    assert honest["Accept-Encoding"] == browser["Accept-Encoding"] == "gzip, deflate"


def test_cookies_are_sent_where_they_belong():
    cookies = httpx.Cookies({"seen": "1"})
    assert for_level(0, URL, "x", cookies)["Cookie"] == "seen=1"
    assert "Cookie" not in for_level(0, URL, "x")


def cookies_from(value: bytes) -> httpx.Cookies:
    cookies = httpx.Cookies()
    cookies.extract_cookies(
        httpx.Response(
            302, headers=httpx.Headers([(b"set-cookie", value)]), request=httpx.Request("GET", URL)
        )
    )
    return cookies


@given(st.binary(max_size=30) | st.binary(max_size=10).map(lambda value: b"a=" + value))
def test_any_cookie_is_survived_and_only_ascii_goes_back(value):
    assert for_level(0, URL, "x", cookies_from(value)).get("Cookie", "").isascii()


@pytest.mark.parametrize(
    ("domain", "back"),
    [
        ("", True),
        ("; Domain=example.com", True),
        ("; Domain=other.example", False),
        ("; Domain=com", False),
    ],
)
def test_a_site_sets_no_cookies_for_others(domain, back):
    cookies = cookies_from(b"a=1" + domain.encode())
    assert ("Cookie" in for_level(0, URL, "x", cookies)) == back
    assert "Cookie" not in for_level(0, "https://other.example/", "x", cookies)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("0", 0), (" 120 ", 120), ("", None), ("soon", None), ("-1", None), ("1.5", None)),
        ("Mon, 01 Jan 2020 00:00:00 +9999999999999999", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
    ],
)
def test_retry_after_in_seconds(value, seconds):
    assert retry_after(value) == seconds


def test_retry_after_as_a_date():
    soon, past = (
        format_datetime(datetime.now(UTC) + timedelta(seconds=s), usegmt=True) for s in (60, -60)
    )
    assert retry_after(soon) == pytest.approx(60, abs=2)
    assert retry_after(past) == 0


HEADER = st.binary(max_size=60) | st.from_regex(
    rb"[a-z/]{0,9} ?;? ?charset\\*?[0-9]?=.{0,20}", fullmatch=True
)
DATE = st.from_regex(
    rb"[A-Z][a-z]{2}, [0-9]{1,5} [A-Z][a-z]{2} [0-9]{1,6} [0-9]{1,3}(:[0-9]{1,3}){0,3}"
    rb" ([+-][0-9]{1,7}|GMT)?",
    fullmatch=True,
)


@given(HEADER)
def test_any_content_type_is_survived(value):
    page = Answer(URL, 200, httpx.Headers([(b"content-type", value)])).fetched(0)
    assert page.media_type == page.media_type.strip().lower()
    assert isinstance(page.charset, str)


@given(HEADER | DATE)
def test_any_retry_after_is_survived(value):
    seconds = Answer(URL, 429, httpx.Headers([(b"retry-after", value)])).later
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("remaining", "reset", "seconds"),
    [
        ("0, 1985", "1, 1200000", 1),
        ("0, 0", "1, 1200000", 1_200_000),
        ("", "5", 5),
        ("3", "5", None),
        ("", "", None),
        ("0", "soon", None),
    ],
)
def test_the_window_of_a_rate_limit_that_is_used_up_is_waited_for(
    remaining: str, reset: str, seconds: float | None
):
    headers = {"x-ratelimit-remaining": remaining, "x-ratelimit-reset": reset}
    assert rate_limit_reset(headers) == seconds


def test_a_rate_limit_may_name_the_moment_at_which_it_ends():
    assert rate_limit_reset({"x-ratelimit-reset": f"{time.time() + 60:.0f}"}) == pytest.approx(
        60, abs=2
    )

"""Telling the door of a page from the page."""

from __future__ import annotations

import pytest

from spadework.tools.fetch.walls import MAX_CHARS, seen, wall


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Just a moment...\nChecking your browser before accessing example.com.", "a check of the browser"),
        ("Attention Required! | Cloudflare", "a check of the browser"),
        ("Please verify you are a human\nPress & Hold", "a captcha"),
        ("Our systems have detected unusual traffic from your computer network.", "a captcha"),
        ("Complete the CAPTCHA below", "a captcha"),
        ("You need to enable JavaScript to run this app.", "a demand for JavaScript"),
        ("JavaScript is disabled. Please turn it on.", "a demand for JavaScript"),
        ("This site requires Javascript to work.", "a demand for JavaScript"),
        ("Sign in to continue to Gmail", "a login"),
        ("You must log in to see this page", "a login"),
        ("Subscribe to continue reading", "a login"),
        ("Access Denied\nYou don't have permission to access this server.", "a refusal"),
        ("Sorry, you have been blocked", "a refusal"),
    ],
)
def test_a_wall_is_named(text, kind):
    assert wall(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The harbour of Port Aldermere is open from April to October.",
        "A moment later the lamp went out, and the keeper checked the site again.",
        "JavaScript is a language that was made in ten days.",
        "You can log in with your library card at any branch.",
        "How captchas work. " + "They show pictures that people can read. " * (MAX_CHARS // 40),
    ],
)
def test_a_page_is_no_wall(text):
    assert wall(text) == ""


def test_what_is_seen_is_text_alone():
    scripts = "<script>let a = '<p>no</p>'</script><noscript>Enable &amp; run</noscript><style>p {}</style>"
    assert seen(f"<title>App</title>{scripts}<p>yes<script>left open") == "App Enable & run yes"

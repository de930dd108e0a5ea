"""Telling a page from the notice that there is none."""

from __future__ import annotations

import pytest

from spadework.tools.fetch.block_detection import NOTICE_CHARS, notice


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Page not found\nSorry, we looked everywhere.", "a notice that there is no such page"),
        ("The page you are looking for no longer exists.", "a notice that there is no such page"),
        ("Oops! That page can’t be found.", "a notice that there is no such page"),
        ("The site is down for scheduled maintenance.", "a notice of maintenance"),
        ("We are currently undergoing maintenance", "a notice of maintenance"),
        ("The domain name is for sale!", "an offer of the domain for sale"),
        ("Apache2 Ubuntu Default Page\nIt works!", "the greeting of a server that has no site"),
    ],
)
def test_a_notice_is_named(text, kind):
    assert notice(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The harbour of Port Aldermere is open from April to October.",
        "A page has four columns, and the index could not be kept on it.",
        "Bridges need maintenance, and the ferry is closed on Sundays.",
        "The farm is for sale. Its domain reaches down to the river.",
        "Page not found. "
        + "What a server should say when it has no page for an address. " * (NOTICE_CHARS // 50),
    ],
)
def test_a_page_is_no_notice(text):
    assert notice(text) == ""

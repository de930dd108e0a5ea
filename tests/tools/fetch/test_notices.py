"""Telling a page from the notice that there is none."""

from __future__ import annotations

import time

import pytest

from spadework.tools.extract.extracted import Extracted
from spadework.tools.fetch.block_detection import NOTICE_CHARS, notice, thin
from spadework.tools.fetch.exchange import Fetched

URL = "https://example.com/"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Page not found\nSorry, we looked everywhere.", 'a "page not found" notice'),
        ("The page you are looking for no longer exists.", 'a "page not found" notice'),
        ("Oops! That page can’t be found.", 'a "page not found" notice'),
        ("The site is down for scheduled maintenance.", "a maintenance notice"),
        ("We are currently undergoing maintenance", "a maintenance notice"),
        ("The domain name is for sale!", "an offer to sell the domain"),
        ("Apache2 Ubuntu Default Page\nIt works!", "the default page of a server"),
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


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        ("", "<script>"),
        ("", "<script"),
        ("<script></script", " "),
        ("<script></script>", "<a "),
        ("<script></script><a", "-a"),
        ("<script></script><a ", "id=root "),
        ("<script></script><div id=root>", " "),
        ("<script></script><div id=root>", "<!--$-->"),
        ("<script></script>", "<div id=root><!--"),
        ("<script></script>", "<div id=root><!--<div id=root><!---->"),
    ],
)
def test_no_page_holds_up_the_judgement_whether_scripts_would_show_more(begins, goes_on):
    html = begins + goes_on * (500_000 // len(goes_on))
    words = "The lighthouse of Port Aldermere is 41 metres tall."
    page = Fetched(URL, 200, "text/html", "utf-8", f"<p>{words}</p>{html}".encode())
    assert not thin(page, Extracted(title="", markdown=words))


@pytest.mark.parametrize(
    "room",
    [
        "<div id=root></div>",
        "<DIV class=a ID='app'>Loading...</DIV>",
        "<main data-reactroot>\n<!-- > --><!--$-->\n</main>",
        "<app-root class=b>loading …</app-root>",
        "<div id=root>full</div><div id=app></div>",
        '<a id="app-x">to it</a>' * 11 + '<div id="root"></div>',
        '<div data-x="a<b" id="root"></div>',
        '<div id="root" data-x="a>b"></div>',
        "<p class='it=\"'>it</p><div id = 'root' ></div>",
        '<script>if (a<b) c=\'="\';</script><div id="root"></div>',
    ],
)
def test_an_empty_room_makes_a_page_thin(room):
    words = "The lighthouse of Port Aldermere is 41 metres tall."
    html = f"<p>{words}</p>{room}<script src=/app.js></script>".encode()
    found = Extracted(title="", markdown=words)
    assert thin(Fetched(URL, 200, "text/html", "utf-8", html), found)


@pytest.mark.parametrize(
    "full",
    [
        '<a id="app-x"></a>',
        '<a href="?id=root"></a>',
        '<a title="its id=root is set"></a>',
        "<script>x = '<div id=\"root\"></div>'</script>",
    ],
)
def test_what_only_looks_like_a_room_makes_no_page_thin(full):
    words = "The lighthouse of Port Aldermere is 41 metres tall."
    html = f"<p>{words * 5}</p>{full}<script src=/app.js></script>".encode()
    found = Extracted(title="", markdown=words * 5)
    assert not thin(Fetched(URL, 200, "text/html", "utf-8", html), found)


@pytest.mark.timed
@pytest.mark.parametrize(
    "part",
    ["<a =\"<a ='", "<div id=root ", "<div id='root\" ", "<div id=root><!--", "<a-", "<script "],
)
def test_rooms_are_looked_for_in_one_pass(part):
    html = (part * 20_000 + "<script>1</script>").encode()
    began = time.monotonic()
    thin(Fetched(URL, 200, "text/html", "utf-8", html), Extracted(title="", markdown=""))
    assert time.monotonic() - began < 1

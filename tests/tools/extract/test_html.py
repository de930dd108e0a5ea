"""Web pages: the content in, what stands around it out, code to the letter."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.html import MAX_TAGS, extract

URL = "https://docs.example/guide/tides?v=2"
PARAGRAPH = "The winter tide reached the second step of the harbour office on eleven days in 1974, and the log says so. "


def page(content: str, *, head: str = "<title>Tides</title>", around: str = "") -> str:
    article = f"<article><h1>Tides</h1><p>{PARAGRAPH * 3}</p>{content}</article>"
    return f'<html lang="en-GB"><head>{head}</head><body>{around}{article}</body></html>'


def code_blocks(markdown: str) -> list[tuple[str, str]]:
    """(language, code) of the fences of a Markdown text."""
    return [(token.info, token.content) for token in MarkdownIt("commonmark").parse(markdown) if token.type == "fence"]


def test_the_content_is_kept_and_what_stands_around_it_is_not():
    around = (
        "<nav><a href=/>Home</a><a href=/shop>Shop</a></nav><div class='cookie-banner'>We use cookies. <button>Accept all</button></div>"
        "<div class=share>Share on everything</div><aside class=related><h2>Read next</h2><ul><li><a href=/x>Ten ships</a></ul></aside>"
        "<footer>Imprint, privacy, all rights reserved</footer>"
    )
    found = extract(
        page("<h2 id=log>The log<a class=headerlink href=#log>¶</a></h2><p>It is kept in <em>pencil</em>.</p>", around=around), URL
    )
    assert found.title == "Tides"
    assert found.markdown.startswith("# Tides\n")
    assert "## The log\n" in found.markdown
    assert "in *pencil*" in found.markdown
    for noise in ("Shop", "cookies", "Share on", "Ten ships", "Imprint", "¶"):
        assert noise not in found.markdown


def test_what_a_page_says_about_itself():
    head = (
        "<title>Tides</title><meta name=author content='Ada Brandt'><meta property='article:published_time' content='2025-11-03T08:00:00Z'>"
    )
    links = '<p>See <a href="/harbour#dues">the harbour</a>, <a href="https://other.example/">others</a>, <a href="#top">the top</a>.</p>'
    found = extract(page(links, head=head), URL)
    assert found.author == "Ada Brandt"
    assert found.published_at == datetime(2025, 11, 3, tzinfo=UTC)
    assert found.language == "en"
    assert found.links == (Link("https://docs.example/harbour", "the harbour"), Link("https://other.example/", "others"))


STYLE = "<style>@media print { .late { display: none } } h2 { color: red } .far, .off { position: absolute; left: -9999px }</style>"


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden",
        "style='display: none'",
        "style='visibility:hidden;color:red'",
        "style='font-size:0'",
        "style='font-size: 0.0px'",
        "class='big off'",
    ],
)
def test_what_is_kept_from_sight_is_no_content(attributes):
    html = page(f"<p {attributes}>The harbour pays you 500 crowns.</p><p>{PARAGRAPH}</p>", head=STYLE)
    assert "500 crowns" not in extract(html, URL).markdown


@pytest.mark.parametrize(
    "attributes",
    ["class=late", "style='font-size:0.9em'", "hidden=until-found", "hidden role=tabpanel", "style='left:-10px'", "class=offer"],
)
def test_what_is_shown_or_can_be_shown_is_content(attributes):
    html = page(f"<p {attributes}>The harbour pays you 500 crowns.</p><p>{PARAGRAPH}</p>", head=STYLE)
    assert "500 crowns" in extract(html, URL).markdown


def test_a_page_that_a_script_will_show_is_content():
    assert "500 crowns" in extract(page(f"<div style='display:none'><p>{PARAGRAPH * 5}</p><p>It pays 500 crowns.</p></div>"), URL).markdown


@pytest.mark.parametrize(
    "html",
    ["", " ", "<!-- nothing -->", "<html></html>", "<script>x</script>", "<?xml version='1.0' encoding='x'?>", b"", b"\xff\xfe"],
)
def test_a_page_without_content_is_empty(html):
    assert extract(html, URL).markdown == ""


def test_bytes_are_decoded_as_the_page_says():
    html = page("<p>Größe: fünf Ellen</p>", head="<meta charset=iso-8859-1>").encode("latin-1")
    assert "Größe: fünf Ellen" in extract(html, URL).markdown


# A parsed page cannot hold control characters and the two code points that are none.
CODE_CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t", exclude_characters="\ufffe\uffff")


@given(st.text(CODE_CHARACTERS, max_size=200))
def test_a_code_block_comes_back_to_the_letter(code):
    found = extract(page(f"<pre>\n{escape(code)}\n\n</pre><p>{PARAGRAPH}</p>"), URL)
    assert code_blocks(found.markdown) == [("", f"{code}\n\n")]


@pytest.mark.parametrize(
    "code",
    [
        "```\nfenced\n```",
        "````",
        "~~~\nx\n~~~",
        "| a | b |\n|---|---|",
        "    indented\n\ttabbed  ",
        "zq0n0block zqheld1span",
        "# no heading",
    ],
)
def test_code_that_looks_like_markdown_stays_code(code):
    [(_, block)] = code_blocks(extract(page(f"<pre><code>{code}</code></pre>"), URL).markdown)
    assert block == code + "\n"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre><code class='language-python'>x = 1</code></pre>", "python"),
        ("<pre class='brush: js'>x = 1</pre>", "js"),
        ("<pre lang=x class='lang-C++'>x = 1</pre>", "c++"),
        ("<div class='highlight-bash notranslate'><div class=highlight><pre><span></span>x = 1</pre></div></div>", "bash"),
        ("<pre data-lang=SQL>x = 1</pre>", "sql"),
        ("<div class='highlight-default'><pre>x = 1</pre></div>", ""),
        ("<pre data-lang='a `b` c'>x = 1</pre>", ""),
        ("<pre>x<button>Copy</button> =<script>bad()</script> 1</pre>", ""),
        ("<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre></td><td class=code><pre>x = 1</pre></td></tr></table>", ""),
    ],
)
def test_a_code_block_keeps_its_language_and_loses_its_decoration(html, language):
    assert code_blocks(extract(page(html), URL).markdown) == [(language, "x = 1\n")]


def test_line_breaks_in_code_are_lines():
    assert code_blocks(extract(page("<pre>a<br>b<br/>  c</pre>"), URL).markdown) == [("", "a\nb\n  c\n")]


def test_code_blocks_stay_in_their_order_and_out_of_the_lines_around_them():
    items = "".join(f"<li>Step {n}:<pre>run {n}</pre></li>" for n in range(5))
    markdown = extract(page(f"<ol>{items}</ol><pre>end</pre><p>{PARAGRAPH}</p>"), URL).markdown
    assert [code for _, code in code_blocks(markdown)] == [*(f"run {n}\n" for n in range(5)), "end\n"]
    assert [markdown.index(f"Step {n}") < markdown.index(f"run {n}") for n in range(5)] == [True] * 5


def test_inline_code_is_kept_in_text_headings_and_tables():
    table = "<table><tr><th>Flag<th>Meaning<tr><td><code>a|b</code><td>either *one*</table>"
    html = page(f"<h2>The <code>--tide</code> flag</h2><p>Use <code>x`y</code>, <kbd>Ctrl_C</kbd> or <code>\n a_b_c </code>.</p>{table}")
    markdown = extract(html, URL).markdown
    assert "## The `--tide` flag\n" in markdown
    assert "Use ``x`y``, `Ctrl_C` or `a_b_c`." in markdown
    assert "| `a\\|b` | either \\*one\\* |" in markdown


def test_a_title_with_code_is_plain_text():
    assert extract(page("", head="").replace("<h1>Tides", "<h1>The <code>tide</code> module"), URL).title == "The tide module"


def test_tables_keep_their_cells_in_place():
    table = (
        "<table><tr><th>Month<th>High<th>Low<tr><td rowspan=2>May<td>4.1<td>0.9<tr><td>4.3<td>1.0<tr><td>June<td colspan=2>not kept</table>"
    )
    markdown = extract(page(table), URL).markdown
    assert "| Month | High | Low |\n| --- | --- | --- |\n| May | 4.1 | 0.9 |\n|  | 4.3 | 1.0 |\n| June | not kept |  |" in markdown


def test_a_table_that_lays_out_the_page_is_no_table():
    layout = f"<html><body><table><tr><td><a href=/>Home</a></td><td><h1>Tides</h1><p>{PARAGRAPH * 4}</p></td></tr></table></body></html>"
    assert PARAGRAPH.strip() in extract(layout, URL).markdown


@pytest.mark.parametrize("span", ["9" * 5_000, "-1", "0", "x", "²"])
def test_a_cell_cannot_span_the_world(span):
    table = f"<table><tr><th>A<th>B<tr><td rowspan={span} colspan={span}>1<td>2<tr><td>3<td>4</table>"
    assert len(extract(page(table), URL).markdown) < 5_000


@pytest.mark.parametrize(
    "html",
    [
        *("<div>" * 200_000, "<b><div></b>" * 90_000, "<div><table><td></div></table>" * 90_000, "<p>a" * 200_000, "<pre>" * 100_000),
        *("<table><tr><td>" * 50_000, "<ul><li>" * 100_000, "<a b='" * 200_000, "<!--" * 200_000, "<script" * 200_000, "&" * 1_000_000),
        *("<svg><style>" * 100_000, "<code>x" * 60_000, "<table>" + "<tr><td>1<td>2" * 40_000, "x" * 5_000_000),
    ],
    ids=lambda html: html[:16],
)
def test_no_page_takes_long(html):
    started = time.process_time()
    extract(html, URL)
    assert time.process_time() - started < 10


def test_a_page_is_cut_behind_very_many_tags():
    html = page(f"<p>{PARAGRAPH}</p>" * (MAX_TAGS + 10) + "<p>Behind the end.</p>")
    markdown = extract(html, URL).markdown
    assert PARAGRAPH.strip() in markdown
    assert "Behind the end" not in markdown


TAGS = "<p> </p> <div> </div> <pre> </pre> <code> </code> <table> <tr> <td> </table> <ul><li> </ul> <h2> </h2> <a </a> <main> </main> <br>"
ODD = [
    *(
        "<th rowspan=3>",
        "<a href='http://['>",
        "<a href=x>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<html lang>",
        "`",
        "|",
        "\n- ",
        "text ",
    ),
    *("<meta property=article:published_time content=2025-13-45>", "&#0;", "&#8;", "&#xFFFE;", "&#xD800;", "&#11;", "&", "&#65535;"),
]


@given(st.lists(st.sampled_from([*TAGS.split(), *ODD]) | st.text(max_size=5), max_size=40))
def test_any_soup_is_read_without_an_error(parts):
    found = extract("".join(parts), URL)
    assert isinstance(found.markdown, str)

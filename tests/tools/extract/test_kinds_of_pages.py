"""What is content depends on the kind of page: what readers write is a forum's and not an
article's.
"""

from __future__ import annotations

import pytest

from spadework.tools.extract.html import extract

SAID = (
    "The ferry to the island leaves each morning at seven and takes about forty minutes when the"
    " sea is calm.",
    "Engineers of the port have measured the quay again, and found that it has sunk by eleven"
    " centimetres since the year of its completion.",
    "The council will decide in spring whether the quay is to be raised, which would cost about"
    " four million crowns, or given up for a new one.",
    "Until then the larger of both ships may not land at low tide, so that on some days the second"
    " ferry does not go at all.",
)
REPLIES = (
    "I think the whole plan is a waste of our money, and nobody who lives here has been asked"
    " about it so far.",
    "My grandfather built that quay, and he always said that the ground under it was much too soft"
    " for ships of this size.",
    "They should rather repair the road, which I drive on each day, than pay for ferries that"
    " nobody uses in winter.",
)


def test_comments_are_no_part_of_an_article():
    comments = "".join(
        f'<div class="comment"><p class="comment-author">Reader {n}</p><div class="comment-text">'
        f"<p>{text}</p></div></div>"
        for n, text in enumerate(REPLIES)
    )
    html = (
        '<title>The quay is sinking | Harbour Times</title><meta property="og:type"'
        ' content="article"><script type="application/ld+json">{"@type":"NewsArticle"}</script>'
        '<nav><a href="/">Home</a> <a href="/n">News</a></nav><div class="article"><h1>The quay is'
        f" sinking</h1>{''.join(f'<p>{text}</p>' for text in SAID)}</div>"
        f'<div class="comments"><h3>Comments</h3>{comments}</div>'
    )
    read = extract(html, "https://www.harbour.example/news/2024/05/the-quay-is-sinking")
    assert read.kind == "article"
    assert all(text in read.markdown for text in SAID)
    assert not any(text in read.markdown for text in REPLIES)


def test_the_replies_of_a_forum_are_its_content():
    posts = "".join(
        f'<div class="topic-body comment" itemprop="comment"><p class="comment-author">Reader {n}'
        f'</p><div class="post" itemprop="text"><p>{text}</p></div></div>'
        for n, text in enumerate((SAID[0], *REPLIES))
    )
    html = (
        "<title>The quay is sinking - Harbour Forum</title>"
        '<meta name="generator" content="Discourse 3"><nav><a href="/">Home</a></nav>'
        f"<h1>The quay is sinking</h1>{posts}"
    )
    read = extract(html, "https://forum.harbour.example/t/the-quay-is-sinking/4711")
    assert read.kind == "forum"
    assert all(text in read.markdown for text in (SAID[0], *REPLIES))


def test_a_comment_of_a_thread_made_of_tables_is_one_text_with_its_author():
    rows = "".join(
        f'<tr class="athing"><td><table><tr><td class="ind"><img src="s.gif"></td><td>'
        f'<a href="vote?id={n}"><div></div></a></td><td class="default"><span class="head">'
        f'<a href="user?id={n}">reader{n}</a> <span>3 hours ago</span></span><br><div>{text}'
        f"<p>{more}</div></td></tr></table></td></tr>"
        for n, (text, more) in enumerate(zip(REPLIES, SAID, strict=False))
    )
    html = f"<title>The quay is sinking</title><center><table>{rows}</table></center>"
    shown = extract(html, "https://news.ycombinator.com/item?id=1").markdown
    for n, (text, more) in enumerate(zip(REPLIES, SAID, strict=False)):
        author = f"[reader{n}](https://news.ycombinator.com/user?id={n}) 3 hours ago"
        assert f"{author}\n\n{text}\n\n{more}\n" in shown
    assert "|" not in shown


@pytest.mark.parametrize(
    ("head", "source"),
    [
        ('<meta name="citation_doi" content="10.1000/4711">', "paper"),
        ('<script type="application/ld+json">{"@type":"ScholarlyArticle"}</script>', "paper"),
        ('<script type="application/ld+json">{"@type":["QAPage"]}</script>', "forum"),
        ('<link itemscope itemtype="https://schema.org/DiscussionForumPosting">', "forum"),
        ('<meta name="generator" content="Discourse 3.4.0">', "forum"),
        (
            '<script type="application/ld+json">{"@type":"NewsArticle",'
            '"publisher":{"@type":"NewsMediaOrganization"}}</script>',
            "news",
        ),
        ('<meta property="og:type" content="product.item">', "vendor"),
        ('<link itemscope itemtype="http://schema.org/Product">', "vendor"),
        ('<script type="application/ld+json">{"@type":"NewsArticle"}</script>', ""),
        ('<meta name="citation_title" content="The quay">', ""),
        ('<script type="application/ld+json">{"@type":"BlogPosting"}</script>', ""),
    ],
)
def test_a_page_states_who_speaks_in_it(head: str, source: str):
    html = f"<html><head><title>The quay</title>{head}</head><p>{SAID[1]}</p></html>"
    assert extract(html, "https://www.harbour.example/quay").source == source

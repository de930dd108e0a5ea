"""Markdown of a draft as HTML that can do no harm: no markup of its own comes through, links lead
to the web only.
"""

from __future__ import annotations

import re

import nh3
from markdown_it import MarkdownIt

TAGS = {
    "p",
    "ul",
    "ol",
    "li",
    "h2",
    "h3",
    "h4",
    "blockquote",
    "pre",
    "code",
    "strong",
    "em",
    "a",
    "hr",
    "br",
    "table",
}
TAGS |= {"thead", "tbody", "tr", "th", "td"}
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_TITLE = re.compile(r"\A# .*\n+")


def draft_html(markdown: str) -> str:
    """The draft without its title, for a page that has one."""
    html = _MARKDOWN.render(_TITLE.sub("", markdown))
    return scrolled(
        nh3.clean(
            html,
            tags=TAGS,
            attributes={"a": {"href"}, "ol": {"start"}},
            url_schemes={"http", "https"},
            link_rel="noopener noreferrer nofollow",
        )
    )


def scrolled(html: str) -> str:
    """Cleaned HTML in which code and tables that are wider than their view are scrolled by
    themselves, by keyboard, too.
    """
    wide = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
    html = html.replace("<pre>", '<pre tabindex="0">')
    return html.replace("<table>", wide).replace("</table>", "</table></div>")

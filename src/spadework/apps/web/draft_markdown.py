"""Markdown as HTML that can do no harm: no markup comes through, links lead to the web only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import nh3
from markdown_it import MarkdownIt

TAGS = {"p", "ul", "ol", "li", "h2", "h3", "h4", "blockquote", "pre", "code", "strong", "em", "a"}
TAGS |= {"hr", "br", "table", "thead", "tbody", "tr", "th", "td"}
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_NO_MORE: Mapping[str, set[str]] = {}
_TITLE = re.compile(r"\A# .*\n+")


def draft_html(markdown: str) -> str:
    """The draft without its title, for a page that has one."""
    return clean_html(_MARKDOWN.render(_TITLE.sub("", markdown)))


def clean_html(
    html: str, tags: Iterable[str] = (), attributes: Mapping[str, set[str]] = _NO_MORE
) -> str:
    """The HTML with our tags and these alone; wide code and tables scroll by themselves."""
    html = nh3.clean(
        html,
        tags=TAGS | {*tags},
        attributes={"a": {"href"}, "ol": {"start"}, **attributes},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    wide = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
    html = html.replace("<pre>", '<pre tabindex="0">')
    return html.replace("<table>", wide).replace("</table>", "</table></div>")

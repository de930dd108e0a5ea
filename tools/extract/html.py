"""Web pages as Markdown: the main text found by trafilatura, and around it what that loses, which is code to the letter."""

from __future__ import annotations

import re
from itertools import islice

import trafilatura
from lxml import html as lxml_html
from lxml.etree import ParserError
from lxml.html import HtmlElement

from spadework.tools.extract.charset import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.held import Held

#: A page is cut behind so many characters or tags: time grows with both. (libxml2 itself stops at a depth of 256 elements.)
MAX_CHARS = 3_000_000
MAX_TAGS = 60_000

_TAG = re.compile(r"<[a-zA-Z]")
_PARSER = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
_MARKS = frozenset({"¶", "#", "§", "🔗", "", "[edit]", "edit", "link", "permalink"})
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n?", re.DOTALL)


def extract(html: str | bytes, url: str) -> Extracted:
    """The content of a web page; `markdown` is "" when there is none. Code blocks and inline code are those of the page."""
    tree = _parse(html if isinstance(html, str) else decode(html))
    if tree is None:
        return Extracted(title="", markdown="")
    _drop_marks(tree)
    held = Held(tree)
    document = trafilatura.extract_with_metadata(tree, url=url, output_format="markdown", include_tables=True, include_formatting=True)
    if document is None:
        return Extracted(title="", markdown="")
    return Extracted(
        title=held.put_back_plain(document.title or ""),
        markdown=held.put_back(_FRONT_MATTER.sub("", document.text)),
    )


def _parse(html: str) -> HtmlElement | None:
    html = html[:MAX_CHARS]
    last = next(islice(_TAG.finditer(html), MAX_TAGS, None), None)
    try:
        return lxml_html.document_fromstring(html[: last.start() if last else None].encode("utf-8", "replace"), parser=_PARSER)
    except ParserError:
        return None


def _drop_marks(tree: HtmlElement) -> None:
    """Remove what stands beside headings for editors and readers who want to link to them."""
    for link in list(tree.iter("a", "button")):
        if (link.text_content() or "").strip().lower() in _MARKS and link.find(".//img") is None:
            link.drop_tree()

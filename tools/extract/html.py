"""Web pages as Markdown: trafilatura finds the main text; code and tables are kept from it and put back as they were."""

from __future__ import annotations

import re
from copy import deepcopy
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import urljoin

import lxml.html
import trafilatura
from lxml.etree import ParserError, SubElement
from lxml.html import HtmlElement

from spadework.tools.extract.charset import decode
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.extract.held import Held
from spadework.tools.extract.hidden import drop_hidden
from spadework.tools.extract.tree import shown_chars, text_of

#: A page is cut behind so many characters or tags, since time grows with both; only the indexes of whole manuals have more.
#: Of depth libxml2 takes care itself: it stops at 256 elements.
MAX_CHARS = 3_000_000
MAX_TAGS = 30_000

#: Where pages are known to keep their content, and what such a place must be: the only one of its name, long enough, clean enough
#: (the share of its text that is not links) and not a mere part of the page.
CONTAINERS = ("//main", "//*[@role='main']", "//article")
MIN_CHARS = 100
MIN_CLEANLINESS = 0.75
MIN_SHARE = 0.5

#: Most links that are listed for a page.
MAX_LINKS = 200

_TAG = re.compile(r"<[a-zA-Z]")
#: Characters that XML, and so lxml, cannot hold: as they are, and as references.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
    r"|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01]|6553[45])(?!\d)|x0*(?:[0-8bcef]|1[\da-f]|d[89a-f][\da-f]{2}|fff[ef])(?![\da-f]));?",
    re.IGNORECASE,
)
_lxml: Any = lxml.html  # it has no types
_PARSER = _lxml.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
_MARKS = frozenset({"", "¶", "#", "§", "🔗", "[edit]", "edit", "permalink"})


def extract(html: str | bytes, url: str) -> Extracted:
    """The content of a web page; `markdown` is "" when there is none. Code blocks and inline code are those of the page."""
    html = html if isinstance(html, str) else decode(html)
    tree = _parse(html)
    if tree is None:
        return Extracted(title="", markdown="")
    drop_hidden(tree)
    _drop_marks(tree)
    held = Held(tree, html)
    part = _container(tree)
    markdown = held.put_back(_main_text(part, url)) if part is not None else ""
    if part is None or len(markdown) < MIN_CHARS:
        part, markdown = tree, held.put_back(_main_text(tree, url))
    about = trafilatura.extract_metadata(tree, default_url=url, extensive=False)
    return Extracted(
        title=held.put_back_plain(about.title or ""),
        markdown=markdown,
        author=(about.author or "").strip(" ·|,;-"),
        published_at=datetime.fromisoformat(about.date).replace(tzinfo=UTC) if about.date else None,
        language=(tree.get("lang") or "").split("-")[0].lower(),
        links=_links(part, url, held),
    )


def _parse(html: str) -> HtmlElement | None:
    html = _CONTROL.sub("", html[:MAX_CHARS])
    last = next(islice(_TAG.finditer(html), MAX_TAGS, None), None)
    try:
        tree: HtmlElement = _lxml.document_fromstring(html[: last.start() if last else None].encode(), parser=_PARSER)
    except ParserError:  # there is nothing in it
        return None
    return tree


def _drop_marks(tree: HtmlElement) -> None:
    """Remove what stands beside headings for editors and for those who want to link to them."""
    for element in list(tree.iter("a", "button")):
        if text_of(element).strip().lower() in _MARKS and element.find(".//img") is None:
            element.drop_tree()


def _container(tree: HtmlElement) -> HtmlElement | None:
    """The element that holds the page's content by its name, if it keeps what the name promises."""
    whole = shown_chars(tree)
    for path in CONTAINERS:
        found: list[HtmlElement] = tree.xpath(path)
        chars = shown_chars(found[0]) if len(found) == 1 else 0
        if chars >= max(MIN_CHARS, MIN_SHARE * whole) and 1 - sum(map(shown_chars, found[0].iter("a"))) / chars >= MIN_CLEANLINESS:
            return found[0]
    return None


def _main_text(part: HtmlElement, url: str) -> str:
    """The Markdown of a page, or of one that consists of this part alone; "" when no main text is found."""
    page = part
    if part.tag != "html":
        page = _lxml.Element("html")
        SubElement(page, "body").append(deepcopy(part))
    text = trafilatura.extract(page, url=url, output_format="markdown", include_tables=True, include_formatting=True)
    return text or ""


def _links(part: HtmlElement, url: str, held: Held) -> tuple[Link, ...]:
    """The links of a part to other pages, each once, in their order."""
    found: dict[str, Link] = {}
    for element in part.iter("a"):
        try:
            target = urljoin(url, (element.get("href") or "").strip()).partition("#")[0]
        except ValueError:
            continue
        text = held.put_back_plain(" ".join(text_of(element).split()))
        if text and target.startswith(("http://", "https://")) and target != url.partition("#")[0]:
            found.setdefault(target, Link(target, text))
    return tuple(found.values())[:MAX_LINKS]

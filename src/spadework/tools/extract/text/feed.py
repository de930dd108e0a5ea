"""Convert feeds (RSS and Atom) and other XML to Markdown."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urljoin

import lxml.etree as etree

from spadework.errors import Unreadable
from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.extract.html import extract
from spadework.tools.extract.markdown_writer import blocks, fence, not_shown, write_heading
from spadework.tools.extract.text.markdown import html_markdown
from spadework.tools.extract.xml import Element, attribute, below, tag, text, xml_tree
from spadework.tools.text.facts import moment

#: The root elements of RSS 2, Atom and RSS 1.
FEEDS = ("rss", "feed", "RDF")
MAX_ENTRIES = 200

_DATES = ("published", "pubDate", "date", "updated", "modified", "lastBuildDate")
_CONTENTS = ("encoded", "content", "description", "summary", "subtitle", "tagline")


def read_feed(root: Element, url: str) -> Extracted:
    """Return a feed as Markdown with one section per entry, dated by the newest entry."""
    found = list(below(root, "item", "entry"))
    entries = found[:MAX_ENTRIES]
    about = next(below(root, "channel"), root)
    read = [_entry(entry, url) for entry in entries]
    dates = [date for date in map(_date, entries) if date]
    title = _of(about, "title")
    rest = not_shown(len(found) - MAX_ENTRIES, "entries")
    return Extracted(
        title=title,
        markdown=blocks(
            [write_heading(title, 1), _content(about), *(markdown for markdown, _ in read), rest]
        ),
        author=_author(about),
        published_at=max(dates, default=None) or _date(about),
        language=(_of(about, "language") or attribute(root, "lang")).split("-")[0].lower(),
        links=tuple({link.url: link for _, link in read if link.url}.values()),
        kind="feed",
    )


def _entry(entry: Element, url: str) -> tuple[str, Link]:
    title = _of(entry, "title")
    link = _link(entry, url)
    date = _date(entry)
    day, address = date.date().isoformat() if date else "", f"<{link}>" if link else ""
    line = " · ".join(part for part in (day, _author(entry), address) if part)
    shown = blocks([write_heading(title or link or "Entry", 2), line, _content(entry)])
    return shown, Link(link, title or link)


def _of(element: Element, *names: str) -> str:
    found = {tag(part): text(part) for part in reversed(element)}
    shown = next((found[name] for name in names if found.get(name)), "")
    return " ".join(html_markdown(shown).split())


def _content(element: Element) -> str:
    found = {tag(part): part for part in reversed(element)}
    part = next((found[name] for name in _CONTENTS if name in found and text(found[name])), None)
    return html_markdown("".join(part.itertext())) if part is not None else ""


def _date(element: Element) -> datetime | None:
    found = {tag(part): text(part) for part in reversed(element)}
    return next((date for name in _DATES if (date := moment(found.get(name, "")))), None)


def _author(element: Element) -> str:
    author = next((part for part in element if tag(part) in ("author", "creator")), None)
    name = next(below(author, "name"), None) if author is not None else None
    return text(name if name is not None else author)


def _link(element: Element, url: str) -> str:
    links = [part for part in element if tag(part) == "link"]
    found = [
        text(link) or attribute(link, "href")
        for link in links
        if attribute(link, "rel", "alternate") == "alternate"
    ]
    try:
        target = urljoin(url, found[0]) if found else ""
    except ValueError:
        return ""
    leads = target.startswith(("http://", "https://")) and not set(target) & set(" <>\n")
    return target if leads else ""


#: XML is reindented if any line has more characters than this.
LONG_LINE = 1_000


def extract_xml(text: str, url: str) -> Extracted:
    """Return feeds and XHTML as Markdown, and other XML as code. Raises TooLarge or Unreadable."""
    root = xml_tree(text.encode("utf-8", "replace"), "XML")
    if tag(root) in FEEDS:
        return read_feed(root, url)
    if tag(root) == "svg":
        raise Unreadable("SVG drawings are not supported.")
    if tag(root) == "html":
        return extract(text, url)
    if max(map(len, text.split("\n"))) > LONG_LINE:
        etree.indent(root)
        text = etree.tostring(root, encoding="unicode")
    return Extracted(
        title=file_name(url), markdown=fence(text.replace("\r\n", "\n").strip(), "xml"), kind="xml"
    )

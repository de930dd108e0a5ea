"""Read a web page's metadata, and estimate what kind of page it is."""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spadework.tools.extract.page.block_features import PageView, density, size
from spadework.tools.extract.page.page_blocks import Block
from spadework.tools.extract.page.scorer import weights
from spadework.tools.text.facts import moment

if TYPE_CHECKING:  # Importing pydantic would slow down the processes that read documents.
    from spadework.values import SourceKind

_MOST_NODES = 5_000
#: Maximum number of h1 headings considered when choosing the title.
_MOST_HEADINGS = 5
#: A CSS selector for headings outside the main text.
_BESIDE = "footer h1, nav h1, aside h1"
_SITE_NAME = re.compile(r"\s+[|\u2013\u2014·•»:-]+\s+|\s*[|»]\s*")
_WORD = re.compile(r"[^\W_]+")
_COMMENT = re.compile(r"^\s*(?:<!--|//<!\[CDATA\[|/\*.*?\*/)|(?:-->|//\]\]>)\s*$")
_DATES = (
    "article:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "dcterms.date",
    "citation_publication_date", "parsely-pub-date", "sailthru.date", "pubdate", "publish-date",
    "publication_date", "og:published_time",
)  # fmt: skip
_AUTHORS = (
    "author", "article:author", "dc.creator", "citation_author", "parsely-author",
    "sailthru.author", "twitter:creator",
)  # fmt: skip
_ARTICLE = re.compile(r"article|posting|report|webpage", re.I)

Json = dict[str, Any]


@dataclass
class Metadata:
    """A page's raw metadata. `objects` holds JSON-LD objects, and `types` schema.org types."""

    objects: list[Json] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    title: str = ""
    headings: list[str] = field(default_factory=list)
    language: str = ""
    base: str = ""
    types: set[str] = field(default_factory=set)


def read_metadata(tree: LexborHTMLParser) -> Metadata:
    """Return all metadata of a parsed page."""
    found = Metadata()
    for node in tree.css("meta"):
        attributes = node.attributes
        names = map(attributes.get, ("property", "name", "itemprop", "http-equiv"))
        name = next(filter(None, names), None)
        if name and attributes.get("content"):
            found.meta.setdefault(name.strip().lower(), (attributes["content"] or "").strip())
    for script in tree.css('script[type="application/ld+json"]'):
        found.objects += json_objects(script.text())
    marked = (node.attributes.get("itemtype") or "" for node in tree.css("[itemtype]"))
    found.types.update(name.rstrip("/").rpartition("/")[2] for name in marked)
    found.types.update(name for thing in found.objects for name in types_of(thing))
    found.title = _text(tree.css_first("title"))
    beside = {node.mem_id for node in tree.css(_BESIDE)}
    heads = [node for node in tree.css("h1") if node.mem_id not in beside][:_MOST_HEADINGS]
    found.headings = [text for node in heads if (text := _text(node).rstrip("¶#§ "))]
    html, base = tree.css_first("html"), tree.css_first("base[href]")
    found.language = (html.attributes.get("lang") or "") if html is not None else ""
    found.base = (base.attributes.get("href") or "") if base is not None else ""
    return found


def _text(node: LexborNode | None) -> str:
    return " ".join(node.text().split()) if node is not None else ""


def json_objects(text: str) -> list[Json]:
    """Return all objects in JSON text, outermost first, or [] if the text is invalid."""
    try:
        return list(_objects(json.loads(_COMMENT.sub("", text), strict=False)))
    except (ValueError, RecursionError):
        return []


def _objects(root: Any) -> Iterator[Json]:
    todo, seen = deque([root]), 0
    while todo and seen < _MOST_NODES:
        value = todo.popleft()
        seen += 1
        if isinstance(value, dict):
            yield value
            todo += [v for v in value.values() if isinstance(v, dict | list)]
        elif isinstance(value, list):
            todo += [v for v in value if isinstance(v, dict | list)]


def types_of(thing: Json) -> list[str]:
    """Return the schema.org types of a JSON-LD object."""
    value = thing.get("@type")
    return [str(t).rsplit("/", 1)[-1] for t in (value if isinstance(value, list) else [value]) if t]


def title_of(found: Metadata) -> str:
    """Return the page's headline, based on its headings and title, or "" if it has neither."""
    named = found.meta.get("og:title") or found.meta.get("twitter:title") or found.title
    site = found.meta.get("og:site_name", "").lower()
    headings = [text for text in found.headings if text.lower() != site]
    for said in (named.lower(), found.title.lower()):
        if held := [(said.find(text.lower()), text) for text in headings if text.lower() in said]:
            return min(held)[1]
    if headings and not named:
        return headings[0]
    parts = [part for part in _SITE_NAME.split(named) if part]
    kept = [part for part in parts if part.lower() != site] or parts
    if not parts or (len(kept) == len(parts) and len(parts) != 2):
        return named
    heads = [_words(text) for text in headings]
    return max(kept, key=lambda part: (_heading_share(_words(part), heads), len(part)))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _heading_share(part: set[str], heads: list[set[str]]) -> float:
    return max((len(part & head) / len(part) for head in heads), default=0.0) if part else 0.0


def author_of(found: Metadata, tree: LexborHTMLParser) -> str:
    """Return the page's authors, comma-separated, or ""."""
    for thing in found.objects:
        names = _names(thing.get("author") or thing.get("creator"))
        if names and any(map(_ARTICLE.search, types_of(thing))):
            return ", ".join(dict.fromkeys(names))
    for name in _AUTHORS:
        value = found.meta.get(name, "")
        if value and not value.startswith(("http", "@", "/")):
            return value[:200]
    named = '[rel="author"],[itemprop="author"] [itemprop="name"],[itemprop="author"]'
    return _text(tree.css_first(named))[:100]


def _names(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for one in value[:20] for name in _names(one)]
    if isinstance(value, dict):
        return _names(value.get("name"))
    named = isinstance(value, str) and value.strip() and not value.startswith("http")
    return [" ".join(value.split())[:100]] if named else []


def date_candidates(found: Metadata, tree: LexborHTMLParser) -> Iterator[str]:
    """Yield possible publication dates as written, most reliable first."""
    for thing in found.objects:
        if isinstance(thing.get("datePublished"), str):
            yield thing["datePublished"]
    for name in _DATES:
        if name in found.meta:
            yield found.meta[name]
    for node in tree.css(
        '[itemprop="datePublished"],time[pubdate],article time[datetime],header'
        " time[datetime],time[datetime]"
    )[:3]:
        yield node.attributes.get("datetime") or node.attributes.get("content") or _text(node)


def published(found: Metadata, tree: LexborHTMLParser, url: str) -> datetime | None:
    """Return the publication time in UTC, or None."""
    for text in date_candidates(found, tree):
        if (date := moment(text)) is not None:
            return date
    match = re.search(r"/(?:19|20)\d\d/[01]\d/[0-3]\d/", url)
    return moment(match[0].strip("/").replace("/", "-")) if match else None


def language_of(found: Metadata) -> str:
    """Return a lower-case language code such as "en", or ""."""
    names = [found.language, *map(found.meta.get, ("content-language", "og:locale"))]
    names += [name for t in found.objects if isinstance(name := t.get("inLanguage"), str)]
    said = next(filter(None, names), None) or ""
    code = re.split(r"[-_,; ]", said.strip().lower())[0]
    return code if re.fullmatch(r"[a-z]{2,3}", code) else ""


_PAPER = [f"citation_{name}" for name in ("arxiv_id", "conference_title", "doi", "journal_title")]
_FORUM = ("discourse", "vbulletin")


def source_kind_of(found: Metadata) -> SourceKind:
    """Return the stated kind of source or "". NewsArticle alone is not "news": blogs use it too."""
    if "ScholarlyArticle" in found.types or not found.meta.keys().isdisjoint(_PAPER):
        return "paper"
    generator = found.meta.get("generator", "").lower()
    if {"DiscussionForumPosting", "QAPage"} & found.types or generator.startswith(_FORUM):
        return "forum"
    if "NewsMediaOrganization" in found.types:
        return "news"
    sold = "Product" in found.types or found.meta.get("og:type", "").startswith("product")
    return "vendor" if sold else ""


KINDS = ("article", "collection", "documentation", "forum", "listing", "product", "service")
_PAGE_KINDS_WORD = re.compile(r"[a-z]{2,}")
#: Minimum probability at which a page kind is considered.
UNLIKELY = 0.1
Told = dict[str, list[tuple[str, float]]]


def kinds_of(url: str, found: Metadata, view: PageView) -> dict[str, float]:
    """Return the probability of each likely page kind, likeliest first."""
    return likely_kinds(clues(url, found, view), clue_weights())


@lru_cache(maxsize=1)
def clue_weights() -> Told:
    """Return the fitted page-kind weights, keyed by clue (a feature of the page)."""
    return told_by(weights())


def told_by(table: dict[str, float]) -> Told:
    """Return the page-kind weights from `table`, keyed by clue (a feature of the page)."""
    found: Told = {}
    for name, value in table.items():
        kind, _, clue = name.partition(": ")
        if kind in KINDS:
            found.setdefault(clue, []).append((kind, value))
    return found


def likely_kinds(names: Iterable[str], told: Told) -> dict[str, float]:
    """Return the probability of each likely page kind, likeliest first, given the clues `names`."""
    sums: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    for name in names:
        for kind, value in told.get(name, ()):
            sums[kind] += value
    most = max(sums.values())
    odds = {kind: math.exp(value - most) for kind, value in sums.items()}
    least = UNLIKELY * sum(odds.values())
    ranked = sorted(KINDS, key=lambda kind: -odds[kind])
    return {kind: odds[kind] / sum(odds.values()) for kind in ranked if odds[kind] >= least}


def clues(url: str, found: Metadata, view: PageView) -> Iterator[str]:
    """Yield the names of features that hint at the page kind."""
    yield "any"
    yield from _address(url)
    yield from {f"type {name}" for thing in found.objects for name in types_of(thing)}
    yield f"og {found.meta.get('og:type', '')}"
    generator = _PAGE_KINDS_WORD.findall(found.meta.get("generator", "").lower())[:1]
    yield from (f"generator {word}" for word in generator)
    yield from _content(view)


def _address(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url.lower())
    except ValueError:
        return
    path = parts.path.strip("/")
    yield from {f"host {word}" for word in _PAGE_KINDS_WORD.findall(parts.netloc)}
    yield from {f"path {word}" for word in _PAGE_KINDS_WORD.findall(path)}
    yield f"depth {min(4, path.count('/') + 1 if path else 0)}"
    yield f"slug {size(len(path.rsplit('/', 1)[-1]))}"
    if re.search(r"\d{3,}", path):
        yield "numbered"


def _content(view: PageView) -> Iterator[str]:
    blocks = view.blocks
    chars = sum(block.chars for block in blocks)
    yield f"links {density(sum(block.link_chars for block in blocks), chars)}"
    yield f"chars {size(chars // 16)}"
    yield f"long {_count(blocks, lambda b: b.chars > 200 and not b.link_chars * 2 > b.chars)}"
    yield f"code {_count(blocks, lambda b: b.kind == 'pre')}"
    priced = _count(blocks, lambda b: b.chars < 40 and any(sign in b.text for sign in "$€£"))
    yield f"price {priced}"
    headings = [block for block in blocks if block.kind in ("h2", "h3", "h4")]
    yield f"headings {len(headings).bit_length()}"
    yield f"linked headings {_count(headings, lambda b: b.link_chars > 0)}"
    yield f"article elements {sum(frame.tag == 'article' for frame in view.frames).bit_length()}"
    words = {trait for frame in view.frames for trait in frame.traits}
    yield from (f"has {word}" for word in words)


def _count(blocks: list[Block], holds: Callable[[Block], bool]) -> int:
    return sum(map(holds, blocks)).bit_length()

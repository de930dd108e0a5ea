"""Page blocks and their conversion to Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.page.inline_markup import NUMBERS


@dataclass(slots=True, eq=False)
class Frame:
    """A block-level element around blocks `start:end`. `image`: URL of a figure's only image."""

    parent: Frame | None
    tag: str
    traits: tuple[str, ...]
    start: int
    end: int = 0
    depth: int = 0
    image: str = ""


@dataclass(slots=True, eq=False)
class Item:
    """A list item or quotation. `marker` is the prefix of its first line, and `indent` the prefix
    of its other lines. It is `loose` if it contains a heading.
    """

    marker: str
    indent: str
    loose: bool = False


@dataclass(slots=True, eq=False)
class Block:
    """A paragraph, heading, table or code block as Markdown. `inside` lists the list items and
    quotations around it, whose prefixes `text` omits. `chars` counts visible characters,
    `link_chars` linked ones.
    """

    kind: str
    text: str
    chars: int
    link_chars: int
    frame: Frame
    inside: tuple[Item, ...] = ()
    links: tuple[Link, ...] = field(default=())


HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
EMPHASIS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
CODE = frozenset(("code", "tt", "samp", "kbd"))
VERBATIM = frozenset(("pre", "listing", "xmp", "plaintext"))
#: Link texts of heading anchors (links from a heading to itself).
HEADER_LINKS = frozenset(("¶", "#", "§", "🔗", "∞", "[link]", "permalink"))
#: Elements that are dropped with all their contents if `is_apart` returns True.
APART = frozenset(("nav", "footer", "hr", "td"))
_PARTS = frozenset(("article", "blockquote", "figure", "li", "section", "main"))
LISTS = frozenset(("ul", "ol", "menu", "dir"))

#: Elements whose contents are not page text.
SKIPPED = frozenset((
    "script", "style", "template", "svg", "iframe", "object", "embed", "applet", "canvas", "audio",
    "video", "map", "head", "select", "option", "datalist", "input", "textarea", "progress",
    "meter", "frame", "frameset", "link", "meta", "title", "base", "param", "source", "track",
    "wbr", "area", "math", "rp", "img", "picture", "br", "-comment", "-doctype",
))  # fmt: skip

BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd",
    "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "label", "legend", "li",
    "main", "menu", "nav", "ol", "optgroup", "p", "search", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul", "dir", "pre", "listing", "xmp", "plaintext",
))  # fmt: skip

#: The block kind of text directly inside an element, keyed by the element's tag.
KINDS = {
    **{name: name for name in HEADINGS},
    "li": "li", "dt": "dt", "dd": "dd", "button": "button", "label": "label", "legend": "label",
    "figcaption": "caption", "caption": "caption", "summary": "summary", "td": "cell", "th": "cell",
    "div": "div", "p": "p", "section": "div", "article": "div", "body": "div",
}  # fmt: skip

_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
#: Class names and ids of content containers in documentation generators, wikis, code hosts and
#: blogs.
KNOWN_CONTAINERS = frozenset((
    "rst-content", "theme-doc-markdown", "md-content__inner", "markdown-body", "mw-parser-output",
    "mw-content-text", "docs-body", "docContent", "apicontent", "devsite-article-body",
    "document-content", "documentation-content", "docs-content", "doc-content", "docs-markdown",
    "td-content", "book-body", "page-content-body", "sl-markdown-content", "vp-doc",
    "nextra-content", "content__default", "wiki-content", "article-body", "post-content",
    "entry-content",
))  # fmt: skip
_CALLOUT = re.compile(
    r"(?i)(?:^|[\s_-])(?:admonition(?:block)?|alert|callout|custom-block|aside)(?:$|[\s_-])"
)
_CALLOUT_KIND = re.compile(
    r"(?i)(?:^|[\s_-])(note|tip|hint|important|warning|caution|danger|attention|error)(?:$|[\s_-])"
)
_HIDDEN = re.compile(r"display:\s*none|visibility:\s*hidden")
_MOST_NAMES = 300


@lru_cache(maxsize=4_096)
def callout_kind(classes: str) -> str:
    """Return the callout kind named in an element's classes, such as `Danger`, or ""."""
    found = _CALLOUT_KIND.search(classes)
    alone = found is not None and found[0] == classes
    return found[1].capitalize() if found and (alone or _CALLOUT.search(classes)) else ""


def is_apart(tag: str, attributes: dict[str, str | None], frame: Frame) -> bool:
    """Return whether to drop an element whose tag is in APART. `frame` is the enclosing element.
    Table cells are dropped only if they hold line numbers, and footers only outside articles,
    sections and similar elements.
    """
    if tag == "td":
        return not NUMBERS.isdisjoint((attributes.get("class") or "").split())
    if tag != "footer":
        return True
    around: Frame | None = frame
    while around is not None and around.tag not in _PARTS:
        around = around.parent
    return around is None


@lru_cache(maxsize=20_000)
def _words(names: str) -> tuple[str, ...]:
    words = dict.fromkeys(word.lower() for word in _WORD.findall(names[:_MOST_NAMES]))
    container = not KNOWN_CONTAINERS.isdisjoint(names.split())
    return (*words, "known container") if container else tuple(words)


def traits(tag: str, attributes: dict[str, str | None]) -> tuple[str, ...]:
    """Return the names of an element's features, such as `("tag:div", "footer")`."""
    found = ["tag:" + tag]
    if not attributes:
        return ("tag:" + tag,)
    for name, value in attributes.items():
        if name == "class" or name == "id":
            found += _words(value or "")
        elif name == "role" or name == "itemprop":
            found.append(f"{name}:{(value or '').lower()[:30]}")
        elif name == "itemtype":
            found.append("itemtype:" + (value or "").rsplit("/", 1)[-1].lower()[:30])
        elif name == "hidden" or (name == "aria-hidden" and value == "true"):
            found.append("hidden:" + name)
        elif name == "style" and value and _HIDDEN.search(value):
            found.append("hidden:style")
    return tuple(found)


def captioned(block: Block) -> str:
    """Return the URL of the image that a caption belongs to, or "" if `block` is not a caption."""
    frame, inside = block.frame, False
    while frame.parent and frame.tag != "figure":
        inside |= frame.tag == "figcaption"
        frame = frame.parent
    return frame.image if inside else ""


#: Block kinds that are never written as quotations.
_SET_APART = frozenset(("pre", "table"))
#: Characters that end a sentence or introduce a list, and closing characters that may follow them.
_STOPS, _CLOSING = ".!?:;…。！？：|", '*_`)”"»'


def assemble(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown, rejoining split paragraphs."""
    going_on = _going_on(blocks)
    parts: list[str] = []
    begun: set[Item] = set()
    before: tuple[Item, ...] = ()
    for n, block in enumerate(blocks):
        inside = _inside(block)
        fresh = [item for item in inside if item not in begun]
        if parts:
            parts.append("\n" if n in going_on else _gap(before, inside, fresh))
        parts.append(_prefixed(_shaped(block), inside, begun))
        begun.update(fresh)
        before = inside
    return "".join(parts) + "\n" if parts else ""


def _inside(block: Block) -> tuple[Item, ...]:
    """Return the list items and quotations whose prefixes `block` gets. Skip loose list items."""
    shown = (item for item in block.inside if item.marker == "> " or not item.loose)
    return tuple(item for item in shown if item.marker != "> " or block.kind not in _SET_APART)


def _going_on(blocks: Sequence[Block]) -> set[int]:
    """Return the indices of paragraphs that continue the previous one."""
    found: set[int] = set()
    run: list[int] = []
    for n in range(1, len(blocks) + 1):
        if n < len(blocks) and _adjacent(blocks[n - 1], blocks[n]):
            if blocks[n - 1].text.rstrip(_CLOSING)[-1:] not in _STOPS:
                run.append(n)
            continue
        if 2 * sum(blocks[m].text[:1].islower() for m in run) > len(run):
            found.update(run)
        run = []
    return found


def _adjacent(before: Block, block: Block) -> bool:
    plain = before.kind == block.kind == "p" and not before.inside and not block.inside
    return plain and before.frame.parent is block.frame.parent


def _gap(before: tuple[Item, ...], inside: tuple[Item, ...], fresh: list[Item]) -> str:
    begins = before and fresh and inside and fresh[-1] is inside[-1]
    if begins and "> " not in (inside[-1].marker, before[-1].marker):
        return "\n"
    shared = ""
    for left, right in zip(before, inside, strict=False):
        if left is not right:
            break
        shared += left.indent
    return f"\n{shared.rstrip()}\n"


def _prefixed(text: str, inside: tuple[Item, ...], begun: set[Item]) -> str:
    if not inside:
        return text
    first = "".join(item.indent if item in begun else item.marker for item in inside)
    rest = "".join(item.indent for item in inside)
    begun_with, *lines = text.split("\n")
    further = (rest + line if line else rest.rstrip() for line in lines)
    return "\n".join([first + begun_with, *further])


def _shaped(block: Block) -> str:
    if block.kind[0] == "h" and block.kind[1:].isdigit():
        return "#" * int(block.kind[1]) + " " + block.text.replace("\n", " ")
    if block.kind == "dt" and not set(block.text) & set("*`\n"):
        return f"**{block.text}**"
    return block.text

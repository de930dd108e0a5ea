"""The blocks that a walk over a page yields, and how it treats elements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.page.inline_markup import NUMBERS


@dataclass(slots=True, eq=False)
class Frame:
    """A block-level element. It holds the blocks `start:end` of the page, as blocks are in document
    order.

    `traits` are its tag and the words of its class, id, role and visibility, such as `tag:nav` or
    `footer`.
    """

    parent: Frame | None
    tag: str
    traits: tuple[str, ...]
    start: int
    end: int = 0
    depth: int = 0


@dataclass(slots=True, eq=False)
class Item:
    """A list item or quotation: `marker` opens its first line, `indent` the others."""

    marker: str
    indent: str
    loose: bool = False


@dataclass(slots=True, eq=False)
class Block:
    """A paragraph, heading, table or code block as Markdown, without the prefix of the lists and
    quotes in `inside`.

    `chars` counts its visible characters, `link_chars` those in links.
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
#: Text of a heading's link to itself.
HEADER_LINKS = frozenset(("¶", "#", "§", "🔗", "∞", "[link]", "permalink"))
#: Parts that are never content, except the footer of a smaller part.
APART = frozenset(("nav", "footer", "hr", "td"))
_PARTS = frozenset(("article", "blockquote", "figure", "li", "section", "main"))
LISTS = frozenset(("ul", "ol", "menu", "dir"))

#: Never page text. `noscript` and `template` are read only when a page has nothing else.
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

#: The kind of a paragraph directly in the element, otherwise "p".
KINDS = {
    **{name: name for name in HEADINGS},
    "li": "li", "dt": "dt", "dd": "dd", "button": "button", "label": "label", "legend": "label",
    "figcaption": "caption", "caption": "caption", "summary": "summary", "td": "cell", "th": "cell",
    "div": "div", "p": "p", "section": "div", "article": "div", "body": "div",
}  # fmt: skip

_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
#: Names of the text container in documentation generators, wikis and code hosts.
KNOWN_CONTAINERS = frozenset((
    "rst-content", "theme-doc-markdown", "md-content__inner", "markdown-body", "mw-parser-output",
    "mw-content-text", "docs-body", "docContent", "apicontent", "devsite-article-body",
    "document-content", "documentation-content", "docs-content", "doc-content", "docs-markdown",
    "td-content", "book-body", "page-content-body", "sl-markdown-content", "vp-doc",
    "nextra-content", "content__default", "wiki-content", "article-body", "post-content",
    "entry-content",
))  # fmt: skip
#: Callouts and their kinds, which a title does not repeat.
_CALLOUT = re.compile(
    r"(?:^|[\s_-])(?:admonition|alert|callout|custom-block|aside)(?:$|[\s_-])", re.IGNORECASE
)
_CALLOUT_KIND = re.compile(
    r"(?:^|[\s_-])(note|tip|hint|important|warning|caution|danger|attention|error)(?:$|[\s_-])",
    re.I,
)
_HIDDEN = re.compile(r"display:\s*none|visibility:\s*hidden")
_MOST_NAMES = 300


@lru_cache(maxsize=4_096)
def callout_kind(classes: str) -> str:
    """Return the kind of a callout, such as `Danger`, by its classes; "" for other elements."""
    found = _CALLOUT_KIND.search(classes)
    alone = found is not None and found[0] == classes
    return found[1].capitalize() if found and (alone or _CALLOUT.search(classes)) else ""


def is_apart(tag: str, attributes: dict[str, str | None], frame: Frame) -> bool:
    """Return whether it is navigation, a rule, a line number column, or the page's footer."""
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
    return tuple(dict.fromkeys(word.lower() for word in _WORD.findall(names[:_MOST_NAMES])))


def traits(tag: str, attributes: dict[str, str | None]) -> tuple[str, ...]:
    """Return an element's traits, such as `("tag:div", "site", "footer", "role:contentinfo")`."""
    found = ["tag:" + tag]
    if not attributes:
        return ("tag:" + tag,)
    for name, value in attributes.items():
        if name == "class" or name == "id":
            found += _words(value or "")
            if value and not KNOWN_CONTAINERS.isdisjoint(value.split()):
                found.append("known container")
        elif name == "role" or name == "itemprop":
            found.append(f"{name}:{(value or '').lower()[:30]}")
        elif name == "itemtype":
            found.append("itemtype:" + (value or "").rsplit("/", 1)[-1].lower()[:30])
        elif name == "hidden" or (name == "aria-hidden" and value == "true"):
            found.append("hidden:" + name)
        elif name == "style" and value and _HIDDEN.search(value):
            found.append("hidden:style")
    return tuple(found)

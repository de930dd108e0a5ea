"""What an element says about itself: tag, words of its class and id, role and visibility."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
#: Classes and ids of the element that holds the text, as documentation generators, wikis and code
#: hosts name it.
KNOWN_CONTAINERS = frozenset((
    "rst-content", "theme-doc-markdown", "md-content__inner", "markdown-body", "mw-parser-output",
    "mw-content-text", "docs-body", "docContent", "apicontent", "devsite-article-body",
    "document-content", "documentation-content", "docs-content", "doc-content", "docs-markdown",
    "td-content", "book-body", "page-content-body", "sl-markdown-content", "vp-doc",
    "nextra-content", "content__default", "wiki-content", "article-body", "post-content",
    "entry-content",
))  # fmt: skip
_HIDDEN = re.compile(r"display:\s*none|visibility:\s*hidden")
_MOST_NAMES = 300


@lru_cache(maxsize=20_000)
def _words(names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.lower() for word in _WORD.findall(names[:_MOST_NAMES])))


def traits(tag: str, attributes: dict[str, str | None]) -> tuple[str, ...]:
    """The traits of an element, such as `("tag:div", "site", "footer", "role:contentinfo")`."""
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

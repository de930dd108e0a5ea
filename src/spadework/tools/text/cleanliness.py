"""Measure how much of a page's text looks like content."""

from __future__ import annotations

import re

from spadework.tools.text.markdown import Block, blocks, plain

#: Minimum share of linked text in a list of links.
LINKS = 0.5
#: Minimum words of prose without final punctuation, and maximum characters of a notice.
LABEL_WORDS, NOTICE_CHARS = 8, 300
#: Minimum words per item of a list that is not a menu.
MENU_WORDS = 4

_LINK = re.compile(r"\[([^\[\]\n]*+)\]\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\)")
_NOTICE = re.compile(
    r"\b(?:cookies?|subscribe|newsletter|sign (?:in|up)|log ?in|share (?:on|this)|follow us|"
    r"all rights reserved|privacy policy|terms of (?:use|service)|related (?:articles|posts|"
    r"stories)|read more|you may also like|advertisement|sponsored|leave a (?:comment|reply)|"
    r"add to cart|download our app)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?:;…。！？][\"”’')\]*_`]*+$")
_LAST = 50


def cleanliness(markdown: str) -> float:
    """Return the share of characters in content blocks (0–1), or 1 for an empty text."""
    found = [(block.end - block.start, is_matter(markdown, block)) for block in blocks(markdown)]
    total = sum(chars for chars, _ in found)
    return sum(chars for chars, matter in found if matter) / total if total else 1.0


def tells(markdown: str) -> bool:
    """Return whether the text has more than headings, link lists, notices and labels."""
    return any(block.kind != "heading" and is_matter(markdown, block) for block in blocks(markdown))


def is_matter(markdown: str, block: Block) -> bool:
    """Return whether a block looks like content rather than a menu, notice or label.

    Headings, code and tables always do.
    """
    if block.kind in ("code", "table", "heading"):
        return True
    source = markdown[block.start : block.end]
    text = " ".join(plain(source).split())
    linked = sum(len(match[1]) for match in _LINK.finditer(source))
    if linked > LINKS * len(text) or (len(text) < NOTICE_CHARS and _NOTICE.search(text)):
        return False
    words = len(text.split())
    if block.kind == "list":
        return words >= MENU_WORDS * len(source.strip().split("\n"))
    return words >= LABEL_WORDS or _END.search(text[-_LAST:]) is not None

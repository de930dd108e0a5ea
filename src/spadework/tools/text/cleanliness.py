"""How clean a page's text is, by code: the share of it that reads like its own matter."""

from __future__ import annotations

import re

from spadework.tools.text.markdown import Block, blocks, plain

#: From this share of linked words on, a block is a list of links.
LINKS = 0.5
#: Fewer words that end no sentence are a label; a paragraph of fewer characters may be a notice.
LABEL_WORDS, NOTICE_CHARS = 8, 300
#: Words of an item of a list on average, below which it is a menu.
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
#: Characters at whose end a text is looked at for a stop, and those behind it.
_LAST = 50


def cleanliness(markdown: str) -> float:
    """The share of characters, 0..1, in blocks that belong to the matter; 1 for an empty text."""
    found = [(block.end - block.start, is_matter(markdown, block)) for block in blocks(markdown)]
    total = sum(chars for chars, _ in found)
    return sum(chars for chars, matter in found if matter) / total if total else 1.0


def tells(markdown: str) -> bool:
    """Whether a text holds more than headings, lists of links, notices and labels."""
    return any(block.kind != "heading" and is_matter(markdown, block) for block in blocks(markdown))


def is_matter(markdown: str, block: Block) -> bool:
    """Whether a block reads like prose, no menu, notice or label. Code and tables always do."""
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

"""The words of a passage that show best why it was found."""

from __future__ import annotations

import re

from spadework.tools.library.schema import StemFinder
from spadework.tools.text.markdown_blocks import blocks
from spadework.tools.text.markdown_marks import plain
from spadework.tools.text.sentences import sentences

MAX_CHARS = 300
_SENTENCES = 6
#: What marks in Markdown begin with: a text without any is plain as it stands.
_MARKED = re.compile(r"[*_`\[\]<>\\&~!|#]")


def snippet(passage: str, words: set[str]) -> str:
    """Plain text of at most 300 characters: from the sentence on that, with what follows, has most
    of the stems `words`; without sentences (code, tables), the beginning of the passage.
    """
    shown = [_flat(passage[start:end]) for start, end in sentences(passage)] or [
        _flat(_body(passage))
    ]
    finder = StemFinder(words)
    found = [finder.found(text) for text in shown]
    best = max(range(len(shown)), key=lambda first: _count_seen(shown, found, first))
    text = " ".join(shown[best : best + _SENTENCES])
    if len(text) <= MAX_CHARS:
        return text
    return text[: MAX_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _count_seen(shown: list[str], found: list[set[str]], first: int) -> int:
    """How many of the words stand in the sentences from `first` on that there is room for."""
    seen = set(found[first])
    room = MAX_CHARS - len(shown[first])
    further = slice(first + 1, first + _SENTENCES)
    for text, words in zip(shown[further], found[further], strict=True):
        room -= len(text) + 1
        if room < 0:
            break
        seen |= words
    return len(seen)


def _body(passage: str) -> str:
    """A passage without its headings and fences, for one that has no sentences."""
    told = (block for block in blocks(passage) if block.kind != "heading")
    body = "\n".join(passage[block.start : block.end] for block in told) or passage
    return "\n".join(line for line in body.split("\n") if not line.lstrip().startswith("```"))


def _flat(text: str) -> str:
    return " ".join((plain(text) if _MARKED.search(text) else text).split())

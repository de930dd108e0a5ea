"""The words of a passage that show best why it was found."""

from __future__ import annotations

from spadework.tools.blocks import blocks
from spadework.tools.inline import plain
from spadework.tools.library.schema import spaced, word_analyzer
from spadework.tools.sentences import sentences

MAX_CHARS = 300


def snippet(passage: str, words: set[str]) -> str:
    """Plain text of at most 300 characters: from the sentence on that, with what follows, has most of the stems `words`.

    Without sentences (code, tables), the beginning of the passage.
    """
    shown = [_flat(passage[start:end]) for start, end in sentences(passage)] or [_flat(_body(passage))]
    windows = [_clipped(" ".join(shown[n : n + 6])) for n in range(len(shown))]
    return max(windows, key=lambda text: len(words.intersection(word_analyzer().analyze(spaced(text)))), default="")


def _body(passage: str) -> str:
    """A passage without its headings and fences, for one that has no sentences."""
    parts = [passage[block.start : block.end] for block in blocks(passage) if block.kind != "heading"]
    return "\n".join(line for part in parts or [passage] for line in part.split("\n") if not line.lstrip().startswith("```"))


def _flat(text: str) -> str:
    return " ".join(plain(text).split())


def _clipped(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    return text[: MAX_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"

"""A title for a long question: its first sentence, or the beginning of it."""

from __future__ import annotations

from spadework.tools.text.markdown_marks import one_line
from spadework.tools.text.sentences import sentences

#: Most characters of a question that stands above a report, and of a title cut from a longer.
LONG, MOST_CHARS = 200, 100


def is_long(question: str) -> bool:
    """Whether a question has so many characters, or several lines."""
    return len(question) > LONG or "\n" in question.strip()


def shorten_question(question: str) -> str:
    """The first sentence of a question, or its beginning cut at a word."""
    text = question.strip()
    first = next((text[start:end] for start, end in sentences(text)), text)
    line = " ".join(first.split()).rstrip(" ,;:")
    if len(line) <= MOST_CHARS:
        return line
    return one_line(line[:MOST_CHARS].rpartition(" ")[0].rstrip(" ,;:") or line[:MOST_CHARS]) + "…"

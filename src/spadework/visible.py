"""Make external text safe to store and show by removing invisible characters."""

from __future__ import annotations

import re

#: Control characters (except tab and line ends), direction marks, tag characters and noncharacters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\ud800-\udfff]"
)
#: Line and page breaks other than \n.
_BREAKS = re.compile("\r\n|[\x0b\x0c\r\x85\u2028\u2029]")
#: Matches runs of marks, digits or letters that are too long for readable text.
_RUNS = re.compile(
    r"(?<![^\w\s])([^\w\s]{1000})[^\w\s]++|(?<!\d)(\d{1000})\d++|(?<!\w)(\w{10000})\w++"
)
#: Finds where to break a long line. In Markdown, a single line break does not end the paragraph.
_LONG_LINE = re.compile(r"([^\n]{10000}[^\n\s]{0,1000}+)[^\S\n]?+(?=[^\n])")


def visible(text: str) -> str:
    """Return the text without invisible characters, with uniform line endings."""
    if text.isascii() and text.isprintable():  # True of nearly every title, name and address.
        return text
    return _UNSEEN.sub("", _BREAKS.sub("\n", text))


def bounded(text: str) -> str:
    """Cut long runs of letters, digits or marks, and break long lines. Both are slow to process."""
    cut = _RUNS.sub(lambda run: run[run.lastindex or 0], text)
    return _LONG_LINE.sub(r"\1\n", cut)


def one_line(text: str, most: int = 300) -> str:
    """Return printable text on one line of at most `most` characters."""
    seen = visible(text[: 4 * most])
    line = " ".join("".join(c if c.isprintable() else " " for c in seen).split())
    return line if len(line) <= most else line[: most - 1] + "…"

"""Text from outside as it may be kept and shown: nothing in it works unseen, neither on a terminal
nor on a reader. What stands in Markdown is escaped besides:
`spadework.tools.export.markdown_report`.
"""

from __future__ import annotations

import re

#: Control characters but tab and line end, marks that turn the direction of writing, tags that are
#: not drawn, what is no character.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\ud800-\udfff]"
)
#: What ends a line or a page without being a line end.
_BREAKS = re.compile("\r\n|[\x0b\x0c\r\x85\u2028\u2029]")
#: Runs of one kind of sign, from the first of them: no text that is meant to be read has so many
#: marks, digits or letters without a space.
_RUNS = re.compile(
    r"(?<![^\w\s])([^\w\s]{1000})[^\w\s]++|(?<!\d)(\d{1000})\d++|(?<!\w)(\w{10000})\w++"
)
#: The longest line, which goes on in the next one; in Markdown that is the same paragraph.
_LONG_LINE = re.compile(r"([^\n]{10000}[^\n\s]{0,1000}+)[^\S\n]?+(?=[^\n])")


def visible(text: str) -> str:
    """The text without what works unseen, lines ended by line ends; code stays the same."""
    if text.isascii() and text.isprintable():  # nearly every title, name and address
        return text
    return _UNSEEN.sub("", _BREAKS.sub("\n", text))


def bounded(text: str) -> str:
    """Return the text with no run of one kind of sign, nor a line, without end: what reads a page
    takes no longer for one that was made to hold it up.
    """
    cut = _RUNS.sub(lambda run: run[run.lastindex or 0], text)
    return _LONG_LINE.sub(r"\1\n", cut)

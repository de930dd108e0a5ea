"""The sentences of a Markdown text's prose."""

from __future__ import annotations

import re

from spadework.tools.blocks import blocks
from spadework.tools.inline import Inline, Mark, scan, units

_JOINER = "\u2060"
_STOPS = ".!?\u2026\u3002\uff01\uff1f"
_END = re.compile(
    r"(?<![.!?\u2026])(?P<stop>[.!?\u2026]++)[\"'\u201d\u2019)\]\u2060]*+(?=\s)|[\u3002\uff01\uff1f]++[\u201d\u2019\u300d\u300f\uff09\u2060]*+"
)
#: An empty line, or a line that is broken on purpose.
_GAP = re.compile(r"\n\s*\n\s*|(?<! ) {2,}\n\s*")
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u2018\u2060]{1,40}$")
_NEXT = re.compile(r"[\s\"'\u201c\u2018(\[\u2060]*")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+")

# fmt: off
#: Never the last word of a sentence.
_BEFORE = frozenset((
    "dr", "mr", "mrs", "ms", "prof", "st", "rev", "gen", "col", "sgt", "capt", "lt", "hon", "e.g",
    "i.e", "cf", "vs", "viz", "al", "fig", "figs", "eq", "eqs", "sec", "no", "nos", "vol", "pp",
    "p", "ch", "ed", "eds", "ca", "approx",
))
#: The last word of a sentence only when a word follows that begins one.
_BOTH = frozenset((
    "etc", "inc", "ltd", "co", "corp", "jr", "sr", "est", "dept", "univ", "jan", "feb", "mar",
    "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "mon", "tue", "wed", "thu",
    "fri", "sat", "sun",
))
_STARTERS = frozenset((
    "a", "an", "and", "although", "as", "at", "but", "by", "despite", "during", "each", "even",
    "every", "for", "from", "he", "her", "here", "his", "how", "however", "if", "in", "instead",
    "it", "its", "many", "most", "no", "now", "of", "on", "one", "our", "others", "several", "she",
    "since", "so", "some", "such", "that", "the", "their", "then", "there", "these", "they", "this",
    "those", "to", "two", "under", "unlike", "until", "we", "what", "when", "where", "whether",
    "which", "while", "who", "why", "with", "yet", "you", "your",
))
# fmt: on


def sentences(text: str) -> list[tuple[int, int]]:
    """Offsets (start, end) of the sentences of paragraphs, list items and block quotes, in order;
    headings, code and tables have none.

    A sentence lies within one block and has a letter or digit. A stop in an abbreviation, a number,
    code or a link's address ends none.
    """
    masked = _masked(text, scan(text))
    found: list[tuple[int, int]] = []
    for block in blocks(text):
        if block.kind in ("paragraph", "list", "quote"):
            for start, end in units(text, block):
                found += _split(text, masked, start, end)
    return found


def _masked(text: str, inline: Inline) -> str:
    """The text, with its length kept, in which marks are joiners, code is letters, and stops inside
    a link's words end nothing.
    """
    changes = [(start, end, "X" * (end - start)) for start, end in inline.code]
    changes += [(mark.start, mark.end, _mask(text, mark)) for mark in inline.marks]
    for pair in inline.pairs:
        if text[pair.start] in "![":
            words = text[pair.inner_start : pair.inner_end].rstrip(_STOPS)
            changes += [
                (pair.inner_start + n, pair.inner_start + n + 1, "x")
                for n, char in enumerate(words)
                if char in _STOPS
            ]
    shown, at = [], 0
    for start, end, mask in sorted(changes):
        if start >= at:
            shown += [text[at:start], mask]
            at = end
    return "".join([*shown, text[at:]])


def _mask(text: str, mark: Mark) -> str:
    source = text[mark.start : mark.end]
    if source == "\\":  # a line broken on purpose, like an empty line
        return "\n"
    if not source.strip(" \t>"):
        return source.replace(">", " ")
    return (mark.shown[:1] or _JOINER).ljust(len(source), _JOINER)


def _split(text: str, masked: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of one unit. A part without a readable letter or digit goes to the next one."""
    stops = {
        match.end() for match in _END.finditer(masked, start, end) if _ends(masked, start, match)
    }
    stops |= {match.start() for match in _GAP.finditer(masked, start, end)}
    found, begun, at = [], start, start
    for stop in [*sorted(stops), end]:
        if any(
            shown.isalnum() and char.isalnum()
            for shown, char in zip(masked[at:stop], text[at:stop], strict=True)
        ):
            part = masked[begun:stop]
            found.append((stop - len(part.lstrip()), begun + len(part.rstrip())))
            begun = stop
        at = stop
    return found


def _ends(masked: str, start: int, match: re.Match[str]) -> bool:
    """Whether a stop ends a sentence."""
    stop = match["stop"]
    if not stop:
        return True
    after = _NEXT.match(masked, match.end())
    following = masked[after.end() : after.end() + 20] if after else ""
    if following[:1].islower():
        return False
    if stop != ".":
        return True
    last = _LAST_WORD.search(masked, max(start, match.start() - 40), match.start())
    word = last[0].lower() if last else ""
    if word in _BEFORE or (
        word.isdigit() and not masked[start : match.start()].strip(f" \n{word}")
    ):
        return False
    if word in _BOTH or _INITIALS.fullmatch(word + "."):
        return re.split(r"\W", following, maxsplit=1)[0].lower() in _STARTERS
    return True

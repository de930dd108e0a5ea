"""Find sentences in Markdown, and measure how much of a page is content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from spadework.tools.text.language import Language, language, spoken
from spadework.tools.text.markdown import Block, Inline, Mark, blocks, plain, scan, units

_COLONS = (":", "：")
#: Matches a list term, which is a line of code alone, or a line that starts in bold or code and
#: does not end like a sentence. It matches 92 of 100 list terms in five manuals.
_TERM = re.compile(r"`[^`\n]+`|(?:\*\*|`)[^\n]{1,118}(?<![.!?;])(?<![.!?;]`)(?<![.!?;]\*\*)")
#: A block counts as a list of links if more than this fraction of its text is linked.
LINKS = 0.5
#: Text without final punctuation counts as prose if it has at least LABEL_WORDS words. Only text of
#: fewer than NOTICE_CHARS characters can count as a site notice, such as a cookie banner.
LABEL_WORDS, NOTICE_CHARS = 8, 300
#: A list with fewer words per line than this counts as a menu, not as content.
MENU_WORDS = 4

_LINK = re.compile(r"\[([^\[\]\n]*+)\]\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\)")
_NOTICE = re.compile(
    r"\b(?:cookies?|subscribe|newsletter|sign (?:in|up)|log ?in|share (?:on|this)|follow us|"
    r"all rights reserved|privacy policy|terms of (?:use|service)|related (?:articles|posts|"
    r"stories)|read more|you may also like|advertisement|sponsored|leave a (?:comment|reply)|"
    r"add to cart|download our app)\b",
    re.IGNORECASE,
)
_CLEAN_END = re.compile(r"[.!?:;…。！？][\"”’')\]*_`]*+$")
_LAST = 50


def leads(text: str) -> bool:
    """Return whether a line ends in a colon, to introduce other text."""
    return text.rstrip("*_ \n").endswith(_COLONS)


def is_term(markdown: str, block: Block) -> bool:
    """Return whether a block is a term before its definition."""
    if block.kind != "paragraph" or is_ended(markdown[block.start : block.end]):
        return False
    return bool(_TERM.fullmatch(markdown, block.start, block.end))


#: Maximum number of sentences within a pair of brackets. If there are more, the opening bracket
#: counts as unclosed.
MOST_IN_BRACKETS = 100
_JOINER = "\u2060"
_STOPS = ".!?\u2026\u061f\u06d4\u0964\u3002\uff01\uff1f"
_LEFT_OUT = ("...", "\u2026")
_CLOSING = "\"'\u201d\u2019\u201c\u00bb\u00ab\u203a\u2039)\\]\u2060"
_NOTE = r"\u2060*\[\u2060*\d{1,3}\u2060*\]\u2060*"
#: Matches the end of a sentence. In French, a space precedes the closing quotation mark.
_END = re.compile(
    rf"(?<![.!?\u2026])(?P<stop>[.!?\u2026\u061f\u06d4]++)"
    rf"[{_CLOSING}]*+(?:{_NOTE})*+(?:[ \u00a0\u202f]\u00bb(?=\s|$))?+(?=\s|$)"
    r"|[\u3002\uff01\uff1f\u0964\u0965]++[\u201d\u2019\u300d\u300f\uff09\u2060]*+"
)
_GAP = re.compile(r"\n\s*\n\s*|(?<! ) {2,}\n\s*")
_OPENING = "\"'\u201c\u2018\u201e\u201a\u00ab\u00bb\u2039\u203a\u00bf\u00a1(\\[\u2060"
_LAST_WORD, _WORD_CHARS = re.compile(rf"[^\s{_OPENING}]*+\Z"), 40
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+")
_FIRST = re.compile(rf"[\s{_OPENING}]*+(\w{{0,20}})")
#: Matches "3" and "XX", which are ordinals if a period and another word follow. It does not match
#: years.
_ORDINAL = re.compile(r"\d{1,3}|[ivx]+")
_LETTER = re.compile(r"[^\W_]")


def sentences(text: str, code: str = "") -> list[tuple[int, int]]:
    """Return the (start, end) offsets of sentences in paragraphs, list items and quotes. A sentence
    lies within one block and has a letter or digit. The language `code` is detected if "".
    """
    known = language(code or spoken(text))
    masked = _mask_marks(text, scan(text))
    found: list[tuple[int, int]] = []
    for block in blocks(text):
        if block.kind in ("paragraph", "list", "quote"):
            for start, end in units(text, block):
                found += _split(text, masked, (start, end), known)
    return found


def is_ended(text: str) -> bool:
    """Return whether the text ends like a complete sentence."""
    return text.rstrip(_CLOSING + " ")[-1:] in (*_STOPS,)


def is_broken_off(text: str) -> bool:
    """Return whether the text seems to break off mid-sentence."""
    return not is_ended(text) and len(text.split()) >= LABEL_WORDS


def closed(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge sentences of a block that share a pair of brackets."""
    open_after = [0, *accumulate(_opened(text[slice(*span)]) for span in spans)]
    made: list[tuple[int, int]] = []
    at = 0
    while at < len(spans):
        further = range(at + 1, min(at + MOST_IN_BRACKETS, len(spans)) + 1)
        after = next((n for n in further if open_after[n] <= open_after[at]), at + 1)
        made.append((spans[at][0], spans[after - 1][1]))
        at = after
    return made


def _opened(text: str) -> int:
    return sum(map(text.count, "(（")) - sum(map(text.count, ")）"))


def _mask_marks(text: str, inline: Inline) -> str:
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
    if source == "\\":  # A hard line break separates text like an empty line.
        return "\n"
    if not source.strip(" \t>"):
        return source.replace(">", " ")
    return (mark.shown[:1] or _JOINER).ljust(len(source), _JOINER)


def _split(text: str, masked: str, unit: tuple[int, int], known: Language) -> list[tuple[int, int]]:
    start, end = unit
    ends = _END.finditer(masked, start, end)
    first = _first_word(masked, start)
    stops = {match.end() for match in ends if _ends(masked, start, match, known, first)}
    stops |= {match.start() for match in _GAP.finditer(masked, start, end)}
    found, begun, at = [], start, start
    for stop in [*sorted(stops), end]:
        if any(text[match.start()].isalnum() for match in _LETTER.finditer(masked, at, stop)):
            part = masked[begun:stop]
            found.append((stop - len(part.lstrip()), begun + len(part.rstrip())))
            begun = stop
        at = stop
    return found


def _ends(masked: str, start: int, match: re.Match[str], known: Language, first: str) -> bool:
    stop = match["stop"]
    if not stop:
        return True
    following = _first_word(masked, match.end())
    # A lower-case word starts a sentence only if the paragraph or list item starts with the same
    # word.
    if following.islower() and following.isalpha() and following != first:
        return False
    if stop in _LEFT_OUT:
        # "..." after a space marks an omission ("INSERT ... ON CONFLICT").
        return not masked[match.start() - 1 : match.start()].isspace()
    if stop != ".":
        return True
    begin = max(start, match.start() - _WORD_CHARS)
    begin = max(begin, masked.rfind(" ", begin, match.start()) + 1)
    last = _LAST_WORD.search(masked, begin, match.start())
    written = last[0] if last else ""
    word = written.lower()
    if word in known.abbreviations or written in known.abbreviations:
        return False
    begins = match.start() - start < _WORD_CHARS
    if word.isdigit() and begins and not masked[start : match.start()].strip(f" \n{word}"):
        return False
    ordinal = known.ordinals and _ORDINAL.fullmatch(word)
    unsure = word in known.maybe_last or written in known.maybe_last
    if unsure or _INITIALS.fullmatch(word + ".") or ordinal:
        return following.lower() in known.starters
    return True


def _first_word(masked: str, start: int) -> str:
    match = _FIRST.match(masked, start)
    return match[1] if match else ""


def cleanliness(markdown: str) -> float:
    """Return the fraction of characters that belong to content, or 1 for an empty text."""
    found = [(block.end - block.start, is_matter(markdown, block)) for block in blocks(markdown)]
    total = sum(chars for chars, _ in found)
    return sum(chars for chars, matter in found if matter) / total if total else 1.0


def tells(markdown: str) -> bool:
    """Return whether any non-heading block looks like content."""
    return any(block.kind != "heading" and is_matter(markdown, block) for block in blocks(markdown))


def is_matter(markdown: str, block: Block) -> bool:
    """Return whether a block looks like content. Headings, code and tables always do."""
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
    return words >= LABEL_WORDS or _CLEAN_END.search(text[-_LAST:]) is not None

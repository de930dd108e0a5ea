"""What is refused before it is parsed, and how bytes become text."""

from __future__ import annotations

import re
from collections import Counter

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract.page.constants import (
    HARMLESS_BYTES,
    HARMLESS_TAGS,
    MOST_BYTES,
    MOST_NESTING,
    MOST_REOPENED,
    MOST_TAGS,
)

_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.I,
)
#: Characters that text does not hold. More than one in twenty of them is binary data.
_BINARY = [chr(code) for code in (*range(1, 9), *range(14, 27), *range(28, 32), 0xFFFD)]
_SAMPLE = 2_000
_TAG = re.compile(r"<(/?[a-zA-Z][^\s/>]*)")
_LONG_TAG = re.compile(
    r"""<[a-zA-Z](?>(?:[^<>"']*+(?:"[^"]*+"|'[^']*+')){15000}|[^<>"']{100000})"""
)
_NO_TAGS = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.I | re.S)
_FRAME_TAG = re.compile(r"</?iframe\b[^>]*>", re.I)
#: Elements that never hold others, or that close themselves: they cannot nest without another
#: between.
_FLAT = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr", "p", "li", "dt", "dd", "option", "tr", "td", "th", "thead", "tbody", "tfoot",
    "script", "style", "path", "use", "circle", "rect", "line", "polygon", "g",
))  # fmt: skip
#: Formatting elements that can stand open within each other (`a` and `nobr` close themselves).
_FORMATTING = frozenset((
    "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u",
))  # fmt: skip


def bounded(html: str | bytes) -> str:
    """The page as text, safe to parse. Raises TooLarge over the limits on size and nesting,
    Unreadable for binary data.

    Null characters are dropped, and so are the tags of frames.
    """
    if len(html) > MOST_BYTES:
        raise TooLarge(f"the page has {len(html):,} bytes, the limit is {MOST_BYTES:,}")
    text = decoded(html) if isinstance(html, bytes) else html
    start = text[:_SAMPLE]
    if sum(map(start.count, _BINARY)) * 20 > len(start):
        raise Unreadable("this is no page but binary data", hint="check its type")
    if "\0" in text:
        text = text.replace("\0", "")
    if "<iframe" in text or "<IFRAME" in text:
        # An unclosed one would swallow the rest of the page as its text.
        text = _FRAME_TAG.sub("", text)
    _check_tags(text)
    return text


def decoded(html: bytes) -> str:
    """Bytes as text: by the byte-order mark, else the declared charset, else UTF-8; what cannot be
    decoded becomes U+FFFD.
    """
    if html.startswith((b"\xff\xfe", b"\xfe\xff")):
        return html.decode("utf-16", "replace")
    if html.startswith(b"\xef\xbb\xbf"):
        return html[3:].decode("utf8", "replace")
    try:
        return html.decode("utf8")
    except UnicodeDecodeError:
        pass
    match = _CHARSET.search(html[:4096])
    name = (match[1] or match[2]).decode("ascii").lower() if match else "cp1252"
    if name in ("iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii"):
        name = "cp1252"  # as browsers read it
    try:
        return html.decode(name, "replace")
    except (LookupError, ValueError):
        return html.decode("utf8", "replace")


def _check_tags(text: str) -> None:
    """Refuse what would take the parser a time or a room that grows with the square of the input.

    That are elements within elements, formatting elements left open (they are opened again in every
    block that follows) and attributes of one element (each is compared with those before it).
    """
    opened = text.count("<") - text.count("</")
    if opened > MOST_TAGS:
        raise TooLarge(f"the page has {opened:,} tags, the limit is {MOST_TAGS:,}")
    if (
        len(text) > HARMLESS_BYTES
        and _LONG_TAG.search(text)
        and _LONG_TAG.search(_NO_TAGS.sub("", text))
    ):
        raise TooLarge("an element of the page has too many attributes")
    if opened < HARMLESS_TAGS:
        return
    tags = _TAG.findall(text)
    counts: Counter[str] = Counter()
    for tag, count in Counter(tags).items():
        counts[tag.lower()] += count
    nesting = sum(count for tag, count in counts.items() if tag[0] != "/" and tag not in _FLAT)
    formatting = sum(counts[tag] for tag in _FORMATTING)
    if nesting > MOST_NESTING or formatting * opened > MOST_REOPENED:
        _follow(tags)


def _follow(tags: list[str]) -> None:
    """Open and close the elements one by one, as far as can be told without parsing."""
    open_now: Counter[str] = Counter()
    depth = formatting = reopened = 0
    for tag in map(str.lower, tags):
        name, step = (tag[1:], -1) if tag[0] == "/" else (tag, 1)
        if step > 0:
            reopened += formatting
        if name in _FLAT or (step < 0 and not open_now[name]):
            continue
        open_now[name] += step
        depth += step
        formatting += step * (name in _FORMATTING)
        if depth > MOST_NESTING or reopened > MOST_REOPENED:
            raise TooLarge(f"the page leaves too many elements open ({depth:,})")

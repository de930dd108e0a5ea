"""Remove badges, comments, link lists and HTML tags from Markdown, except in code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.extract.markdown_writer import (
    blocks,
    code_span,
    fence,
    item,
    plain,
    quote,
    table,
    write_heading,
)
from spadework.tools.extract.notation import Place, joined
from spadework.tools.text.facts import moment

_TAGS = (
    "a abbr address article aside b big blockquote body br button caption center cite code col"
    " colgroup dd del details dfn div dl dt em figcaption figure font footer form h1 h2 h3 h4 h5 h6"
    " head header hr html i iframe img input ins kbd label li link main mark meta nav object ol p"
    " picture pre q s samp script section small source span strike strong style sub summary sup svg"
    " table tbody td tfoot th thead title tr tt u ul var video wbr"
)
_NAMED = rf"/?(?:{'|'.join(_TAGS.split())})(?=[\s/>])|[!?]"
_KNOWN, _UNKNOWN = re.compile(f"<(?:{_NAMED})", re.I), re.compile(f"<(?!{_NAMED})", re.I)


def is_known_tag(tag: str) -> bool:
    """Return whether `tag` is HTML and not a placeholder such as `<name>`."""
    return _KNOWN.match(tag) is not None


def html_markdown(source: str) -> str:
    """Return HTML as Markdown, keeping placeholders (`<name>`). Raises TooLarge or Unreadable."""
    # Imported here, because most Markdown contains no HTML.
    from spadework.tools.extract.html import read_fragment

    return read_fragment(_UNKNOWN.sub("&lt;", source))


_WORD = re.compile(r"\w")
_LINE_BREAK = re.compile(r"<br\b", re.I)
_SCRIPT_TAG = re.compile(r"<(/?)(su[bp])\b", re.I)
_NOTE_LINK = re.compile(r"<a\b[^<>]*#", re.I)
_IMAGE = re.compile(r"<img\b[^<>]*>", re.I)
_LINK = re.compile(r"\[([^\]]*)\]\([^()]*\)")
_CODE_TAG = re.compile(r"</?(?:code|kbd|samp|tt)\s*>", re.I)


@dataclass(frozen=True)
class Words:
    """The Markdown of a block. `linked` and `unlinked` count the word characters inside and outside
    links, and `anchors` counts the links within the page. `pictured` is true if an image or tag was
    removed.
    """

    text: str
    links: tuple[Link, ...]
    linked: int
    unlinked: int
    anchors: int
    pictured: bool

    @property
    def empty(self) -> bool:
        """True if the block is blank, or only punctuation is left after removing images or tags."""
        return not _WORD.search(self.text) and (self.pictured or not self.text.strip())


class _Writer:
    def __init__(self, base: str) -> None:
        self.base = base
        self.parts: list[tuple[str, Place]] = []
        self._place = Place.LEVEL
        self.links: list[Link] = []
        self.linked = self.unlinked = self.anchors = 0
        self.pictured = False
        self._open: list[tuple[str, int]] = []

    def write(self, token: Token) -> None:
        match token.type:
            case "text" | "text_special":
                self._text(token.markup if token.info == "escape" else token.content)
            case "code_inline":
                self._text(code_span(token.content))
            case "softbreak":
                self._add(" ")
            case "hardbreak":
                self._add("\n")
            case "link_open":
                if self._place == Place.RAISED and str(token.attrs.get("href", "")).startswith("#"):
                    self._place = Place.NOTE
                self._open.append((str(token.attrs.get("href", "")), len(self.parts)))
            case "link_close":
                self._close()
            case "html_inline":
                self._tag(token.content)
            case "image":
                self._image(token)
            case _:
                self._add(token.markup)

    def _add(self, text: str) -> None:
        self.parts.append((text, self._place))

    def _text(self, text: str) -> None:
        self._add(text)
        letters = len(_WORD.findall(text))
        if self._open:
            self.linked += letters
        else:
            self.unlinked += letters

    def _close(self) -> None:
        href, start = self._open.pop()
        text = joined(self.parts[start:]).strip()
        self.anchors += href.startswith("#")
        if text and (url := absolute(href, self.base)):
            self.links.append(Link(url, text))

    def _tag(self, tag: str) -> None:
        if not is_known_tag(tag):
            self._text(tag)
        elif _CODE_TAG.match(tag):
            self._add("`")
        elif script := _SCRIPT_TAG.match(tag):
            raised = Place.RAISED if script[2].lower() == "sup" else Place.LOWERED
            self._place = Place.LEVEL if script[1] else raised
        else:
            self._add("\n" if _LINE_BREAK.match(tag) else "")
            if self._place == Place.RAISED and _NOTE_LINK.match(tag):
                self._place = Place.NOTE
            self.pictured = True

    def _image(self, token: Token) -> None:
        # Drop images in links or at the start of a block, because they are usually badges. Keep
        # the text of other images, because they may be part of a sentence.
        self.pictured = True
        if not self._open and self.unlinked:
            self._add(token.content)


def absolute(href: str, base: str) -> str:
    """Return the absolute http(s) URL of a link, or ""."""
    try:
        url = urljoin(base, href)
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:  # Raised for URLs such as http://[.
        return ""


def words(tokens: Sequence[Token], base: str) -> Words:
    """Return the text of inline `tokens`, with links resolved against `base`."""
    writer = _Writer(base)
    for token in tokens:
        writer.write(token)
    lines = joined(writer.parts).split("\n")
    lines = [re.sub(r"  +", " ", line) if "`" not in line else line for line in lines]
    text = "\n".join(line.strip() for line in lines)
    kept = re.sub(r"\n+", "\n", text).strip()
    return Words(
        kept, tuple(writer.links), writer.linked, writer.unlinked, writer.anchors, writer.pictured
    )


_CONTENTS = re.compile(r"\W*(?:table of )?contents?\W*|\W*toc\W*|\W*on this page\W*", re.I)
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?|===)(?:\s|$)")
_ALERT = re.compile(r"\A\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*")
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
_CODE_DIRECTIVES = frozenset((
    "code", "code-block", "code-cell", "sourcecode", "doctest", "literalinclude", "parsed-literal",
))  # fmt: skip
_FRONT_MATTER = re.compile(
    r"\A\ufeff?(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.S
)
_FIELD = re.compile(r"^([A-Za-z][\w-]*)\s*[:=]\s*(.*?)\s*$", re.M)
_NOTE = re.compile(r"^ {0,3}\[\^([\w-]{1,40})\]:[ \t]*", re.M)
_CALL = re.compile(r"\[\^([\w-]{1,40})\]")
#: The maximum nesting depth of fenced blocks that contain Markdown, such as MyST directives.
_MAX_NESTED = 3


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")


def clean_markdown(text: str, url: str) -> Extracted:
    """Return cleaned Markdown with one line per paragraph, ATX headings and fenced code. Links
    become text, and their absolute URLs are listed in `links`. The title comes from the front
    matter, or else from the main heading.
    """
    fields, body = _front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    reader = _Reader(url)
    markdown = blocks(reader.read(_with_notes(body)))
    return Extracted(
        title=fields.get("title") or reader.title,
        markdown=markdown + "\n" if markdown else "",
        author=fields.get("author", ""),
        published_at=moment(fields.get("date", "")),
        language=fields.get("lang", fields.get("language", "")),
        links=tuple(dict.fromkeys(reader.links)),
        kind="documentation",
    )


def _with_notes(text: str) -> str:
    known = set(_NOTE.findall(text)) if "[^" in text else ()
    if not known:
        return text
    shown = _NOTE.sub(r"\n[\1] ", text)
    return _CALL.sub(lambda mark: f"[{mark[1]}]" if mark[1] in known else mark[0], shown)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(match[2])}
    return (fields, text[match.end() :]) if fields else ({}, text)


class _Reader:
    """Reads a file's blocks and its title."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.title = ""
        self.links: list[Link] = []
        self._sections = 0
        self._nested = 0
        self._begun = False

    def read(self, text: str) -> list[str]:
        return _without_empty_contents(self._blocks(_Cursor(_parser().parse(text))))

    def _blocks(self, cursor: _Cursor) -> list[str]:
        found: list[str] = []
        while (token := cursor.next()) and token.nesting >= 0:
            block = self._block(token, cursor, found[-1] if found else "")
            found += [block] if block.strip() else []
            self._begun = self._begun or bool(found)
        return found

    def _block(self, token: Token, cursor: _Cursor, before: str) -> str:
        match token.type:
            case "heading_open":
                return self._read_heading(int(token.tag[1]), cursor)
            case "paragraph_open":
                return self._paragraph(cursor)
            case "fence":
                return self._fence(token)
            case "code_block":
                inner = _ADMONITION.match(before)
                return self._inner(token.content) if inner else fence(token.content)
            case "html_block":
                return self._html(token.content)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, cursor)
            case "blockquote_open":
                text = blocks(self._blocks(cursor))
                text = _ALERT.sub(lambda kind: f"**{kind[1].capitalize()}:** ", text)
                return quote(text) if text else ""
            case "table_open":
                return self._table(cursor)
            case _:
                return ""

    def _read_heading(self, level: int, cursor: _Cursor) -> str:
        found = self._words(cursor)
        cursor.next()
        self._sections += level > 1
        if not self.title and not found.empty and (level == 1 or not self._begun):
            self.title = found.text.replace("`", "").replace("*", "")
        return "" if found.empty else write_heading(found.text, level)

    def _paragraph(self, cursor: _Cursor) -> str:
        found = self._words(cursor)
        cursor.next()
        only_links = found.linked and not found.unlinked and len(found.links) + found.anchors > 1
        # A paragraph of links is navigation if it precedes the first section, or if all its links
        # lead to anchors.
        navigation = only_links and (not self._sections or not found.links)
        return "" if found.empty or navigation else plain(found.text)

    def _words(self, cursor: _Cursor) -> Words:
        token = cursor.next()
        found = words(token.children or [] if token else [], self.url)
        self.links += found.links
        return found

    def _fence(self, token: Token) -> str:
        info = token.info.strip()
        directive = _DIRECTIVE.match(info)
        if not directive:
            return fence(token.content, info.split()[0].strip("{}.").lower() if info else "")
        if directive[1] in _CODE_DIRECTIVES:
            return fence(token.content, directive[2].strip().lower())
        return self._inner(token.content)

    def _inner(self, text: str) -> str:
        if self._nested >= _MAX_NESTED:
            return fence(text)
        self._nested += 1
        found = blocks(self.read(text))
        self._nested -= 1
        return found

    def _html(self, source: str) -> str:
        text = html_markdown(_IMAGE.sub("", source))  # Drop images: mostly badges and logos.
        first = re.match(r"# (.+)", text)
        if first and not self.title:
            self.title = _LINK.sub(r"\1", first[1])
        return text

    def _list(self, token: Token, cursor: _Cursor) -> str:
        start = cursor.position
        number = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
        items: list[str] = []
        tight = True
        while (entry := cursor.next()) and entry.nesting > 0:
            inner = cursor.peek()
            tight = tight and (inner is None or inner.type != "paragraph_open" or inner.hidden)
            found = self._blocks(cursor)
            dense = tight and not any(part.startswith("```") for part in found)
            text = "\n".join(found) if dense else blocks(found)
            if text:
                items.append(item(text, "-" if number is None else f"{number + len(items)}."))
        if _is_contents(cursor.since(start)):
            return ""
        return ("\n" if tight else "\n\n").join(items)

    def _table(self, cursor: _Cursor) -> str:
        rows: list[list[str]] = []
        depth = 1
        while depth and (token := cursor.next()):
            depth += (token.type == "table_open") - (token.type == "table_close")
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                found = words(token.children or [], self.url)
                self.links += found.links
                rows[-1].append("" if found.empty else found.text)
        return table([row for row in rows if any(row)])


class _Cursor:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self) -> Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def next(self) -> Token | None:
        token = self.peek()
        self.position += 1
        return token

    def since(self, start: int) -> list[Token]:
        return self.tokens[start : self.position]


def _is_contents(tokens: list[Token]) -> bool:
    found = [words(token.children or [], "") for token in tokens if token.type == "inline"]
    return sum(each.anchors for each in found) > 1 and not any(
        each.unlinked or each.links for each in found
    )


def _without_empty_contents(found: list[str]) -> list[str]:
    below = [*found[1:], "#"]

    def empty(block: str, after: str) -> bool:
        headed = block.startswith("#") and after.startswith("#")
        return headed and bool(_CONTENTS.fullmatch(block.lstrip("# ")))

    return [block for block, after in zip(found, below, strict=False) if not empty(block, after)]

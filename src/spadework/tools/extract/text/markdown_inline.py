"""The words of a Markdown block: links become text, images and HTML go, code stays exact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from markdown_it.token import Token

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.markdown_writer import code_span
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.text.markdown_html import is_known_tag

_WORD = re.compile(r"\w")
_BREAK = re.compile(r"<br\b", re.I)
_SCRIPT_TAG = re.compile(r"<(/?)(su[bp])\b", re.I)
_NOTE_LINK = re.compile(r"<a\b[^<>]*#", re.I)
_CODE_TAG = re.compile(r"</?(?:code|kbd|samp|tt)\s*>", re.I)


@dataclass(frozen=True)
class Words:
    """Markdown of a block's words. `linked` and `unlinked` count letters inside and outside links,
    `anchors` counts links into the page; `pictured` if an image or tag was removed.
    """

    text: str
    links: tuple[Link, ...]
    linked: int
    unlinked: int
    anchors: int
    pictured: bool

    @property
    def empty(self) -> bool:
        """Whether nothing is left but what was around images."""
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
            self._add("\n" if _BREAK.match(tag) else "")
            if self._place == Place.RAISED and _NOTE_LINK.match(tag):
                self._place = Place.NOTE
            self.pictured = True

    def _image(self, token: Token) -> None:
        # A badge or logo links somewhere; a sentence may need the picture's text.
        self.pictured = True
        if not self._open and self.unlinked:
            self._add(token.content)


def absolute(href: str, base: str) -> str:
    """Return a link's http(s) URL, or "" for others."""
    try:
        url = urljoin(base, href)
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:  # such as http://[
        return ""


def words(tokens: Sequence[Token], base: str) -> Words:
    """Return the cleaned words of inline `tokens`; relative links are resolved against `base`."""
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

"""RTF files as Markdown: headings, paragraphs, lists, tables, listings and links, without what is
hidden.

striprtf gives the text alone, and some files take it a time that grows with the square of their
size; its tables of destinations and of character sets are used.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from locale import windows_locale

from striprtf.striprtf import destinations

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract.docx_styles import Style, by_name, is_fixed_font
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.rtf_blocks import Blocks
from spadework.tools.extract.rtf_parts import SIGNS, code_page, codec, parts, whole_signs
from spadework.tools.extract.rtf_state import State, changed

#: Groups nested deeper than this are in no file that was written by a program for texts.
MAX_DEPTH = 10_000

#: Groups whose text is not shown but says something, by the word they begin with: what it says.
_PLACES = {
    "fonttbl": "font",
    "stylesheet": "style",
    "fldinst": "target",
    "listtext": "marker",
    "pntext": "marker",
}
_PLACES |= {"title": "title", "author": "author", "creatim": "created", "revtim": "revised"}
_UNSEEN = (
    (frozenset(destinations) | {"listtable", "listoverridetable", "deleted", "nonesttables"})
    - frozenset(_PLACES)
    - {"info"}
)
_PARAGRAPH_ENDS = frozenset({"par", "sect", "page", "column"})
_DATE_WORDS = ("yr", "mo", "dy")
_TARGET = re.compile(r'HYPERLINK\s+"?(https?://[^"\s()<>]+)')


def extract_rtf(body: bytes, url: str) -> Extracted:
    """The text of an RTF file with its title, author and date. Raises Unreadable when it is none,
    TooLarge when nested too deep.
    """
    if not body.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("The RTF file is damaged: it does not begin as one.")
    document = _Document()
    document.read(body)
    return document.extracted()


class _Document:
    def __init__(self) -> None:
        self._blocks = Blocks()
        self._state = State()
        self._around: list[State] = []
        self._default = "cp1252"
        self._default_font: int | None = None
        self._codecs: dict[int | None, str] = {}
        self._fixed: set[int | None] = set()
        self._styles: dict[int | None, Style] = {}
        self._said: dict[str, str] = {}
        self._dates: dict[str, dict[str, int]] = {}
        self._language = ""
        self._bytes = bytearray()
        self._skipped = 0

    def read(self, body: bytes) -> None:
        """Take in the whole file; what stands behind the end of its outer group is no part of
        it.
        """
        for what, text, number in parts(body):
            if not what:
                self._take(text)
                continue
            self._flush()
            self._skipped = 0
            if what == "{":
                self._open()
            elif what == "}":
                self._close()
                if not self._around:
                    break
            elif self._state.place != "unseen":
                self._word(what, number)
        self._flush()

    def extracted(self) -> Extracted:
        """What was read."""
        said = {name: whole_signs(" ".join(text.split())) for name, text in self._said.items()}
        return Extracted(
            markdown=self._blocks.markdown(),
            title=said.get("title") or self._blocks.title,
            author=said.get("author", ""),
            published_at=_day(self._dates.get("revised") or self._dates.get("created") or {}),
            language=self._language,
            links=tuple(self._blocks.links.values()),
            kind="rtf",
        )

    def _take(self, text: bytes) -> None:
        dropped = min(self._skipped, len(text))
        self._skipped -= dropped
        if self._state.place != "unseen":
            self._bytes += text[dropped:]

    def _flush(self) -> None:
        """Bytes become text when all of a run are there: a sign may have two, and each be written
        in its own way.
        """
        if self._bytes:
            font = self._default_font if self._state.font is None else self._state.font
            self._write(self._bytes.decode(self._codecs.get(font, self._default), "replace"))
            self._bytes.clear()

    def _write(self, text: str) -> None:
        state = self._state
        if state.place == "text" and not state.hidden:
            self._blocks.write(text, fixed=state.font in self._fixed)
        elif state.place == "marker":
            self._blocks.mark(text)
        elif state.place in ("font", "style"):
            self._name(text.strip().rstrip(";"))
        elif state.place not in ("text", "unseen"):
            self._said[state.place] = self._said.get(state.place, "") + text

    def _name(self, name: str) -> None:
        """A name in the table of fonts or of styles."""
        state = self._state
        if state.place == "font" and is_fixed_font(name):
            self._fixed.add(state.font)
        elif state.place == "style" and name:
            self._styles[state.style] = by_name(Style(level=state.level), name)

    def _open(self) -> None:
        if len(self._around) >= MAX_DEPTH:
            raise TooLarge(f"The groups of the RTF file are nested deeper than {MAX_DEPTH:,}.")
        self._around.append(self._state)

    def _close(self) -> None:
        inner, self._state = self._state, self._around.pop() if self._around else State()
        if inner.link and not self._state.link:
            self._blocks.end_link(inner.link)

    def _word(self, word: str, number: int | None) -> None:
        if word == "*":
            self._state = replace(self._state, starred=True)
        elif word in _PLACES or word in _UNSEEN or self._state.starred:
            self._state = replace(self._state, place=_PLACES.get(word, "unseen"), starred=False)
            if word == "fldinst":
                self._said["target"] = ""
        elif word in SIGNS:
            self._write(SIGNS[word])
        elif word == "u":
            self._write(chr((number or 0) & 0xFFFF))
            self._skipped = self._state.skip
        elif state := changed(self._state, word, number):
            self._state = state
        elif self._state.place == "text":
            self._structure(word, number)
        else:
            self._fact(word, number)

    def _structure(self, word: str, number: int | None) -> None:
        """A word that parts the text, or tells how all of it is written."""
        if word in _PARAGRAPH_ENDS:
            self._blocks.end_paragraph(self._state, self._styles.get(self._state.style, Style()))
        elif word == "cell":
            self._blocks.end_cell()
        elif word == "row":
            self._blocks.end_row()
        elif word == "fldrslt":
            found = _TARGET.search(self._said.pop("target", ""))
            self._state = replace(self._state, link=found[1] if found else "")
            self._blocks.begin_link()
        elif word == "ansicpg":
            self._default = code_page(number)
        elif word == "deff":
            self._default_font = number
        elif word == "deflang":
            self._language = windows_locale.get(number or 0, "").partition("_")[0]

    def _fact(self, word: str, number: int | None) -> None:
        """A word about a font, or about the day of a change."""
        if word == "fcharset":
            self._codecs[self._state.font] = codec(number, self._default)
        elif word == "fmodern":
            self._fixed.add(self._state.font)
        elif word in _DATE_WORDS:
            self._dates.setdefault(self._state.place, {})[word] = number or 0


def _day(said: dict[str, int]) -> datetime | None:
    try:
        return datetime(said["yr"], said["mo"], said["dy"], tzinfo=UTC)
    except (KeyError, ValueError, OverflowError):
        return None

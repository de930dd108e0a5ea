"""The blocks of an RTF file as they are told: texts of a line, ends of paragraphs, cells and rows,
and links around texts.
"""

from __future__ import annotations

import re

from spadework.tools.extract.docx_styles import Style
from spadework.tools.extract.draft import Draft
from spadework.tools.extract.extracted import Link
from spadework.tools.extract.rows import sheet_table
from spadework.tools.extract.rtf_parts import whole_signs
from spadework.tools.extract.rtf_state import State
from spadework.tools.extract.writing import heading, plain

#: The marker of an item that counts; others are bullets of any form, a letter "o" among them.
_NUMBERED = re.compile(r"\s*(?:\w{1,9}[.)]|\(\w{1,9}\)|\d+)\s*$")


class Blocks:
    """The Markdown of a file, and its links."""

    def __init__(self) -> None:
        self.title = ""
        self.links: dict[str, Link] = {}
        self._draft = Draft()
        self._line: list[
            tuple[str, bool]
        ] = []  # texts, and whether each is in a font of fixed width
        self._marker: str | None = None
        self._link_from = 0
        self._cells: list[str] = []
        self._rows: list[list[str]] = []

    def write(self, text: str, *, fixed: bool) -> None:
        """A text of the line."""
        self._line.append((text, fixed))

    def mark(self, text: str) -> None:
        """A text of the marker that makes the line an item of a list."""
        self._marker = (self._marker or "") + text

    def begin_link(self) -> None:
        """What follows, up to `end_link`, is the text of a link."""
        self._link_from = len(self._line)

    def end_link(self, target: str) -> None:
        """The text of a link ends."""
        text = whole_signs("".join(text for text, _ in self._line[self._link_from :])).strip()
        if text:
            self.links.setdefault(target, Link(target, " ".join(text.split())))
            self._line[self._link_from :] = [
                (text if text == target else f"[{text}]({target})", False)
            ]

    def end_paragraph(self, state: State, style: Style) -> None:
        """The line ends; in a table it goes on in its cell."""
        if state.in_table:
            self._line.append(("\n", True))
            return
        self._end_table()
        line, marker = self._taken()
        text = whole_signs("".join(text for text, _ in line))
        level = state.level or style.level
        if style.code or (
            text.strip() and not level and all(fixed for part, fixed in line if part.strip())
        ):
            for row in text.replace("\xa0", " ").split("\n"):
                self._draft.code(row)
        elif text.strip() and level:
            self.title = self.title or " ".join(text.split())
            self._draft.add(heading(text, level))
        elif text.strip() and marker is not None:
            self._draft.item(plain(text), state.depth, numbered=bool(_NUMBERED.match(marker)))
        elif text.strip():
            self._draft.add(plain(text))

    def end_cell(self) -> None:
        """The line is a cell of a table."""
        line, _ = self._taken()
        self._cells.append(" ".join(whole_signs("".join(text for text, _ in line)).split()))

    def end_row(self) -> None:
        """The cells are a row."""
        self._rows.append(self._cells)
        self._cells = []

    def markdown(self) -> str:
        """All of it."""
        self.end_paragraph(State(), Style())
        return self._draft.markdown()

    def _taken(self) -> tuple[list[tuple[str, bool]], str | None]:
        taken = self._line, self._marker
        self._line, self._marker, self._link_from = [], None, 0
        return taken

    def _end_table(self) -> None:
        if self._cells:
            self.end_row()
        if self._rows:
            self._draft.add(sheet_table(self._rows))
            self._rows = []

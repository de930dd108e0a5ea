"""A place in the lines of a docstring, and what is taken from there on."""

from __future__ import annotations

from spadework.tools.library import docstring_syntax as syntax
from spadework.tools.library.docstring_lines import dedent_lines, indent


class LineCursor:
    """Lines, and the one that is read next."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0

    def take_indented(self, margin: int) -> list[str]:
        """The lines from here on indented deeper than `margin`, dedented, empty ones between."""
        start = end = self.at
        for number in range(start, len(self.lines)):
            if not self.lines[number].strip():
                continue
            if indent(self.lines[number]) <= margin:
                break
            end = number + 1
        self.at = end
        return dedent_lines(self.lines[start:end])

    def take_below(self) -> list[str]:
        """The lines that are indented below this one, which is passed."""
        self.at += 1
        return self.take_indented(indent(self.lines[self.at - 1]))

    def is_underlined(self) -> bool:
        """Whether the next line of the same indentation underlines this one."""
        line, below = (
            self.lines[self.at],
            self.lines[self.at + 1] if self.at + 1 < len(self.lines) else "",
        )
        mark = syntax.UNDERLINE.match(below.strip())
        return bool(
            mark
            and indent(below) == indent(line)
            and len(below.strip()) >= min(3, len(line.strip()))
            and not syntax.UNDERLINE.match(line.strip())
        )

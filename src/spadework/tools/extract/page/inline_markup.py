"""The text of one paragraph: inline HTML as Markdown that renders to the same characters."""

from __future__ import annotations

import re

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.writing import code_span

#: All white space but a single blank, which is nearly all there is and stays as it is.
_SPACE = re.compile(r"[\t\r\n\f\xa0][ \t\r\n\f\xa0]*| [ \t\r\n\f\xa0]+")
_SPECIAL = re.compile(r"[\\`*_<&~]|\]\(")
_ESCAPES = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|`|(?<! )\*|\*(?! )|(?<![^\W_])_(?! )|(?<!"
    r" )_(?![^\W_]|\()|<(?=[A-Za-z/!?]|$)|&(?=#?\w+;)|~(?=~)|\](?=\()"
)
_LINE_START = re.compile(
    r"^(?:(?P<mark>#{1,6}(?= |$)|>|[-+*](?= |$)|=+ *$|-+"
    r" *$|~~~)|(?P<number>\d{1,9})(?P<dot>[.)])(?= |$))|^\[(?=[^\]]*\]:)",
    re.M,
)
_BRACKET = re.compile(r"(?<!\\)[\[\]]")


def escaped(text: str) -> str:
    """`text` with a backslash before the characters that Markdown would read as markup."""
    return _ESCAPES.sub(r"\\\g<0>", text) if _SPECIAL.search(text) else text


def _line_start(match: re.Match[str]) -> str:
    if match["number"]:
        return f"{match['number']}\\{match['dot']}"
    return "\\" + match[0]


class Mark:
    """An inline element that is open: where it began in the line, and for a link where it leads."""

    __slots__ = ("sign", "start", "url")

    def __init__(self, sign: str, start: int, url: str = "") -> None:
        self.sign, self.start, self.url = sign, start, url


class Line:
    """Gathers one paragraph; links and marks that are open stay so when it is taken."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.chars = 0
        self.link_chars = 0
        self.links: list[Link] = []
        self._spaced = True
        self._open: list[Mark] = []
        self._linked = 0
        self._after_link = 0

    def text(self, data: str) -> None:
        """Text of the page, its white space folded."""
        if not data or data.isspace():
            self.space()
            return
        data = _SPACE.sub(" ", data)
        if self._spaced and data[0] == " ":
            data = data[1:]
        self.raw(escaped(data), len(data))

    def raw(self, markdown: str, chars: int) -> None:
        """Finished Markdown of which `chars` characters are seen."""
        if not markdown:
            return
        self.parts.append(markdown)
        self._spaced = markdown[-1] == " "
        self.chars += chars
        if self._linked:
            self.link_chars += chars

    def code(self, text: str) -> None:
        """Inline code."""
        if text.strip():
            self.raw(code_span(text), len(text))
        elif text:
            self.text(text)

    def line_break(self) -> bool:
        """A `<br>`: True when it is the second in a row, which ends the paragraph."""
        if not self.parts:
            return False
        if self.parts[-1] == "\n":
            return True
        self.parts[-1] = self.parts[-1].rstrip(" ")
        self.parts.append("\n")
        self._spaced = True
        return False

    def space(self) -> None:
        """White space where two blocks meet inside a heading or a cell."""
        if not self._spaced and self.parts:
            self.parts.append(" ")
            self._spaced = True

    def before(self) -> str:
        """Return the last piece that is more than white space, or ""."""
        return next((part for part in reversed(self.parts[-2:]) if part.strip()), "")

    def open(self, sign: str, url: str = "") -> Mark:
        """Begin emphasis (`sign` is its Markdown) or a link."""
        mark = Mark(sign, len(self.parts), url)
        self._open.append(mark)
        if sign == "[":
            self._linked += 1
        return mark

    def close(self, mark: Mark) -> None:
        """End what `open` began."""
        self._open.remove(mark)
        if mark.sign == "[":
            self._linked -= 1
        self._wrap(mark)

    def take(self) -> str:
        """The paragraph as Markdown, "" when there is none; counters stay until `reset`."""
        for mark in reversed(self._open):
            if mark.sign == "[":
                self._wrap(mark)
        text = "".join(self.parts).strip(" \n")
        return _LINE_START.sub(_line_start, text) if text else ""

    def reset(self) -> None:
        """Begin the next paragraph."""
        self.parts = []
        self.links = []
        self.chars = self.link_chars = 0
        self._spaced = True
        self._after_link = 0
        for mark in self._open:
            mark.start = 0

    def _wrap(self, mark: Mark) -> None:
        inner = "".join(self.parts[mark.start :])
        core = inner.strip(" \n")
        if not core or (mark.sign == "[" and not mark.url):
            return
        lead, _, trail = inner.partition(core)
        if mark.sign == "[":
            wrapped = self._link(core, mark)
            if mark.start and mark.start == self._after_link and core[0].isalnum():
                lead = lead or " "  # only their style sets such links apart
        elif _markable(core) and not (
            mark.start and not lead and self.parts[mark.start - 1].endswith("*")
        ):
            wrapped = f"{mark.sign}{core}{mark.sign}"
        else:
            return
        self.parts[mark.start :] = [lead, wrapped, trail]
        if mark.sign == "[":
            self._after_link = len(self.parts)

    def _link(self, core: str, mark: Mark) -> str:
        core = core.replace("\n", " ")
        self.links.append(Link(mark.url, core))
        if core.count("[") != core.count("]") and "`" not in core:
            core = _BRACKET.sub(r"\\\g<0>", core)
        if mark.start and self.parts[mark.start - 1].endswith("!"):
            self.parts[mark.start - 1] = self.parts[mark.start - 1][:-1] + "\\!"
        url, mark.url = mark.url, ""  # a link around several blocks is written once, in the first
        return f"[{core}]({url})"


def _markable(core: str) -> bool:
    """True where `**` around `core` is sure to be read as emphasis."""
    return core[0].isalnum() and core[-1].isalnum() and "\n" not in core

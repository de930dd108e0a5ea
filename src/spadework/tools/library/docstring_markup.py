"""Docstrings as Markdown: Google, numpy, Sphinx sections, doctests, literal blocks, in any mixture.

Read line by line: a full reStructuredText parser takes a hundred times as long, and few docstrings
are valid for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spadework.tools.extract.writing import blocks, fence, heading, item, plain
from spadework.tools.library import docstring_syntax as syntax
from spadework.tools.library.docstring_lines import (
    LineCursor,
    broken_on_purpose,
    dedent_lines,
    entries,
    indent,
)
from spadework.tools.library.docstring_syntax import words

#: Blocks inside blocks that are followed; deeper ones are shown as they stand.
_MAX_DEPTH = 8


def docstring_markdown(text: str, level: int = 3) -> str:
    """A docstring (as `inspect.cleandoc` gives it) as Markdown; its headings begin at `level`."""
    return _markdown(text, level, 0)


def _markdown(text: str, level: int, depth: int) -> str:
    if "\n" not in text:
        return plain(words(text))
    if depth > _MAX_DEPTH:
        return fence(text)
    return blocks(_Lines(text.expandtabs(8).split("\n"), level, depth).read())


class _Lines(LineCursor):
    """Each method takes the lines of one block and gives its Markdown; blocks nest to `depth`."""

    def __init__(self, lines: list[str], level: int, depth: int) -> None:
        super().__init__(lines)
        self.level = level
        self.depth = depth

    def read(self) -> list[str]:
        found: list[str] = []
        while self.at < len(self.lines):
            if not self.lines[self.at].strip():
                self.at += 1
                continue
            found.append(self._block())
        return found

    def _block(self) -> str:
        if self.is_underlined():
            return self._underlined()
        bare = self.lines[self.at].strip()
        for pattern, read in _BLOCKS:
            if mark := pattern.match(bare):
                return read(self, mark)
        return self._paragraph()

    def _inner(self, text: str) -> str:
        return _markdown(text, min(self.level + 1, 6), self.depth + 1) if text.strip() else ""

    def _labelled(self, label: str, inner: str) -> str:
        if not inner:
            return f"**{label}**"
        return f"**{label}:**{_between(inner)}{inner}"

    def _admonition(self, mark: re.Match[str]) -> str:
        label = mark[2] or mark[1].capitalize()
        return self._labelled(label, self._inner("\n".join(self.take_below())))

    def _heading(self, mark: re.Match[str]) -> str:
        if self.lines[self.at].startswith(" "):
            return self._paragraph()  # a comment in code
        self.at += 1
        return heading(words(mark[2]), self.level + len(mark[1]) - 1)

    def _fenced(self, mark: re.Match[str]) -> str:
        ticks, language = mark.groups()
        margin = indent(self.lines[self.at])
        start = self.at = self.at + 1
        while self.at < len(self.lines) and not self.lines[self.at].strip().startswith(ticks):
            self.at += 1
        code = [line[min(margin, indent(line)) :] for line in self.lines[start : self.at]]
        self.at += 1
        return fence("\n".join(code), language.lower())

    def _doctest(self, _: re.Match[str]) -> str:
        """Prompts with their output; an empty line ends them unless another prompt follows."""
        margin = indent(self.lines[self.at])
        start = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            following = next((after for after in self.lines[self.at + 1 :] if after.strip()), "")
            if (not line.strip() and not following.strip().startswith(">>>")) or (
                line.strip() and indent(line) < margin
            ):
                break
            self.at += 1
        return fence("\n".join(dedent_lines(self.lines[start : self.at])), "pycon")

    def _directive(self, mark: re.Match[str]) -> str:
        name, argument = (mark[1] or "").lower(), (mark[2] or "").strip()
        body = self.take_below()
        while body and (not body[0].strip() or syntax.OPTION.match(body[0].strip())):
            body.pop(0)
        text = "\n".join(dedent_lines(body))
        if name in syntax.CODE:
            return fence(text, syntax.LANGUAGES.get(name, argument.lower())) if text else ""
        if name in syntax.VERSIONS:
            version, _, rest = argument.partition(" ")
            label = f"{syntax.VERSIONS[name]} {version}"
            return self._labelled(label, self._inner(f"{rest}\n{text}".strip()))
        if name in syntax.NOTES:
            label = "See also" if name == "seealso" else name.capitalize()
            return self._labelled(label, self._inner(f"{argument}\n{text}".strip()))
        # An unknown directive may hold text; a comment, a link's target or a picture does not.
        return self._inner(text) if name and name not in syntax.DROPPED else ""

    def _underlined(self) -> str:
        title, margin = self.lines[self.at].strip(), indent(self.lines[self.at])
        self.at += 2
        if not syntax.SECTION.match(f"{title}:"):
            return heading(words(title), self.level)
        start = self.at
        while self.at < len(self.lines) and not (
            indent(self.lines[self.at]) == margin and self.is_underlined()
        ):
            self.at += 1
        return self._named(title, dedent_lines(self.lines[start : self.at]))

    def _section(self, mark: re.Match[str]) -> str:
        return self._named(mark[1], self.take_below())

    def _named(self, name: str, body: list[str]) -> str:
        """A section of Google's or numpy's style."""
        label = name.strip().capitalize()
        numpy = len(body) > 1 and " : " in body[0] and body[1].startswith(" ")
        listed = name.lower() in syntax.NAMED or (numpy and name.lower() in syntax.TYPED)
        found = entries(body) if listed else []
        if not found:
            return self._labelled(label, self._inner("\n".join(body)))
        return f"**{label}:**\n\n" + "\n".join(self._entry(term, text) for term, text in found)

    def _entry(self, term: str, lines: list[str]) -> str:
        text = self._inner("\n".join(dedent_lines(lines)))
        return item(f"{term}:{_between(text)}{text}" if text else term)

    def _fields(self, _: re.Match[str]) -> str:
        items = []
        while self.at < len(self.lines) and (
            mark := syntax.FIELD.match(self.lines[self.at].strip())
        ):
            margin = indent(self.lines[self.at])
            self.at += 1
            rest = "\n".join(self.take_indented(margin))
            while self.at < len(self.lines) and not self.lines[self.at].strip():
                self.at += 1
            if mark[1] in ("type", "rtype", "vartype"):
                continue
            term = f"`{mark[2].split()[-1]}`" if mark[2].split() else mark[1].capitalize()
            items.append(self._entry(term, f"{mark[3]}\n{rest}".strip("\n").split("\n")))
        return "\n".join(items)

    def _list(self, _: re.Match[str]) -> str:
        items = []
        while self.at < len(self.lines) and (
            mark := syntax.ITEM.match(self.lines[self.at].strip())
        ):
            margin = indent(self.lines[self.at])
            first = self.lines[self.at].strip()[mark.end() :]
            self.at += 1
            while self._goes_on(margin):
                first += f" {self.lines[self.at].strip()}"
                self.at += 1
            rest = self.take_indented(margin)
            marker = f"{mark[1].strip('().')}." if mark[1].strip("().").isdigit() else "-"
            items.append(item(self._inner("\n".join([first, *rest])), marker))
            filled = (n for n in range(self.at, len(self.lines)) if self.lines[n].strip())
            after = next(filled, None)
            if after is not None and syntax.ITEM.match(self.lines[after].strip()):
                self.at = after
        return "\n".join(items)

    def _goes_on(self, margin: int) -> bool:
        """Whether this line goes on with a list item, though no deeper than the item's mark."""
        line = self.lines[self.at] if self.at < len(self.lines) else ""
        return bool(line.strip()) and indent(line) == margin and not self._ends_paragraph(margin)

    def _grid(self, _: re.Match[str]) -> str:
        """A table: pipe tables stay, tables drawn with other characters are fenced as they are."""
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip():
            self.at += 1
        rows = dedent_lines(self.lines[start : self.at])
        piped = rows[0].startswith("|") and len(rows) > 1 and set(rows[1]) <= set("|-: ")
        return "\n".join(rows) if piped else fence("\n".join(rows))

    def _paragraph(self) -> str:
        start = self.at
        margin = indent(self.lines[start])
        while (
            self.at < len(self.lines)
            and self.lines[self.at].strip()
            and (self.at == start or not self._ends_paragraph(margin))
        ):
            self.at += 1
        lines = [line.strip() for line in self.lines[start : self.at]]
        if lines[-1].endswith("::"):
            return self._literal(lines, margin)
        if margin >= 2 and syntax.LOOKS_CODE.search("\n".join(lines)):
            self.at = start
            return fence("\n".join(self.take_indented(margin - 1)))
        if len(lines) == 1 and syntax.REFERENCE.match(lines[0]):
            return ""
        if broken_on_purpose(lines):
            return plain("\n".join(words(line) for line in lines))
        text = " ".join(lines)
        return plain(words(text if "`" in text else " ".join(text.split())))

    def _ends_paragraph(self, margin: int) -> bool:
        line = self.lines[self.at]
        bare = line.strip()
        if indent(line) != margin:
            return bare.startswith((">>>", "```", "~~~"))
        begins = (syntax.ITEM, syntax.FIELD, syntax.SECTION, syntax.ADMONITION, syntax.FENCE)
        return (
            bare.startswith(">>>")
            or self.is_underlined()
            or any(pattern.match(bare) for pattern in begins)
        )

    def _literal(self, lines: list[str], margin: int) -> str:
        said = " ".join(lines)
        said = said[:-2].rstrip() if said.endswith(" ::") or said == "::" else said[:-1]
        code = "\n".join(self.take_indented(margin)).strip("\n")
        language = "pycon" if code.startswith(">>>") else ""
        return blocks([plain(words(said)), fence(code, language) if code else ""])


def _between(text: str) -> str:
    return "\n\n" if syntax.STARTS_BLOCK.match(text) else " "


_BLOCKS: tuple[tuple[re.Pattern[str], Callable[[_Lines, re.Match[str]], str]], ...] = (
    (syntax.FENCE, _Lines._fenced),
    (re.compile(">>>"), _Lines._doctest),
    (syntax.DIRECTIVE, _Lines._directive),
    (syntax.ADMONITION, _Lines._admonition),
    (syntax.HEADING, _Lines._heading),
    (syntax.GRID, _Lines._grid),
    (syntax.SECTION, _Lines._section),
    (syntax.FIELD, _Lines._fields),
    (syntax.ITEM, _Lines._list),
)

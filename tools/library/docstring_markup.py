"""Docstrings as Markdown: Google, numpy and Sphinx sections, doctests and literal blocks, whatever the mixture.

Read line by line: a full reStructuredText parser takes a hundred times as long, and few docstrings are valid for it.
"""

from __future__ import annotations

import re
from textwrap import dedent

from spadework.tools.extract.writing import blocks, fence, heading, item, plain
from spadework.tools.library.docstring_words import words

_FENCE = re.compile(r"(`{3,}|~{3,})\s*\{?\.?([\w+#.-]*)")
_DIRECTIVE = re.compile(r"\.\. (?:[\w-]+:)?([\w-]+)::\s*(.*)")
_CODE = frozenset(["code", "code-block", "sourcecode", "testcode", "doctest", "ipython", "math", "productionlist"])
_NOTES = frozenset(
    [
        "note",
        "warning",
        "tip",
        "important",
        "caution",
        "danger",
        "seealso",
        "hint",
        "attention",
        "error",
        "admonition",
        "versionadded",
        "versionchanged",
        "deprecated",
    ]
)
_VERSIONS = {"versionadded": "Added in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version"}
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)\s+([\w-]+)(?:\s+\"(.*)\")?$")
_SECTION = re.compile(
    r"(args|arguments|parameters|params|keyword args|keyword arguments|other parameters|attributes|returns?|yields?|raises|warns|receives|"
    r"examples?|notes?|warnings?|see also|references|todo|tips?|methods|usage|important|caution|fields|side effects|since|implements)\s*:{1,2}$",
    re.I,
)
_NAMED = frozenset(["args", "arguments", "parameters", "params", "attributes", "raises", "warns", "fields", "methods"]) | {
    "keyword args",
    "keyword arguments",
    "other parameters",
}
_UNDERLINE = re.compile(r"([-=~^*+\"])\1{2,}$")
_FIELD = re.compile(
    r":(param|parameter|arg|argument|key|keyword|raises?|except|exception|ivar|var|cvar|returns?|yields?|rtype|type|vartype)\b\s*([^:]*):\s*(.*)"
)
_ITEM = re.compile(r"([-*+\u2022]|\d{1,3}[.)]|\(\d\))\s+(?=\S)")
_GRID = re.compile(r"[+=][-=+ ]{4,}$")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ENTRY = re.compile(r"([*\w.,/\\ \[\]|-]{1,60}?)\s*(\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*:(?!:)(?:\s+(.*)|$)")
_LOOKS_CODE = re.compile(
    r"^\s*(?:>>>|\$ |import |from \S+ import|def |class |async |await |with |for |if |while |return |@|#)|\w\(.*\)|\w = |[{}\[\]]|;$", re.M
)


def docstring_markdown(text: str, level: int = 3) -> str:
    """A docstring (dedented, as `inspect.cleandoc` gives it) as Markdown; its own headings begin at `level`."""
    if "\n" not in text:
        return plain(words(text))
    return blocks(_Lines(text.expandtabs(8).split("\n"), level).read())


class _Lines:
    """A reader of lines: each method takes the lines of one block and gives its Markdown."""

    def __init__(self, lines: list[str], level: int) -> None:
        self.lines = lines
        self.level = level
        self.at = 0

    def read(self) -> list[str]:
        """All blocks."""
        found: list[str] = []
        while self.at < len(self.lines):
            if not self.lines[self.at].strip():
                self.at += 1
                continue
            found.append(self._block())
        return found

    def _block(self) -> str:
        line = self.lines[self.at]
        bare = line.strip()
        if mark := _FENCE.match(bare):
            return self._fenced(mark[1], mark[2])
        if bare.startswith(">>>"):
            return self._doctest()
        if bare.startswith(".. "):
            return self._directive(bare)
        if mark := _ADMONITION.match(bare):
            self.at += 1
            return self._labelled(mark[2] or mark[1].capitalize(), self._inner("\n".join(self._indented(_indent(line)))))
        if mark := _HEADING.match(line):
            self.at += 1
            return heading(words(mark[2]), self.level + len(mark[1]) - 1)
        if self._is_underlined():
            return self._underlined(bare)
        if _GRID.match(bare) or bare.startswith("|"):
            return self._grid()
        if _SECTION.match(bare):
            return self._section(bare.rstrip(":"), self._after(line))
        if _FIELD.match(bare):
            return self._fields()
        if _ITEM.match(bare):
            return self._list()
        return self._paragraph()

    def _after(self, line: str) -> list[str]:
        self.at += 1
        return self._indented(_indent(line))

    def _indented(self, margin: int) -> list[str]:
        """The lines from here on that are indented deeper than `margin`, dedented, with empty lines between them."""
        start = end = self.at
        for number in range(start, len(self.lines)):
            if not self.lines[number].strip():
                continue
            if _indent(self.lines[number]) <= margin:
                break
            end = number + 1
        self.at = end
        return _dedented(self.lines[start:end])

    def _inner(self, text: str) -> str:
        return docstring_markdown(text, min(self.level + 1, 6)) if text.strip() else ""

    def _labelled(self, label: str, inner: str) -> str:
        if not inner:
            return f"**{label}**"
        first, _, rest = inner.partition("\n\n")
        return blocks([f"**{label}:** {first}", rest]) if first[0] not in "`#-|>0123456789" else f"**{label}:**\n\n{inner}"

    def _fenced(self, ticks: str, language: str) -> str:
        margin = _indent(self.lines[self.at])
        start = self.at = self.at + 1
        while self.at < len(self.lines) and not self.lines[self.at].strip().startswith(ticks):
            self.at += 1
        code = [line[min(margin, _indent(line)) :] for line in self.lines[start : self.at]]
        self.at += 1
        return fence("\n".join(code), language.lower())

    def _doctest(self) -> str:
        """Prompts with their output; an empty line ends them unless another prompt follows."""
        margin = _indent(self.lines[self.at])
        start = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            following = next((after for after in self.lines[self.at + 1 :] if after.strip()), "")
            if (not line.strip() and not following.strip().startswith(">>>")) or (line.strip() and _indent(line) < margin):
                break
            self.at += 1
        return fence("\n".join(_dedented(self.lines[start : self.at])), "pycon")

    def _directive(self, bare: str) -> str:
        margin = _indent(self.lines[self.at])
        mark = _DIRECTIVE.match(bare)
        self.at += 1
        body = self._indented(margin)
        name, argument = (mark[1].lower(), mark[2].strip()) if mark else ("", "")
        while body and (not body[0].strip() or re.match(r":[\w-]+:", body[0].strip())):
            body.pop(0)
        text = "\n".join(_dedented(body))
        if name in _CODE:
            return (
                fence(text, {"doctest": "pycon", "testcode": "python", "math": "", "ipython": "pycon"}.get(name, argument.lower()))
                if text
                else ""
            )
        if name in _VERSIONS:
            version, _, rest = argument.partition(" ")
            return self._labelled(f"{_VERSIONS[name]} {version}", self._inner(f"{rest}\n{text}".strip()))
        if name in _NOTES:
            return self._labelled("See also" if name == "seealso" else name.capitalize(), self._inner(f"{argument}\n{text}".strip()))
        # An unknown directive may hold text, a comment or a link target does not.
        return (
            self._inner(text)
            if name and argument.count(" ") == 0 and name not in ("image", "figure", "index", "autosummary", "toctree")
            else ""
        )

    def _is_underlined(self) -> bool:
        line, below = self.lines[self.at], self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        mark = _UNDERLINE.match(below.strip())
        return bool(
            mark
            and _indent(below) == _indent(line)
            and len(below.strip()) >= min(3, len(line.strip()))
            and not _UNDERLINE.match(line.strip())
        )

    def _underlined(self, bare: str) -> str:
        margin = _indent(self.lines[self.at])
        self.at += 2
        if not _SECTION.match(f"{bare}:"):
            return heading(words(bare), self.level)
        start = self.at
        while self.at < len(self.lines) and not (
            self.lines[self.at].strip() and _indent(self.lines[self.at]) == margin and self._is_underlined()
        ):
            self.at += 1
        return self._section(bare, _dedented(self.lines[start : self.at]))

    def _section(self, name: str, body: list[str]) -> str:
        label = name.strip().capitalize()
        if not body:
            return f"**{label}**"
        entries = _entries(body) if name.lower() in _NAMED else []
        if not entries:
            return self._labelled(label, self._inner("\n".join(body)))
        return f"**{label}:**\n\n" + "\n".join(self._entry(term, text) for term, text in entries)

    def _entry(self, term: str, lines: list[str]) -> str:
        text = self._inner("\n".join(_dedented(lines)))
        return item(
            f"{term}: {text}"
            if (text and text[0] not in "`#-|>") or (text[:1] == "`" and text[:3] != "```")
            else f"{term}:\n\n{text}"
            if text
            else term
        )

    def _fields(self) -> str:
        items = []
        while self.at < len(self.lines) and (mark := _FIELD.match(self.lines[self.at].strip())):
            margin = _indent(self.lines[self.at])
            self.at += 1
            rest = "\n".join(self._indented(margin))
            while self.at < len(self.lines) and not self.lines[self.at].strip():
                self.at += 1
            if mark[1] in ("type", "rtype", "vartype"):
                continue
            term = f"`{mark[2].split()[-1]}`" if mark[2].split() else mark[1].capitalize()
            items.append(self._entry(term, f"{mark[3]}\n{rest}".strip("\n").split("\n")))
        return "\n".join(items)

    def _list(self) -> str:
        items = []
        while self.at < len(self.lines) and (mark := _ITEM.match(self.lines[self.at].strip())):
            margin = _indent(self.lines[self.at])
            first = self.lines[self.at].strip()[mark.end() :]
            self.at += 1
            rest = self._indented(margin)
            marker = f"{mark[1].strip('().')}." if mark[1].strip("().").isdigit() else "-"
            items.append(item(self._inner("\n".join([first, *rest])), marker))
            after = next((n for n in range(self.at, len(self.lines)) if self.lines[n].strip()), len(self.lines))
            if after < len(self.lines) and _ITEM.match(self.lines[after].strip()):
                self.at = after
        return "\n".join(items)

    def _grid(self) -> str:
        """A table: pipe tables stay, tables drawn with other characters are fenced as they are."""
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip():
            self.at += 1
        rows = _dedented(self.lines[start : self.at])
        return "\n".join(rows) if rows[0].startswith("|") and len(rows) > 1 and set(rows[1]) <= set("|-: ") else fence("\n".join(rows))

    def _paragraph(self) -> str:
        start = self.at
        margin = _indent(self.lines[start])
        while self.at < len(self.lines) and self.lines[self.at].strip() and (self.at == start or not self._ends_paragraph(margin)):
            self.at += 1
        lines = [line.strip() for line in self.lines[start : self.at]]
        if lines[-1].endswith("::"):
            return self._literal(lines, margin)
        if margin >= 2 and _LOOKS_CODE.search("\n".join(lines)):
            return self._code_block(start)
        return plain(words(" ".join(lines)))

    def _ends_paragraph(self, margin: int) -> bool:
        line = self.lines[self.at]
        bare = line.strip()
        return bool(
            bare.startswith((">>>", "```", "~~~"))
            or (_indent(line) == margin and (_ITEM.match(bare) or _FIELD.match(bare) or _SECTION.match(bare) or _ADMONITION.match(bare)))
            or (_indent(line) == margin and self._is_underlined())
        )

    def _literal(self, lines: list[str], margin: int) -> str:
        said = " ".join(lines)
        said = said[:-2].rstrip() if said.endswith(" ::") or said == "::" else said[:-1]
        code = "\n".join(self._indented(margin)).strip("\n")
        return blocks([plain(words(said)), fence(code, "pycon" if code.startswith(">>>") else "") if code else ""])

    def _code_block(self, start: int) -> str:
        margin = _indent(self.lines[start]) - 1
        self.at = start
        return fence("\n".join(self._indented(margin)))


def _entries(body: list[str]) -> list[tuple[str, list[str]]]:
    """`name (type): text` of Google's style or `name : type` of numpy's, with the lines below each; [] when it is neither."""
    found: list[tuple[str, list[str]]] = []
    for line in body:
        if line.strip() and not line.startswith(" "):
            mark = _ENTRY.match(line)
            if not mark and not re.fullmatch(r"[*\w., ]+", line):
                return []
            name = mark[1].strip() if mark else line.strip()
            rest = (mark[3] or "") if mark else ""
            kind = (mark[2] or "") if mark else ""
            numpy = bool(mark and " :" in line[: mark.end()])
            found.append(
                (
                    f"`{name.lstrip(chr(92))}`" + (f" ({rest})" if numpy and rest else f" {kind}" if kind else ""),
                    [] if numpy or not rest else [rest],
                )
            )
        elif found:
            found[-1][1].append(line)
    return [(term, _flush(lines)) for term, lines in found]


def _flush(lines: list[str]) -> list[str]:
    """The lines of an entry: the first may stand beside the name, the others below it."""
    if lines and not lines[0].startswith(" "):
        return [lines[0], *_dedented(lines[1:])]
    return _dedented(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(lines: list[str]) -> list[str]:
    return dedent("\n".join(lines)).rstrip().split("\n") if lines else []

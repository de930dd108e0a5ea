"""Convert docstrings and reStructuredText to Markdown line by line. A real parser is a hundred
times slower and rejects most docstrings.
"""

from __future__ import annotations

import ast
import re
import warnings
from textwrap import dedent, indent

from spadework.tools.extract.markdown_writer import (
    blocks,
    code_span,
    fence,
    item,
    plain,
    table,
    write_heading,
)
from spadework.tools.extract.notation import lowered, raised

#: The maximum nesting depth. Deeper text is shown unchanged.
MAX_DEPTH = 8
#: Headings at this level or deeper become bold labels.
LABEL_LEVEL = 3

_FENCE = re.compile(r"(`{3,}|~{3,})\s*\{?\.?([\w+#.-]*)")
_DIRECTIVE = re.compile(r"\.\.(?:$| (?:(?:[\w-]+:)?([\w-]+)::\s*(.*))?)")
_NOTE = re.compile(r"\.\. \[#?([\w*-]+)\]\s+(.*)")
_OPTION = re.compile(r":[\w-]+:")
_CODE = frozenset((
    "code", "code-block", "sourcecode", "testcode", "doctest", "ipython", "math", "parsed-literal",
    "productionlist", "testoutput", "prompt", "code-cell",
))  # fmt: skip
#: reStructuredText directives to drop, because they control a site, name a file or hold raw markup.
_DROPPED = re.compile(
    r"toctree|contents|image|image-sg|include|literalinclude|raw|highlight|index|meta|auto\w+"
    r"|(?:current)?module|graphviz|plot|title|sectnum|header|footer|(?:default-)?role|mermaid"
)
_SILENT = frozenset(("figure", "only", "container", "class", "rst-class", "list-table"))
_DEFINED = re.compile(
    r"(?:async)?(?:function|method|classmethod|staticmethod|attribute|property|exception|data|type"
    r"|macro|decorator|option|envvar|describe|confval|setting)"
)
_LABELLED = frozenset((
    "note", "warning", "tip", "important", "caution", "danger", "seealso", "hint", "attention",
    "error", "todo",
))  # fmt: skip
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_UNDERLINE = re.compile(r"([-=~^*+\"])\1{2,}$")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_FIELD = re.compile(r":(\w+)(?:\s+([^:]+))?:(?:\s+(.*)|$)")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)\s+([\w-]+)(?:\s+\"(.*)\")?$")
#: The first line of a numpy-style argument, such as `name : type`.
_TYPED = re.compile(r"[*\w, ]+ : [^:]+$")
_ITEM = re.compile(r"(?:[-*+\u2022]|#\.|(\d{1,3})[.)])\s+(?=\S)")
_GRID = re.compile(r"[+=][-=+ ]{4,}$|\|")
_COLUMN = re.compile(r"[-=]+")
_LOOKS_CODE = re.compile(
    r"^\s*(?:\$ |import |from \S+ import|def |class |async |await |with |for |if |while |return |@)"
    r"|^\w[\w.]*\(.*\)$|^\w+ = |[{}\[\]]$|;$",
    re.M,
)
_ROLE = re.compile(
    r"``(?P<literal>[^`\n]+?)``"
    r"|:(?:[a-z]+:)*(?P<role>[a-z]+):`(?P<text>[^`\n]+)`"
    r"|`(?P<title>[^`<\n]+?)\s*<(?P<url>[^`<>\n]+)>`__?"
    r"|`(?P<reference>[^`\n]+)`__?(?!\w)"
    r"|\[#?(?P<note>[\w*-]+)\]_(?!\w)|(?P<join>\\ )"
    r"|\[(?P<words>(?:`[^`\n]+`|[^\]\[\n`])+)\](?:\([^()\s]*\)|\[[^\]\n]*\])"
)
_PLAIN_ROLES = frozenset(("doc", "ref", "term", "abbr"))


def docstring_markdown(text: str, level: int = 3) -> str:
    """Convert a docstring cleaned by `inspect.cleandoc` to Markdown. Headings start at `level`."""
    return _markdown(text.expandtabs(8).split("\n"), level, 0)


def words(line: str) -> str:
    """Convert a line's Sphinx and mkdocs markup to Markdown."""
    return _ROLE.sub(_write_role, line) if "`" in line or "[" in line else line


def _write_role(match: re.Match[str]) -> str:
    if match["literal"]:
        return code_span(match["literal"])
    if match["role"] in ("sup", "sub"):
        before = match.string[: match.start()].removesuffix("\\ ")
        write = raised if match["role"] == "sup" else lowered
        return write(before, match["text"], match.string[match.end() :].removeprefix("\\ "))
    if match["role"]:
        title, _, target = match["text"].partition("<")
        shown = title.strip() if target and title.strip() else match["text"].lstrip("!")
        if shown.startswith("~"):
            shown = shown[1:].rpartition(".")[2]
        return shown if match["role"] in _PLAIN_ROLES else code_span(shown)
    if match["note"]:
        return f"[{match['note']}]"
    if match["title"] and match["url"].startswith(("http://", "https://")):
        return f"[{match['title']}]({match['url']})"
    return match["title"] or match["words"] or match["reference"] or ""


def _markdown(lines: list[str], level: int, depth: int) -> str:
    if depth > MAX_DEPTH:
        return fence("\n".join(lines))
    return blocks(_Docstring(lines, level, depth).read())


def _is_code(text: str) -> bool:
    """Return whether the text is Python code, and not types or names that parse by chance."""
    if not _LOOKS_CODE.search(text):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not all(
        (isinstance(one, ast.AnnAssign) and not one.value)
        or (isinstance(one, ast.Expr) and not isinstance(one.value, (ast.Call, ast.Await)))
        for one in body
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


class _Docstring:
    def __init__(self, lines: list[str], level: int, depth: int) -> None:
        self.lines, self.level, self.depth = lines, level, depth
        self.at = 0

    def read(self) -> list[str]:
        found: list[str] = []
        while self.at < len(self.lines):
            bare = self.lines[self.at].strip()
            if not bare:
                self.at += 1
            elif mark := _FENCE.match(bare):
                found.append(self._fenced(*mark.groups()))
            elif bare.startswith(">>>"):
                found.append(self._doctest())
            elif mark := _NOTE.match(bare):
                self.at += 1
                note = [mark[2], *self._take_indented(_indent(self._above()))]
                found.append(self._inner([f"[{mark[1]}] {note[0]}", *note[1:]]))
            elif mark := _DIRECTIVE.match(bare):
                found.append(self._directive((mark[1] or "").lower(), (mark[2] or "").strip()))
            elif mark := _ADMONITION.match(bare):
                self.at += 1
                found.append(
                    self._labelled(f"{mark[2] or mark[1].capitalize()}:", _indent(self._above()))
                )
            elif self._is_underlined():
                self.at += 2
                found.append(self._title(bare))
            elif (mark := _HEADING.match(bare)) and not self.lines[self.at].startswith(" "):
                self.at += 1
                found.append(self._title(mark[2], len(mark[1]) - 1))
            else:
                found.append(self._paragraph())
        return found

    def _title(self, text: str, deeper: int = 0) -> str:
        text = words(text).rstrip(":")
        level = self.level + deeper
        return write_heading(text, level) if self.level < LABEL_LEVEL else f"**{text}:**"

    def _inner(self, lines: list[str]) -> str:
        return _markdown(lines, min(self.level + 1, 6), self.depth + 1) if any(lines) else ""

    def _take_indented(self, margin: int) -> list[str]:
        start = end = self.at
        for number in range(start, len(self.lines)):
            line = self.lines[number]
            if line.strip():
                if _indent(line) <= margin:
                    break
                end = number + 1
        self.at = end
        return dedent("\n".join(self.lines[start:end])).strip("\n").split("\n")

    def _is_underlined(self) -> bool:
        line, *below = self.lines[self.at : self.at + 2]
        return bool(
            below
            and _UNDERLINE.match(below[0].strip())
            and _indent(below[0]) == _indent(line)
            and not _UNDERLINE.match(line.strip())
        )

    def _fenced(self, ticks: str, language: str) -> str:
        margin = _indent(self.lines[self.at])
        start = self.at = self.at + 1
        while self.at < len(self.lines) and not self.lines[self.at].strip().startswith(ticks):
            self.at += 1
        code = [line[min(margin, _indent(line)) :] for line in self.lines[start : self.at]]
        self.at += 1
        return fence("\n".join(code), language.lower())

    def _doctest(self) -> str:
        margin, start = _indent(self.lines[self.at]), self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if (line.strip() and _indent(line) < margin) or (
                not line.strip() and not self._following().strip().startswith(">>>")
            ):
                break
            self.at += 1
        return fence(dedent("\n".join(self.lines[start : self.at])).rstrip(), "pycon")

    def _directive(self, name: str, argument: str) -> str:
        self.at += 1
        ends = self.at >= len(self.lines) or not self.lines[self.at].strip()
        body = self._take_indented(_indent(self._above()))
        while body and (not body[0].strip() or _OPTION.match(body[0].strip())):
            body.pop(0)
            ends = True
        if name == "math":
            argument, body = "", [argument, *body] if argument else body
        if name in _CODE:
            return fence("\n".join(body), argument.lower()) if body else ""
        if not name or _DROPPED.fullmatch(name):
            return ""
        if _DEFINED.fullmatch(name):
            signature = write_heading(code_span(argument), self.level + 1)
            return blocks([signature, self._inner(body)])
        text, label = argument, ""
        if name in _VERSIONS:
            version, _, text = argument.partition(" ")
            label = f"**{_VERSIONS[name]} {version}:** "
        elif name in _LABELLED:
            label = f"**{name.replace('seealso', 'see also').capitalize()}:** "
        shown = [text, *[""] * ends] if text and name not in _SILENT else []
        return f"{label}{self._inner([*shown, *body])}".strip()

    def _paragraph(self) -> str:
        margin, start = _indent(self.lines[self.at]), self.at
        while self.at < len(self.lines) and (line := self.lines[self.at].strip()):
            if self.at > start and (
                line.startswith((">>>", "```", "~~~")) or self._is_underlined()
            ):
                break
            self.at += 1
            if line.endswith(":") and self.at - start == 1 and self._goes_deeper(margin):
                return self._labelled(line, margin)
        lines = self.lines[start : self.at]
        if lines[-1].endswith("::"):
            text = "\n".join(words(line.strip()) for line in lines)[:-1].removesuffix(" :")
            code = "\n".join(self._take_indented(margin))
            return blocks([plain(text), fence(code, "pycon" if ">>>" in code else "")])
        if _GRID.match(lines[0].strip()):
            rows = dedent("\n".join(lines))
            return rows if rows.startswith("|") else _grid(rows.split("\n")) or fence(rows)
        if margin >= 2 and _LOOKS_CODE.search(dedent("\n".join(lines))):
            self.at = start
            return fence("\n".join(self._take_indented(margin - 1)))
        return self._items(lines, margin)

    def _above(self) -> str:
        return self.lines[self.at - 1]

    def _goes_deeper(self, margin: int) -> bool:
        return _indent(self._following()) > margin

    def _following(self) -> str:
        rest = (self.lines[n] for n in range(self.at, len(self.lines)))
        return next((line for line in rest if line.strip()), "")

    def _labelled(self, label: str, margin: int) -> str:
        inner = self._take_indented(margin)
        code = "\n".join(inner)
        if _is_code(whole := f"{label}\n{indent(code, '    ')}"):
            return fence(whole)
        if label.endswith("::"):
            return blocks([plain(words(label[:-1])) * (label != "::"), fence(code)])
        if _is_code(code):
            return blocks([f"**{words(label)}**", fence(code)])
        listed = len(inner) > 1 or ":" in inner[0]
        text = self._items(inner, 0) if listed and all(inner) else self._inner(inner)
        between = "\n\n" if "\n" in text or text.startswith(("- ", "```")) else " "
        return f"**{words(label)}**{between}{text}"

    def _items(self, lines: list[str], margin: int) -> str:
        hang = any(_indent(line) > margin for line in lines[1:])
        marked = [_ITEM.match(line.strip()) or _FIELD.match(line.strip()) for line in lines]
        if not hang and not marked[0]:
            return plain("\n".join(words(line.strip()) for line in lines))
        found: list[list[str]] = []
        for line, mark in zip(lines, marked, strict=True):
            if not found or mark or (_indent(line) <= margin and not marked[0]):
                found.append([])
            found[-1].append(words(line.strip()) + ":" * bool(hang and _TYPED.match(line)))
        return "\n".join(filter(None, (_item(" ".join(one)) for one in found)))


def _grid(lines: list[str]) -> str:
    """Convert a reStructuredText table to a pipe table, or return "" if cells are merged."""
    boxed = lines[0].startswith("+")
    spans = [slice(*mark.span()) for mark in _COLUMN.finditer(lines[0])]
    if not boxed:
        spans[-1] = slice(spans[-1].start, None)
    rows: list[list[str]] = []
    fresh = True
    for line in lines:
        if not line.strip("+-= "):
            fresh = True
            continue
        if boxed and (line.count("|") != len(spans) + 1 or "+" in line[:1]):
            return ""
        cells = [words(line[span].strip()) for span in spans]
        if fresh or (not boxed and cells[0]):
            rows.append(cells)
        else:
            rows[-1] = [
                f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)
            ]
        fresh = False
    return table(rows) if len(spans) > 1 else ""


def _item(text: str) -> str:
    if mark := _FIELD.match(text):
        if mark[1] in ("type", "rtype", "vartype"):
            return ""
        name = code_span(mark[2].split()[-1]) if mark[2] else mark[1].capitalize()
        return item(f"{name}: {mark[3]}")
    if mark := _ITEM.match(text):
        return item(text[mark.end() :], f"{mark[1]}." if mark[1] else "-")
    return item(plain(text))

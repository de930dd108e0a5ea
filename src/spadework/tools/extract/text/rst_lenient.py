"""A docutils parser that reads Sphinx's markup, too, and never reaches outside the text.

docutils puts an error in the place of an unknown directive, role or option. Here the state classes
and the inliner keep the content instead. Nothing is registered globally.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Parser, roles, states
from docutils.statemachine import StringList

CODE = frozenset((
    "code", "code-block", "sourcecode", "code-cell", "ipython", "prompt", "doctest", "testcode",
    "testoutput", "testsetup", "parsed-literal", "productionlist", "math",
))  # fmt: skip
DROPPED = frozenset((
    "toctree", "contents", "image", "include", "raw", "highlight", "index", "meta", "module",
    "currentmodule", "automodule", "autoclass", "autofunction", "automethod", "autosummary",
    "autoexception", "autodata", "py:module", "py:currentmodule", "tabularcolumns", "graphviz",
    "plot", "title", "sectnum", "section-numbering", "header", "footer", "target-notes",
    "literalinclude", "role", "default-role", "highlightlang", "sectionauthor", "codeauthor",
    "moduleauthor", "mermaid", "grid", "image-sg",
))  # fmt: skip
DEFINED = re.compile(
    r"(?:(?:py|c|cpp|js|rst|std):)?(?:async)?(?:function|class|method|classmethod|staticmethod|attribute|property|exception|data|type|macro|member|"
    r"decorator|decoratormethod|coroutinefunction|coroutinemethod|cmdoption|option|envvar|describe|object|confval|setting|directive|role|opcode)"
)
VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
ADMONITIONS = frozenset((
    "note", "warning", "tip", "important", "caution", "danger", "seealso", "hint", "attention",
    "error", "admonition", "topic", "sidebar", "todo",
))  # fmt: skip
_STANDARD = frozenset(["table", "list-table", "csv-table", "replace", "unicode", "date"])
_PLAIN_ROLES = frozenset((
    "doc", "ref", "term", "abbr", "any", "numref", "dfn", "guilabel", "menuselection", "issue",
    "pr", "user", "gh", "pull", "commit",
))  # fmt: skip
_SILENT_ARGUMENT = frozenset(["figure", "only", "container", "class", "rst-class", "cssclass"])
_NO_LANGUAGE = frozenset(["math", "productionlist", "parsed-literal"])
_LANGUAGES = {
    **dict.fromkeys(("doctest", "ipython"), "pycon"),
    **dict.fromkeys(("testcode", "testsetup"), "python"),
    "testoutput": "",
}
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")


def lenient_parser() -> Parser:
    """A parser for one document."""
    parser = Parser(inliner=_Inliner())
    parser.state_classes = _STATES
    return parser


class _Nested(states.RSTState):
    """A state that reads what is nested alike, with its own store of machines for reuse."""

    nested_sm_cache: list[Any] = []  # noqa: RUF012 - docutils shares it among all states of a kind

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)
        self.nested_sm_kwargs = self.indent_sm_kwargs = self.known_indent_sm_kwargs = {
            "state_classes": _STATES,
            "initial_state": "Body",
        }


class _Lenient(states.Body):
    """Directives keep their content."""

    def explicit_construct(self, match: re.Match[str]) -> Any:
        for method, pattern in self.explicit.constructs:
            found = pattern.match(match.string) if method is states.Body.directive else None
            if found and found.group(1).lower() not in _STANDARD:
                machine: Any = self.state_machine
                block, _, offset, finished = machine.get_first_known_indented(
                    found.end(), strip_top=False
                )
                return self._nodes(found.group(1).lower(), block, offset), finished
        return super().explicit_construct(match)  # type: ignore[no-untyped-call]

    def _nodes(self, name: str, block: StringList, offset: int) -> list[nodes.Node]:
        if name in DROPPED:
            return []
        if name in CODE:
            return _code(name, block)
        if name in ADMONITIONS:
            label = name.replace("seealso", "see also").capitalize()
            return [self._filled(nodes.admonition(label=label), block, offset)]
        argument, content = _parts(block)
        if DEFINED.fullmatch(name):
            return [self._filled(nodes.container(signature=argument), content, offset)]
        if name in VERSIONS:
            version, _, rest = argument.partition(" ")
            argument = f"{VERSIONS[name]} {version}{': ' if rest else '.'}{rest}"
        hidden = name in _SILENT_ARGUMENT or not argument
        said = [] if hidden else [nodes.paragraph("", "", *self.inline_text(argument, 0)[0])]
        return [self._filled(nodes.container("", *said), content, offset)]

    def _filled(self, node: nodes.Element, content: StringList, offset: int) -> nodes.Element:
        self.nested_parse(content, offset, node)
        return node


def _parts(block: StringList) -> tuple[str, StringList]:
    """A directive's argument (up to an option or an empty line) and content, without options."""
    lines = [line.strip() for line in block]
    head = next((n for n, line in enumerate(lines) if not line or _OPTION.match(line)), len(lines))
    start = next((n for n in range(head, len(lines)) if not _OPTION.match(lines[n])), len(lines))
    return " ".join(lines[:head]), block[start:]


def _code(name: str, block: StringList) -> list[nodes.Node]:
    lines, language = [str(line) for line in block], ""
    if name not in _NO_LANGUAGE:
        language = _LANGUAGES.get(name, lines[0].strip().lower() if lines else "")
        lines[:1] = [""]
    while lines and (not lines[0].strip() or _OPTION.match(lines[0].strip())):
        lines.pop(0)
    text = dedent("\n".join(lines)).rstrip()
    return [nodes.literal_block(text, text, language=language.split(" ")[0])] if text else []


class _Inliner(states.Inliner):
    """Roles unknown to docutils become code, or plain text where they name a page or a term."""

    def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> Any:
        known, _ = roles.role(role, self.language, lineno, self.reporter)  # pyright: ignore[reportArgumentType]  # a module is what docutils takes
        if known:
            return super().interpreted(rawsource, text, role, lineno)
        shown = _role_text(nodes.unescape(text))
        kind = nodes.inline if role.rpartition(":")[2] in _PLAIN_ROLES else nodes.literal
        return [kind(rawsource, shown)], []


# docutils builds its patterns from the attributes of the very class, without those it inherits.
for _name, _value in vars(states.Inliner).items():
    if isinstance(_value, str) and not _name.startswith("__"):
        setattr(_Inliner, _name, _value)


def _role_text(text: str) -> str:
    """What Sphinx shows of a role: the title before <target>, the last name after ~, no !."""
    title = re.fullmatch(r"(.+?)\s*<[^<>]*>", text, re.S)
    if title:
        return title[1]
    return text[1:].rpartition(".")[2] if text.startswith("~") else text.removeprefix("!")


def _state(kind: type) -> type:
    keeps_content = kind.__name__ in ("Body", "Explicit")
    return type(kind.__name__, (_Nested, _Lenient, kind) if keeps_content else (_Nested, kind), {})


_STATES = tuple(_state(kind) for kind in states.state_classes)

"""Convert reStructuredText to Markdown by way of docutils' HTML.

docutils replaces unknown directives, roles and options, such as Sphinx's, with errors. The states
and inliner here keep their content, register nothing globally and open no files.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Parser, roles, states
from docutils.statemachine import StringList
from selectolax.lexbor import LexborHTMLParser

from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.page.formulas import flatten
from spadework.tools.extract.page.inline_markup import Addresses
from spadework.tools.extract.page.page_blocks import assemble
from spadework.tools.extract.page.walker import Walker
from spadework.tools.extract.text.plain_text import extract_text

_SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "line_length_limit": 1_000_000,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "sectsubtitle_xform": False,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "traceback": True,
    "warning_stream": "",
    "initial_header_level": 1,
    "math_output": "LaTeX",
    "stylesheet_path": "",
    "embed_stylesheet": False,
    "output_encoding": "unicode",
}
#: Maximum characters in a paragraph, because docutils takes quadratic time.
_MAX_PARAGRAPH = 20_000
_CODE = frozenset((
    "code", "code-block", "sourcecode", "code-cell", "ipython", "prompt", "doctest", "testcode",
    "testoutput", "testsetup", "parsed-literal", "productionlist", "math",
))  # fmt: skip
_NO_LANGUAGE = frozenset(["math", "productionlist", "parsed-literal", "testoutput"])
_DROPPED = re.compile(
    r"toctree|contents|image|image-sg|include|raw|highlight|highlightlang|index|meta|auto\w+"
    r"|(?:py:)?(?:current)?module|tabularcolumns|graphviz|plot|title|sectnum|section-numbering"
    r"|header|footer|target-notes|literalinclude|(?:default-)?role|\w+author|mermaid|grid"
)
_DEFINED = re.compile(
    r"(?:(?:py|c|cpp|js|rst|std):)?(?:async)?(?:function|class|method|classmethod|staticmethod|attribute|property|exception|data|type|macro|member|"
    r"decorator|decoratormethod|coroutinefunction|coroutinemethod|cmdoption|option|envvar|describe|object|confval|setting|directive|role|opcode)"
)
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_ADMONITIONS = frozenset((
    "note", "warning", "tip", "important", "caution", "danger", "seealso", "hint", "attention",
    "error", "admonition", "topic", "sidebar", "todo",
))  # fmt: skip
_STANDARD = frozenset(["table", "list-table", "csv-table", "replace", "unicode", "date"])
_PLAIN_ROLES = frozenset((
    "doc", "ref", "term", "abbr", "any", "numref", "dfn", "guilabel", "menuselection", "issue",
    "pr", "user", "gh", "pull", "commit",
))  # fmt: skip
_SILENT_ARGUMENT = frozenset(["figure", "only", "container", "class", "rst-class", "cssclass"])
_IDENTIFIER = re.compile(r"[\w.()\[\]*:/=-]*[\w)\]*]")
_PARAMETER = re.compile(
    r"(?:param|parameter|arg|argument|key|keyword|raises?|except|exception|ivar|var|cvar)\s+(?:.*\s)?(\S+)",
    re.S,
)
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")


def extract_rst(text: str, url: str) -> Extracted:
    """Return reStructuredText as Markdown, without images and comments.

    Unknown roles and directives keep their text, unless they only control a site. Documents with
    huge paragraphs or too much nesting are read as plain text.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if max(map(len, text.split("\n\n"))) > _MAX_PARAGRAPH:
        return extract_text(text, url)
    try:
        document = _parse(text)
        html = publish_from_doctree(document, writer="html5", settings_overrides=_SETTINGS)
    except RecursionError:  # No genuine document nests so deep.
        return extract_text(text, url)
    tree = LexborHTMLParser(html)
    flatten(tree, html)
    blocks = Walker(Addresses(url, "")).walk(tree.body) if tree.body is not None else []
    markdown = assemble(blocks)
    titled = document.next_node(nodes.section) if markdown.startswith("#") else None
    return Extracted(
        title=" ".join(titled[0].astext().split()) if titled else "",
        markdown=markdown,
        links=tuple(dict.fromkeys(link for block in blocks for link in block.links)),
        kind="documentation",
    )


def _parse(text: str) -> nodes.document:
    parser = Parser(inliner=_Inliner())
    parser.state_classes = _STATES
    document = publish_doctree(text, parser=parser, settings_overrides=_SETTINGS)
    for node in [*document.findall(nodes.image), *document.findall(nodes.raw)]:
        node.parent.remove(node)
    for node in [*document.findall(nodes.title_reference)]:
        if _IDENTIFIER.fullmatch(node.astext()):
            node.replace_self(nodes.literal("", node.astext()))
    for node in document.findall(nodes.literal):
        node["classes"].append("code")
    for node in document.findall(nodes.field_name):
        if named := _PARAMETER.fullmatch(node.astext()):
            node[:] = [nodes.literal("", named[1], classes=["code"])]
    return document


class _Nested(states.RSTState):
    """A state that parses nested text with this module's states."""

    nested_sm_cache: list[Any] = []  # noqa: RUF012 - docutils shares it among all states of a kind

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)
        self.nested_sm_kwargs = self.indent_sm_kwargs = self.known_indent_sm_kwargs = {
            "state_classes": _STATES,
            "initial_state": "Body",
        }


class _Lenient(states.Body):
    """A state that keeps the content of unknown directives."""

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
        if _DROPPED.fullmatch(name):
            return []
        if name in _CODE:
            return _code(name, block)
        filled: nodes.Element = nodes.container()
        if name in _ADMONITIONS:
            self.nested_parse(block, offset, filled)
            label = name.replace("seealso", "see also").capitalize()
            begun = filled.children and isinstance(filled[0], nodes.paragraph)
            said = filled.pop(0).children if begun else []
            filled.insert(0, nodes.paragraph("", f"{label}: ", *said))
            return [filled]
        argument, content = _parts(block)
        if _DEFINED.fullmatch(name):
            signature = argument.replace("\\", "")
            filled = nodes.section("", nodes.title("", "", nodes.literal("", signature)))
        elif argument and name not in _SILENT_ARGUMENT:
            if name in _VERSIONS:
                version, _, rest = argument.partition(" ")
                argument = f"{_VERSIONS[name]} {version}{': ' if rest else '.'}{rest}"
            filled += nodes.paragraph("", "", *self.inline_text(argument, 0)[0])
        self.nested_parse(content, offset, filled)
        return [filled]


def _parts(block: StringList) -> tuple[str, StringList]:
    lines = [line.strip() for line in block]
    head = next((n for n, line in enumerate(lines) if not line or _OPTION.match(line)), len(lines))
    start = next((n for n in range(head, len(lines)) if not _OPTION.match(lines[n])), len(lines))
    return " ".join(lines[:head]), block[start:]


def _code(name: str, block: StringList) -> list[nodes.Node]:
    lines, language = [str(line) for line in block], ""
    if name not in _NO_LANGUAGE:
        own = {"doctest": "pycon", "ipython": "pycon", "testcode": "python", "testsetup": "python"}
        language = own.get(name, lines[0].strip().lower() if lines else "")
        lines[:1] = [""]
    while lines and (not lines[0].strip() or _OPTION.match(lines[0].strip())):
        lines.pop(0)
    text = dedent("\n".join(lines)).rstrip()
    return (
        [nodes.literal_block(text, text, classes=["code", *language.split()[:1]])] if text else []
    )


class _Inliner(states.Inliner):
    """An inliner that turns unknown roles into code, or into plain text for page and term names."""

    def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> Any:
        known, _ = roles.role(role, self.language, lineno, self.reporter)  # pyright: ignore[reportArgumentType]  # docutils accepts a module
        if known:
            return super().interpreted(rawsource, text, role, lineno)
        shown = _role_text(nodes.unescape(text))
        kind = nodes.inline if role.rpartition(":")[2] in _PLAIN_ROLES else nodes.literal
        return [kind(rawsource, shown)], []


# docutils builds its patterns from a class's own attributes and ignores inherited ones.
for _name, _value in vars(states.Inliner).items():
    if isinstance(_value, str) and not _name.startswith("__"):
        setattr(_Inliner, _name, _value)


def _role_text(text: str) -> str:
    """Return a role's text as Sphinx shows it: its title, or the last part of a `~` name."""
    title = re.fullmatch(r"(.+?)\s*<[^<>]*>", text, re.S)
    if title:
        return title[1]
    return text[1:].rpartition(".")[2] if text.startswith("~") else text.removeprefix("!")


def _state(kind: type) -> type:
    keeps_content = kind.__name__ in ("Body", "Explicit")
    return type(kind.__name__, (_Nested, _Lenient, kind) if keeps_content else (_Nested, kind), {})


_STATES = tuple(_state(kind) for kind in states.state_classes)

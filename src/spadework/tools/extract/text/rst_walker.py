"""Walks a docutils document tree and writes it as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from docutils import nodes

from spadework.tools.extract.extracted import Link
from spadework.tools.extract.markdown_writer import (
    blocks,
    code_span,
    fence,
    heading,
    item,
    plain,
    quote,
    table,
)
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.text.markdown_inline import absolute

_SKIPPED = (
    nodes.comment, nodes.substitution_definition, nodes.target, nodes.system_message, nodes.image,
    nodes.raw, nodes.pending, nodes.transition, nodes.decoration, nodes.meta,
)  # fmt: skip
_SPACE = re.compile(r"\s+")
_LIST = re.compile(r"- |\d+\. ")
_IDENTIFIER = re.compile(r"[\w.()\[\]*:/=-]*[\w)\]*]")
_PARAMETER = re.compile(
    r"(?:param|parameter|arg|argument|key|keyword|raises?|except|exception|ivar|var|cvar)\s+(.*)",
    re.S,
)


class Walker:
    """Writes one document; `title` is its first section's, `links` are those to the web."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.title = ""
        self.links: list[Link] = []
        self._level = 0
        self._begun = False

    def read(self, node: nodes.Element) -> list[str]:
        """The blocks below a node."""
        return [text for child in node.children if (text := self._block(child)).strip()]

    def _block(self, node: nodes.Node) -> str:
        if isinstance(node, _SKIPPED):
            return ""
        text = self._write(node) if isinstance(node, nodes.Element) else plain(node.astext())
        self._begun = self._begun or bool(text.strip())
        return text

    def _write(self, node: nodes.Element) -> str:
        for kind, write in _WRITERS:
            if isinstance(node, kind):
                return write(self, node)
        if isinstance(node, (nodes.TextElement, nodes.Inline)):
            return plain(self.inline(node))
        return blocks(self.read(node))

    def section(self, node: nodes.Element) -> str:
        """The blocks of a section, its headings one level deeper."""
        self._level += 1
        text = blocks(self.read(node))
        self._level -= 1
        return text

    def heading(self, node: nodes.Element) -> str:
        """A section's title as a heading; the title of anything else as a bold line."""
        words = self.inline(node)
        if not isinstance(node.parent, nodes.section):
            return f"**{words}**"
        if not self._begun:
            self.title = _SPACE.sub(" ", node.astext())
        return heading(words, self._level)

    def code(self, node: nodes.Element) -> str:
        """A literal block, with its language where it is known."""
        text = node.astext()
        if isinstance(node, nodes.doctest_block) or text.startswith(">>> "):
            return fence(text, "pycon")
        return fence(text, str(node.get("language", "")))

    def mark(self, node: nodes.Element) -> str:
        """Return the mark of a footnote, before its text."""
        return f"[{node.astext()}]"

    def container(self, node: nodes.Element) -> str:
        """What a directive holds; a definition's signature is its heading."""
        inner = self.read(node)
        if not (signature := str(node.get("signature", ""))):
            return blocks(inner)
        return blocks([heading(code_span(signature.replace("\\", "")), self._level + 1), *inner])

    def admonition(self, node: nodes.Element) -> str:
        """A note or warning after its label."""
        label = str(node.get("label") or type(node).__name__.capitalize())
        inner = blocks(self.read(node))
        between = "\n\n" if inner[:1] in "`#-|>" else " "
        return inner and f"**{label}:**{between}{inner}"

    def list_(self, node: nodes.Element) -> str:
        """A list; it is tight when its items are single paragraphs."""
        ordered = isinstance(node, nodes.enumerated_list)
        start = int(node.get("start", 1))
        found = [parts for child in _inner(node) if (parts := self.read(child))]
        tight = all(_LIST.match(part) for parts in found for part in parts[1:])
        between = "\n" if tight else "\n\n"
        return between.join(
            item(between.join(parts), f"{start + number}." if ordered else "-")
            for number, parts in enumerate(found)
        )

    def definitions(self, node: nodes.Element) -> str:
        """Terms with their definitions, as a list."""
        found = []
        for entry in _inner(node):
            parts = _inner(entry)
            # Terms first: links are kept in the order in which they are met.
            named = [self.inline(p) for p in parts if isinstance(p, nodes.term | nodes.classifier)]
            said = [self.read(part) for part in parts if isinstance(part, nodes.definition)]
            found.append((", ".join(named), blocks(list(map(blocks, said)))))
        return _items(found)

    def named(self, node: nodes.Element) -> str:
        """Command line options, or fields such as the parameters of a function, as a list."""
        write = code_span if isinstance(node, nodes.option_list) else _field
        pairs = [parts for entry in _inner(node) if len(parts := _inner(entry)) == 2]
        return _items((write(name.astext()), blocks(self.read(body))) for name, body in pairs)

    def lines(self, node: nodes.Element) -> str:
        """Lines that are broken on purpose."""
        return plain("\n".join(self.inline(line) for line in node.findall(nodes.line)))

    def quoted(self, node: nodes.Element) -> str:
        """A block quote."""
        # Indented lists and code are often block quotes only by accident of indentation.
        inner = blocks(self.read(node))
        meant = any(isinstance(child, nodes.paragraph) for child in node.children)
        return quote(inner) if meant else inner

    def table(self, node: nodes.Element) -> str:
        """A table with its title above."""
        titles = [child for child in node.children if isinstance(child, nodes.title)]
        title = "".join(f"**{self.inline(child)}**" for child in titles)
        rows = node.findall(nodes.row)
        cells = [[" ".join(self.read(cell)) for cell in _inner(row)] for row in rows]
        return blocks([title, table(cells)])

    def inline(self, node: nodes.Element) -> str:
        """The words of a text element on one line."""
        return joined((self._inline(child), _place(child)) for child in node.children)

    def _inline(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.Text):
            return _SPACE.sub(" ", node.astext())
        if not isinstance(node, nodes.Element) or isinstance(node, _SKIPPED):
            return ""
        if isinstance(node, nodes.literal | nodes.math):
            return code_span(node.astext())
        words = self.inline(node)
        if isinstance(node, nodes.title_reference):
            return code_span(words) if _IDENTIFIER.fullmatch(words) else words
        if isinstance(node, nodes.emphasis | nodes.strong) and words.strip():
            mark = "*" if isinstance(node, nodes.emphasis) else "**"
            return f"{mark}{words}{mark}"
        leads = isinstance(node, nodes.reference)
        if leads and (url := absolute(str(node.get("refuri", "")), self.url)):
            self.links.append(Link(url, words))
        return words


def _place(node: nodes.Node) -> Place:
    if isinstance(node, nodes.footnote_reference):
        return Place.NOTE
    raised = Place.RAISED if isinstance(node, nodes.superscript) else Place.LEVEL
    return Place.LOWERED if isinstance(node, nodes.subscript) else raised


def _inner(node: nodes.Element) -> list[nodes.Element]:
    """What stands in a node, without its text."""
    return [child for child in node.children if isinstance(child, nodes.Element)]


def _field(name: str) -> str:
    """A field's name as words: `param x` is x, `returns` is Returns."""
    match = _PARAMETER.fullmatch(name)
    return code_span(match[1].split()[-1]) if match and match[1].split() else name.capitalize()


def _items(pairs: Iterable[tuple[str, str]]) -> str:
    found = []
    for term, text in pairs:
        between = ":\n\n" if text[:1] in "`-#|>" else ": "
        found.append(item(f"{term}{between}{text}" if text else term))
    return "\n".join(found)


_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Walker, nodes.Element], str]], ...] = (
    (nodes.section, Walker.section),
    (nodes.label, Walker.mark),
    ((nodes.title, nodes.rubric), Walker.heading),
    ((nodes.literal_block, nodes.doctest_block, nodes.math_block), Walker.code),
    ((nodes.bullet_list, nodes.enumerated_list), Walker.list_),
    (nodes.definition_list, Walker.definitions),
    ((nodes.field_list, nodes.docinfo, nodes.option_list), Walker.named),
    (nodes.line_block, Walker.lines),
    (nodes.block_quote, Walker.quoted),
    (nodes.table, Walker.table),
    (nodes.container, Walker.container),
    (nodes.Admonition, Walker.admonition),
)

"""Code and tables that are taken out of a page before others rearrange it, and put back to the letter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lxml.html import HtmlElement

from spadework.tools.extract.html_table import data_rows
from spadework.tools.extract.tree import text_of
from spadework.tools.extract.writing import code_span, fence, table

_LANGUAGE = re.compile(r"[a-z][\w+#.-]{0,30}")
_IN_CLASS = re.compile(r"(?:language|lang|brush:|highlight-source|highlight|sourcecode)[-:\s]\s*([\w+#.-]+)", re.IGNORECASE)
_NO_LANGUAGE = frozenset({"none", "default", "text", "plain", "plaintext", "notranslate", "txt"})
_GUTTER = re.compile(r"\b(linenos?|linenodiv|gutter|line-?numbers?)\b", re.IGNORECASE)
_ROW = re.compile(r"^\|.*$", re.MULTILINE)

#: So many elements around code or a table are stripped of their names.
UNNAMED = 3


@dataclass(frozen=True)
class _Code:
    text: str
    language: str = ""
    block: bool = False


class Held:
    """What a tree held, in which a word now stands for each: a paragraph of one word for a block, a word for inline code."""

    def __init__(self, tree: HtmlElement, source: str) -> None:
        # No page can contain the words that stand for its parts, since they are made from the page.
        self._name = f"zq{sha256(source.encode('utf-8', 'replace')).hexdigest()[:12]}n"
        self._code: list[_Code] = []
        self._tables: list[str] = []
        for element in [gutter for gutter in tree.iter("td", "span", "pre", "div") if _is_gutter(gutter)]:
            _drop_gutter(element)
        for element, language in [(block, _language(block)) for block in tree.iter("pre")]:
            self._hold_code(element, "p", _Code(_exact(element).removeprefix("\n"), language, block=True))
            _unname(element)
        for element in list(tree.iter("code", "kbd", "samp", "tt")):
            text = " ".join(_exact(element).split())
            if text and self._name not in text:
                self._hold_code(element, "span", _Code(text))
        for element in list(tree.iter("table")):
            if rows := data_rows(element):
                _unname(element)
                _replace(element, "p", f"{self._name}{len(self._tables)}table")
                self._tables.append(table(rows))

    def _hold_code(self, element: HtmlElement, tag: str, code: _Code) -> None:
        _replace(element, tag, f"{self._name}{len(self._code)}{'block' if code.block else 'span'}")
        self._code.append(code)

    def put_back(self, markdown: str) -> str:
        """The Markdown with everything in place of its word; a block gets lines of its own, also one that stood in a list."""
        alone = rf"(?:\n[^\S\n]*(?:[-*+]|\d+\.))?\s*{self._name}(\d+)%s[^\S\n]*\n?"
        inline = re.compile(rf"{self._name}(\d+)(?:span|block)")
        markdown = re.sub(alone % "table", lambda found: f"\n\n{self._tables[int(found[1])]}\n", markdown)
        markdown = _ROW.sub(lambda row: inline.sub(lambda found: self._span(found).replace("|", "\\|"), row[0]), markdown)
        markdown = re.sub(alone % "block", self._block, markdown)
        return inline.sub(self._span, markdown).strip("\n")

    def _block(self, found: re.Match[str]) -> str:
        code = self._code[int(found[1])]
        return f"\n\n{fence(code.text, code.language)}\n"

    def _span(self, found: re.Match[str]) -> str:
        return code_span(" ".join(self._code[int(found[1])].text.split("\n")).strip())

    def put_back_plain(self, text: str) -> str:
        """A text that is no Markdown, such as a title, with the code in place of its words."""
        return re.sub(rf"{self._name}(\d+)(?:span|block)", lambda found: self._code[int(found[1])].text, text)


def _replace(element: HtmlElement, tag: str, text: str) -> None:
    for child in list(element):
        element.remove(child)
    element.tag, element.text = tag, text


def _unname(element: HtmlElement) -> None:
    """Make what surrounds code or data look like content, which it is even where its class says "meta" or "sidebar"."""
    for around in list(element.iterancestors())[:UNNAMED]:
        if around.tag not in ("html", "body"):
            around.attrib.pop("class", None)
            around.attrib.pop("id", None)


def _exact(element: HtmlElement) -> str:
    """The text of an element, line by line as it is shown."""
    for line_break in element.iter("br"):
        line_break.tail = "\n" + (line_break.tail or "")
    for extra in list(element.iter("button", "script", "style")):
        extra.drop_tree()
    return text_of(element)


def _is_gutter(element: HtmlElement) -> bool:
    """Is it a column of line numbers beside code?"""
    return bool(_GUTTER.search(element.get("class", ""))) and not re.search(r"[^\d\s]", text_of(element))


def _drop_gutter(gutter: Any) -> None:
    """Remove a column of line numbers, and the table that was there only to hold it beside the code."""
    if gutter.tag == "td":
        table = next(gutter.iterancestors("table"), gutter)
        for part in list(table.iter("table", "tbody", "tr", "td")):
            part.tag = "div"
    gutter.drop_tree()


def _language(block: HtmlElement) -> str:
    """The language a code block names in its own class, or that of the code in it or of what surrounds it."""
    for element in [block, *block.iter("code"), *list(block.iterancestors())[:3]]:
        named = [element.get("data-lang", ""), element.get("data-language", ""), *_IN_CLASS.findall(element.get("class", ""))]
        for language in map(str.lower, named):
            if _LANGUAGE.fullmatch(language) and language not in _NO_LANGUAGE:
                return language
    return ""

"""Code of a page: the exact characters of a `<pre>` and the language it is marked with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from spadework.tools.extract.document_kinds import is_language

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:|sourceCode|(code))[-:\s]\s*"
    r"([\w+#.-]+)"
)
_NO_LANGUAGE = frozenset((
    "default", "none", "text", "plain", "plaintext", "notranslate", "block", "console-output",
    "wrapper", "highlight", "source", "code", "light", "dark", "toolbar",
))  # fmt: skip
#: Classes of the elements that show line numbers beside code.
NUMBERS = frozenset((
    "lineno", "linenos", "linenumber", "line-number", "line-numbers", "gutter", "lineNumber",
    "ln-num", "hljs-ln-numbers", "react-syntax-highlighter-line-number",
))  # fmt: skip
_NOT_PLAIN = (
    "br,button,script,style,template,[class*=line-num],[class*=lineno],[class*=lineNum],"
    "[class*=gutter],[class*=ln-num]"
)
_NOT_CODE = frozenset(("button", "script", "style", "template"))
_ANCESTORS = 4


def code_text(node: LexborNode) -> str:
    """The characters of a code element, without line numbers and buttons; `<br>` is a line end."""
    only = node.first_child
    if only is not None and only.next is None and only.is_text_node:
        return only.text_content or ""
    return node.text() if node.css_first(_NOT_PLAIN) is None else "".join(_pieces(node))


def _pieces(root: LexborNode) -> Iterator[str]:
    todo = [root.first_child]
    while todo:
        node = todo.pop()
        if node is None:
            continue
        todo.append(node.next)
        if node.is_text_node:
            yield node.text_content or ""
        elif node.tag == "br":
            # Both together are meant as one.
            if not (node.next is not None and (node.next.text_content or "").startswith("\n")):
                yield "\n"
        elif node.tag not in _NOT_CODE and not _is_line_number(node):
            todo.append(node.first_child)


def _is_line_number(node: LexborNode) -> bool:
    names = (node.attributes.get("class") or "").split()
    return any(name in NUMBERS for name in names) and not node.text().strip(" \n\t0123456789.:|")


def language(node: LexborNode) -> str:
    """The language a `<pre>` is marked with, itself, in it or close above; "" for none."""
    inner = node.css_first("code")
    places = [node] if inner is None else [inner, node]
    above = node.parent
    for _ in range(_ANCESTORS):
        if above is None or above.tag in ("body", "main", "article", "section"):
            break
        places.append(above)
        above = above.parent
    for place in places:
        attributes = place.attributes
        for name in ("data-lang", "data-language"):
            if attributes.get(name):
                return _clean(attributes[name] or "")
        for match in _LANGUAGE.finditer(attributes.get("class") or ""):
            # Classes of layout begin with "code", too.
            if (found := _clean(match[2])) and (not match[1] or is_language(found)):
                return found
    return ""


def _clean(name: str) -> str:
    name = name.strip().lower()
    return "" if name in _NO_LANGUAGE or not re.fullmatch(r"[\w+#.-]{1,20}", name) else name

"""Convert inline HTML and code to equivalent Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborNode

from spadework.tools.extract.document_kinds import is_language
from spadework.tools.extract.extracted import Link
from spadework.tools.extract.markdown_writer import code_span

_ENCODED = str.maketrans(
    {sign: f"%{ord(sign):02X}" for sign in ' ()<>\\"'} | dict.fromkeys("\n\t\r", "")
)


class Addresses:
    """Resolves `href` values against a page's URL or its `<base>`."""

    def __init__(self, url: str, base: str = "") -> None:
        self._known: dict[str, str] = {}
        self._base = _join(url, base) if base else url
        try:
            parts = urlsplit(self._base)
            self._origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
        except ValueError:
            self._origin = ""

    def absolute(self, href: str | None) -> str:
        """Return the absolute http(s) URL of `href`, or "" for a fragment or another scheme."""
        href = (href or "").strip()
        if not href or href[0] == "#":
            return ""
        if href not in self._known:
            self._known[href] = self._resolved(href)
        return self._known[href]

    def _resolved(self, href: str) -> str:
        if href.startswith(("https://", "http://")):
            url = href
        elif href[0] == "/" and href[1:2] not in ("/", "\\") and self._origin:
            url = self._origin + href
        else:
            url = _join(self._base, href)
            if not url.startswith(("https://", "http://")):
                return ""
        return url.translate(_ENCODED)


def _join(base: str, href: str) -> str:
    try:
        return urljoin(base, href)
    except ValueError:  # For example "http://[broken".
        return ""


_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language[-:\s]|highlight-source-|brush:|(?:lang|highlight)[-:](?=[\w+#.]+"
    r"(?:-session)?(?:\s|$))|(?P<layout>(?:lang|highlight|code|sourceCode)[-:\s](?!highlight)))\s*"
    r"(?P<name>[\w+#.-]+)"
)
_LISTING = re.compile(r"(?:^|\s)code-?block(?:\s|$)", re.IGNORECASE)
#: A `<div>` that contains one of these elements is not a code block.
_NO_LINES = "pre,p,ul,ol,table,h1,h2,h3,h4,h5,h6,textarea"
_NO_LANGUAGE = frozenset((
    "default", "none", "text", "plain", "plaintext", "notranslate", "block", "console-output",
    "wrapper", "highlight", "source", "code", "light", "dark", "toolbar",
))  # fmt: skip
#: Classes of elements that hold the line numbers of code.
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
    """Return a code element's text without line numbers and buttons. `<br>` ends a line."""
    only = node.first_child
    if only is not None and only.next is None and only.is_text_node:
        return only.text_content or ""
    return node.text() if node.css_first(_NOT_PLAIN) is None else "".join(_pieces(node))


def is_listing(node: LexborNode, tag: str, attributes: dict[str, str | None]) -> bool:
    """Return whether an element is a `<div>` that looks like a code block."""
    names = attributes.get("class") if tag == "div" else ""
    if not names or "ode" not in names or not _LISTING.search(names):
        return False
    return node.css_first(_NO_LINES) is None


def lines_of(node: LexborNode) -> str:
    """Return the code in a `<div>` listing, reading child `<div>`s as lines."""
    inside = list(node.iter())
    are_lines = inside and all(part.tag == "div" for part in inside)
    lines = map(code_text, inside) if are_lines else [code_text(node)]
    return "\n".join(lines).replace("\xa0", " ")


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
            # A `<br>` right before a newline adds no line.
            if not (node.next is not None and (node.next.text_content or "").startswith("\n")):
                yield "\n"
        elif node.tag not in _NOT_CODE and not _is_line_number(node):
            todo.append(node.first_child)


def _is_line_number(node: LexborNode) -> bool:
    names = (node.attributes.get("class") or "").split()
    return any(name in NUMBERS for name in names) and not node.text().strip(" \n\t0123456789.:|")


def language(node: LexborNode) -> str:
    """Return the code language declared by a `<pre>`, its `<code>` or a close ancestor, or ""."""
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
            # Layout classes such as `code-block` look like language classes, so the name in them
            # must be a known language.
            found = _clean(match["name"])
            if found and (not match["layout"] or is_language(found)):
                return found
    return ""


def _clean(name: str) -> str:
    name = name.strip().lower()
    return "" if name in _NO_LANGUAGE or not re.fullmatch(r"[\w+#.-]{1,20}", name) else name


#: White space other than single spaces.
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
    """Escape characters that Markdown would read as markup."""
    return _ESCAPES.sub(r"\\\g<0>", text) if _SPECIAL.search(text) else text


def _line_start(match: re.Match[str]) -> str:
    if match["number"]:
        return f"{match['number']}\\{match['dot']}"
    return "\\" + match[0]


class Mark:
    """An open inline element, such as emphasis or a link."""

    __slots__ = ("sign", "start", "url")

    def __init__(self, sign: str, start: int, url: str = "") -> None:
        self.sign, self.start, self.url = sign, start, url


class Line:
    """A paragraph's Markdown under construction."""

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
        """Add page text, escaped and with white space collapsed."""
        if not data or data.isspace():
            self.space()
            return
        data = _SPACE.sub(" ", data)
        if self._spaced and data[0] == " ":
            data = data[1:]
        self.raw(escaped(data), len(data))

    def raw(self, markdown: str, chars: int) -> None:
        """Add Markdown that displays as `chars` characters."""
        if not markdown:
            return
        self.parts.append(markdown)
        self._spaced = markdown[-1] == " "
        self.chars += chars
        if self._linked:
            self.link_chars += chars

    def code(self, text: str) -> None:
        """Add inline code, or a space if the text is blank."""
        if text.strip():
            self.raw(code_span(text), len(text))
        elif text:
            self.text(text)

    def line_break(self) -> bool:
        """Add a line break. If there is one already, return True: the paragraph must end."""
        if not self.parts:
            return False
        if self.parts[-1] == "\n":
            return True
        self.parts[-1] = self.parts[-1].rstrip(" ")
        self.parts.append("\n")
        self._spaced = True
        return False

    def space(self) -> None:
        """Add a space unless the line is empty or ends with one."""
        if not self._spaced and self.parts:
            self.parts.append(" ")
            self._spaced = True

    def before(self) -> str:
        """Return the last text added to the line, ignoring blanks, or ""."""
        return next((part for part in reversed(self.parts[-2:]) if part.strip()), "")

    def open(self, sign: str, url: str = "") -> Mark:
        """Start emphasis, or a link if `sign` is `[`."""
        mark = Mark(sign, len(self.parts), url)
        self._open.append(mark)
        if sign == "[":
            self._linked += 1
        return mark

    def close(self, mark: Mark) -> None:
        """End the emphasis or link that `open` returned."""
        self._open.remove(mark)
        if mark.sign == "[":
            self._linked -= 1
        self._wrap(mark)

    def take(self) -> str:
        """Return the paragraph as Markdown, or "". Call `reset` afterwards."""
        for mark in reversed(self._open):
            if mark.sign == "[":
                self._wrap(mark)
        text = "".join(self.parts).strip(" \n")
        return _LINE_START.sub(_line_start, text) if text else ""

    def reset(self) -> None:
        """Start the next paragraph, keeping open links and emphasis."""
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
                lead = lead or " "  # Only a style sheet separates these links, so add a space.
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
        url, mark.url = mark.url, ""  # Only the first of several blocks inside a link is linked.
        return f"[{core}]({url})"


def _markable(core: str) -> bool:
    """Return whether `**` around `core` is certain to parse as emphasis."""
    return core[0].isalnum() and core[-1].isalnum() and "\n" not in core

"""Render Markdown as safe HTML: no raw markup, no images, and links only to the web.
Quotes are marked in stored pages, even within lists, cells and code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from spadework.values import Evidence
from spadework.visible import visible

TAGS = {"p", "ul", "ol", "li", "h2", "h3", "h4", "blockquote", "pre", "code", "strong", "em", "a"}
TAGS |= {"hr", "br", "table", "thead", "tbody", "tr", "th", "td"}
_TITLE = re.compile(r"\A# .*\n+")
# Unicode noncharacters that mark quotes. The start and end marks are each followed by the quote's
# number and _NUMBERED.
_BEGINS, _NUMBERED, _ENDS = "\ufdd3", "\ufdd4", "\ufdd5"
_SIGNS = re.compile(f"{_BEGINS}(\\d+){_NUMBERED}|{_ENDS}(\\d+){_NUMBERED}")
#: Replaces these characters in a page, where they would pass for marks.
_FOREIGN = str.maketrans(dict.fromkeys((_BEGINS, _NUMBERED, _ENDS), "\ufffd"))
#: Markdown's block markers, which must stay at the start of a line.
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+|\|[ \t]*)*")
#: Lowest heading level. A page's headings move down one level, below the view's own.
_LOWEST = 6


def draft_html(markdown: str) -> str:
    """Render a draft without its title, which the page already shows."""
    return _clean(_parser().render(_TITLE.sub("", markdown)))


def render_stretch(text: str, start: int, evidence: Sequence[Evidence], wanted: str = "") -> str:
    """Render the part of a page that begins at `start`. Marks its evidence, and highlights
    `wanted`.
    """
    marks = _Marks([e for e in evidence if e.start < start + len(text) and e.end > start], wanted)
    markdown, renderer = _parser(), RendererHTML()
    for rule in ("text", "code_inline", "fence", "code_block", "image"):
        renderer.rules[rule] = getattr(marks, rule)
    tokens = markdown.parse(_sign_quotes(text, start, marks.evidence))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, _LOWEST)}"
    html = renderer.render(tokens, markdown.options, {})
    html = html.replace("<th></th>", "<td></td>")  # an empty cell is not a heading
    attributes = {"mark": {"class"}, "span": {"id", "class"}}
    return _clean(html, ("h5", "h6", "mark", "span"), attributes)


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _clean(html: str, tags: Iterable[str] = (), attributes: Mapping[str, set[str]] = {}) -> str:
    html = nh3.clean(
        html,
        tags=TAGS | {*tags},
        attributes={"a": {"href"}, "ol": {"start"}, **attributes},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    wide = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
    html = html.replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", wide).replace("</table>", "</table></div>")
    return visible(html)  # decoded entities may be invisible characters


def _sign_quotes(text: str, start: int, evidence: Sequence[Evidence]) -> str:
    text = text.translate(_FOREIGN)
    signs: list[tuple[int, int, str]] = []
    for n, each in enumerate(evidence):
        first, last = max(each.start - start, 0), min(each.end - start, len(text))
        line = text.rfind("\n", 0, first) + 1
        opening = _OPENING.match(text, line)
        first = min(max(first, opening.end() if opening else first), last)
        while last > first and text[last - 1] in "| \t\n":
            last -= 1
        signs.append((first, 1, f"{_BEGINS}{n}{_NUMBERED}"))
        signs.append((last, 0, f"{_ENDS}{n}{_NUMBERED}"))
    made, at = [], 0
    for place, _, sign in sorted(signs):
        made += [text[at:place], sign]
        at = place
    return "".join([*made, text[at:]])


class _Marks:
    """Renders tokens that contain text, tracking which quotes are open."""

    def __init__(self, evidence: Sequence[Evidence], wanted: str) -> None:
        self.evidence = evidence
        self._wanted = next((n for n, e in enumerate(evidence) if e.id == wanted), -1)
        self._open: set[int] = set()

    def text(self, tokens: Sequence[Token], n: int, *_: Any) -> str:
        return self._draw(tokens[n].content)

    def code_inline(self, tokens: Sequence[Token], n: int, *_: Any) -> str:
        return f"<code>{self._draw(tokens[n].content)}</code>"

    def fence(self, tokens: Sequence[Token], n: int, *_: Any) -> str:
        return f"<pre><code>{self._draw(tokens[n].content)}</code></pre>\n"

    code_block = fence

    def image(self, tokens: Sequence[Token], n: int, *_: Any) -> str:
        return self._draw(tokens[n].content)

    def _draw(self, content: str) -> str:
        made, at = [], 0
        for sign in _SIGNS.finditer(content):
            made.append(self._piece(content[at : sign.start()]))
            if sign[1]:
                self._open.add(int(sign[1]))
                id_ = escape(self.evidence[int(sign[1])].id)
                made.append(f'<span id="{id_}" class="anchor"></span>')
            else:
                self._open.discard(int(sign[2]))
            at = sign.end()
        return "".join([*made, self._piece(content[at:])])

    def _piece(self, words: str) -> str:
        if not words or not self._open:
            return escape(words)
        kind = ' class="wanted"' if self._wanted in self._open else ""
        return f"<mark{kind}>{escape(words)}</mark>"

"""View models of finished reports and stored pages. Markdown becomes safe HTML without raw markup
or images, and with only http and https links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any, Literal

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from spadework.apps.view_model import SourceView
from spadework.tools.export.layout import laid_out, runs
from spadework.tools.export.markdown_report import safe_url
from spadework.tools.export.sheet import Quoted, Run, Sheet
from spadework.values import Evidence, Result, Source
from spadework.visible import visible

PART_CHARS = 60_000

LineKind = Literal["text", "heading", "code", "table"]
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


@dataclass(frozen=True)
class Piece:
    """Part of a line of a stored page, split where quotes begin or end. `marks` lists the ids of
    the evidence entries that cover it, and `first` the ids of those that start at it.
    """

    text: str
    marks: tuple[str, ...] = ()
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of a stored page, split into pieces."""

    kind: LineKind
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Part:
    """Part `number` (from 1) of a page split into `of` parts. Its content is `lines` or `html`."""

    number: int
    of: int
    lines: tuple[Line, ...] = ()
    html: str = ""


def part_of(
    text: str, evidence: Sequence[Evidence], wanted: int, current: str = "", *, plain: bool
) -> Part:
    """Return the part of a page in which the quote with the id `current` starts. If there is no
    such quote, return part number `wanted`, or the nearest one that exists.
    """
    cuts = _cuts(text)
    here = next((e.start for e in evidence if e.id == current), None)
    last = len(cuts) - 1
    number = (
        min(max(wanted, 1), last)
        if here is None
        else max(n for n in range(1, last + 1) if cuts[n - 1] <= here or n == 1)
    )
    start, end = cuts[number - 1], cuts[number]
    if plain:
        return Part(number, last, tuple(_lines(text, start, end, evidence)))
    fence = _fence_before(text, start)
    shown = f"{fence}\n{text[start:end]}" if fence else text[start:end]
    html = render_stretch(shown, end - len(shown), evidence, current)
    return Part(number, last, html=html)


def _cuts(text: str) -> list[int]:
    """Return the offsets at which the parts of a page start, followed by the page's length."""
    cuts = [0]
    while len(text) - cuts[-1] > PART_CHARS:
        at = text.find("\n", cuts[-1] + PART_CHARS, cuts[-1] + 2 * PART_CHARS)
        cuts.append(at + 1 if at >= 0 else cuts[-1] + PART_CHARS)
    return [*cuts, len(text)] if cuts[-1] < len(text) or len(cuts) == 1 else cuts


def _lines(text: str, start: int, end: int, evidence: Sequence[Evidence]) -> list[Line]:
    own = [e for e in evidence if e.start < end and e.end > start]
    made, at, fence = [], start, _fence_before(text, start)
    for line in text[start:end].split("\n"):
        kind: LineKind = "heading" if line.startswith("#") else "text"
        kind = "table" if line.startswith("|") else kind
        before, fence = fence, _fence_after(fence, line)
        kind = "code" if before or fence else kind
        here = [e for e in own if e.start < at + len(line) and e.end > at]
        made.append(Line(kind, tuple(_pieces(line, at, here))))
        at += len(line) + 1
    return made


def _fence_before(text: str, start: int) -> str:
    fence = ""
    for line in text[:start].split("\n") if start else ():
        fence = _fence_after(fence, line)
    return fence


def _fence_after(fence: str, line: str) -> str:
    if (mark := _FENCE.match(line)) is None:
        return fence
    return "" if fence and mark[1].startswith(fence) else fence or mark[1]


def _pieces(line: str, at: int, evidence: Sequence[Evidence]) -> list[Piece]:
    """Split a line where quotes begin or end. `at` is the line's offset in the page."""
    borders = {0, len(line)} | {
        min(max(border - at, 0), len(line)) for e in evidence for border in (e.start, e.end)
    }
    made = []
    for start, end in pairwise(sorted(borders)):
        inside = [e for e in evidence if e.start < at + end and e.end > at + start]
        first = tuple(e.id for e in inside if e.start == at + start)
        made.append(Piece(line[start:end], tuple(e.id for e in inside), first))
    return made


#: Verdict shown for a quoted sentence that no model judged.
QUOTED = "quoted word for word"


@dataclass(frozen=True)
class Proof:
    """A quote's verdict, the trust in its source (0 to 100, or None if unknown), and the URL of its
    stored page (`snapshot`). `judged` is true if the run used a model.
    """

    snapshot: str
    trust: int | None
    verdict: str
    judged: bool = True


@dataclass(frozen=True)
class Listed:
    """A source listed on a report page. If it was not read, `reason` says why."""

    title: tuple[Run, ...]
    state: str
    source: Source | None = None
    link: str = ""
    snapshot: str = ""
    reason: str = ""
    quotes: tuple[Quoted, ...] = ()


@dataclass(frozen=True)
class ReportView:
    """Everything that a report page shows."""

    sheet: Sheet
    proofs: dict[str, Proof]
    listed: tuple[Listed, ...]


def show_report(result: Result, seen: Iterable[SourceView]) -> ReportView:
    """Build the view of a report. `seen` lists all pages that the run requested."""
    sheet = laid_out(result)
    # If a quote is cited both directly and in an inference, the direct citation's verdict is
    # shown.
    outright = sorted(result.citations, key=lambda citation: citation.verdict != "inference")
    verdicts = {citation.evidence_id: citation.verdict for citation in outright}
    judged = result.mode == "model"
    trusts = {source.url: round(100 * source.trust) for source in result.sources}
    proofs = {
        e.id: Proof(
            snapshot(result.session_id, e.content_hash, e.id),
            trusts.get(e.url),
            _verdict_words(verdicts.get(e.id, ""), judged=judged),
            judged,
        )
        for topic in result.topics
        for e in topic.evidence
    }
    cited = {reference.n: reference for reference in sheet.sources}
    read = {source.url for source in result.sources}
    listed = [
        _list_source(result.session_id, source, cited[source.n].quotes if source.n in cited else ())
        for source in result.sources
    ]
    listed += [_unread(view) for view in seen if view.state != "read" and view.url not in read]
    return ReportView(sheet, proofs, tuple(listed))


def snapshot(session_id: str, content_hash: str, evidence_id: str = "") -> str:
    """Return the URL of a stored page, or of a quote in it."""
    at = f"?e={evidence_id}#{evidence_id}" if evidence_id else ""
    return f"/s/{session_id}/pages/{content_hash}{at}"


def web_link(url: str) -> str:
    """Return the URL if it is a safe web address, else ""."""
    safe = safe_url(url)
    return safe if safe.startswith("http") else ""


def _verdict_words(verdict: str, *, judged: bool) -> str:
    return QUOTED if verdict == "supported" and not judged else verdict


def _list_source(session_id: str, source: Source, quotes: tuple[Quoted, ...]) -> Listed:
    return Listed(
        runs(source.title) or (Run(source.url),),
        "cited" if quotes else "read",
        source,
        link=web_link(source.url),
        snapshot=snapshot(session_id, source.content_hash, quotes[0].id if quotes else ""),
        quotes=quotes,
    )


def _unread(view: SourceView) -> Listed:
    reason = view.reason or "The run ended before this page was read."
    return Listed(runs(view.title) or (Run(view.url),), "not read", reason=reason)


TAGS = {"p", "ul", "ol", "li", "h2", "h3", "h4", "blockquote", "pre", "code", "strong", "em", "a"}
TAGS |= {"hr", "br", "table", "thead", "tbody", "tr", "th", "td"}
_TITLE = re.compile(r"\A# .*\n+")
# Unicode noncharacters that mark where a quote starts and ends. Each is followed by the quote's
# number and _NUMBERED.
_BEGINS, _NUMBERED, _ENDS = "\ufdd3", "\ufdd4", "\ufdd5"
_SIGNS = re.compile(f"{_BEGINS}(\\d+){_NUMBERED}|{_ENDS}(\\d+){_NUMBERED}")
#: Replaces the noncharacters above in a page's own text, so that they are not mistaken for the
#: start or end of a quote.
_FOREIGN = str.maketrans(dict.fromkeys((_BEGINS, _NUMBERED, _ENDS), "\ufffd"))
#: Markdown block markers, which must stay at line starts.
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+|\|[ \t]*)*")
#: The lowest HTML heading level. Headings of a stored page are moved down one level, but not below
#: this one.
_LOWEST = 6


def draft_html(markdown: str) -> str:
    """Render a draft report as HTML without its title."""
    return _clean(_parser().render(_TITLE.sub("", markdown)))


def render_stretch(text: str, start: int, evidence: Sequence[Evidence], wanted: str = "") -> str:
    """Render `text`, which begins at offset `start` of a page, as HTML with its quotes marked.
    `wanted` is the id of the evidence to highlight.
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

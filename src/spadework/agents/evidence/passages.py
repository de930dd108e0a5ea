"""Present passages to models as numbered parts, and detect boilerplate."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spadework.agents.report.material import below, day
from spadework.tools.text.markdown import Block, blocks, plain, units
from spadework.tools.text.passages import without_targets
from spadework.tools.text.prompt_injection import is_injection, spans_between_injections
from spadework.tools.text.sentences import is_ended, is_term, sentences
from spadework.tools.text.tables import rows_of
from spadework.tools.web.urls import domain_of
from spadework.values import CODE, Page, Quality, Recommendation


@dataclass(frozen=True)
class PassageView:
    """A passage as shown to a model. For a part of a long table, `columns` has the column names."""

    page: Page
    start: int
    text: str
    heading: str = ""
    columns: str = ""
    score: float = 0.0

    def spot(self, span: tuple[int, int]) -> Spot:
        """Return the part of the page at `span` as a quote. The span must be within the passage."""
        start, end = span
        return Spot(self.page, start, end, self.text[start - self.start : end - self.start])


def to_people(shown: PassageView) -> list[PassageView]:
    """Split a passage at sentences that look like prompt injections, and drop those sentences."""
    spans = spans_between_injections(shown.text)
    if spans == [(0, len(shown.text))]:
        return [shown]
    return [
        replace(shown, start=shown.start + start, text=shown.text[start:end])
        for start, end in spans
    ]


@dataclass(frozen=True)
class Spot:
    """A quoted span of a page, and the model's claim about it."""

    page: Page
    start: int
    end: int
    quote: str
    claim: str = ""

    def overlaps(self, other: Spot) -> bool:
        """Return whether two spots overlap on the same page."""
        return (
            self.page.content_hash == other.page.content_hash
            and self.start < other.end
            and other.start < self.end
        )


@dataclass(frozen=True)
class Judgement:
    """A judgement of a topic's evidence, with a `score` of 0..1. If `near` is set, the spots
    (quotes) probably do not answer the topic. `judge` is a model's name or `CODE`.
    """

    covered: bool
    score: float
    spots: tuple[Spot, ...] = ()
    gaps: tuple[str, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    quality: Quality | None = None
    near: bool = False
    differences: tuple[str, ...] = ()
    judge: str = CODE


Span = tuple[int, int]

#: The sign before the number of each quotable part.
MARK = "¶"
CLAIM_CHARS = 300


class Numbered:
    """Passages whose quotable parts are numbered from 1."""

    def __init__(self, shown: Sequence[PassageView]) -> None:
        self.shown = tuple(shown)
        self._parts = [(s, span) for s in self.shown for span in quotable(s.text)]

    def as_prompt(self) -> list[dict[str, Any]]:
        """Return the passages as template variables. `first` marks each page's first passage."""
        pages = list(dict.fromkeys(s.page.url for s in self.shown))
        begun = {s.page.url: s for s in reversed(self.shown)}
        return [
            {
                "page": pages.index(s.page.url) + 1,
                "first": begun[s.page.url] is s,
                "title": s.page.title,
                "heading": below(s.page.title, s.heading),
                "domain": domain_of(s.page.url),
                "author": s.page.author,
                "date": day(s.page.published_at),
                "text": text,
                "columns": s.columns,
            }
            for s, text in zip(self.shown, self._texts(), strict=True)
        ]

    def passage(self, number: int) -> PassageView | None:
        """Return the passage that contains part `number`, or None if there is no such part."""
        return self._parts[number - 1][0] if 0 < number <= len(self._parts) else None

    def spots(self, first: int, last: int, claim: str = "") -> list[Spot]:
        """Quote the text parts numbered `first` to `last`, with one quote per passage. Parts on
        other pages than the first are left out. Return [] if there is no part `first`.
        """
        begun = self.passage(first)
        if begun is None:
            return []
        said = "" if is_injection(claim) else " ".join(claim.split())[:CLAIM_CHARS]
        named = self._parts[first - 1 : max(first, last)]
        made = []
        for passage in dict.fromkeys(s for s, _ in named if s.page.url == begun.page.url):
            own = [span for s, span in named if s is passage]
            spot = passage.spot((passage.start + own[0][0], passage.start + own[-1][1]))
            made.append(replace(spot, claim=said))
        return made

    def _texts(self) -> Iterator[str]:
        number = 0
        for s in self.shown:
            marks = {}
            for start, _ in quotable(s.text):
                number += 1
                # A code fence must start a line, so its number goes on the line before.
                fence = s.text.startswith(("```", "~~~"), start)
                marks[start] = f"{MARK}{number}" + ("\n" if fence else " ")
            yield without_targets(s.text.replace(MARK, " "), marks)


def quotable(text: str) -> Iterator[Span]:
    """Yield the quotable spans: sentences, list items, table rows and code blocks."""
    said = sentences(text)
    term: int | None = None
    for block in blocks(text):
        if is_term(text, block):
            term = block.start if term is None else term
            continue
        if block.kind == "code":
            yield block.start, block.end
        elif block.kind == "table":
            yield from rows_of(text, block)
        elif block.kind == "list":
            yield from items_of(text, block)
        elif block.kind != "heading":
            own = [span for span in said if block.start <= span[0] < block.end]
            if own and term is not None:
                own[0] = (term, own[0][1])
            yield from own
        term = None


def items_of(text: str, block: Block) -> Iterator[Span]:
    """Yield the spans of a list's non-empty items, stripped of whitespace."""
    for start, end in units(text, block):
        said = text[start:end]
        start += len(said) - len(said.lstrip())
        if said.strip():
            yield start, start + len(said.strip())


#: The minimum number of a host's pages that share a boilerplate line (benchmarks/README.md).
LEAST_PAGES = 2
#: The minimum fraction of a host's shown pages that share a boilerplate line.
LEAST_SHARE = 0.5
#: A block is boilerplate if at least this fraction of its lines is boilerplate.
MOST = 0.5
#: A list of links is a menu of headlines if its links average at least this many words. Lists of
#: names average fewer.
HEADLINE = 4
_LINKED = re.compile(r"(?:[-*+]|\d+[.)])?\s*\[([^\]]+)\]\([^)]*\)")
_KINDS = ("paragraph", "list", "table", "quote")
_NUMBER = re.compile(r"^(?:\d+\.)*\d*\s+")


class Furniture:
    """A detector of boilerplate, such as lines that many pages of a host repeat."""

    def __init__(self, shown: Sequence[PassageView]) -> None:
        self._pages = defaultdict[tuple[str, str], set[str]](set)
        self._heads = defaultdict[str, set[str]](set)
        hosts = defaultdict[str, set[str]](set)
        for passage in shown:
            url, host = passage.page.url, domain_of(passage.page.url)
            hosts[host].add(url)
            above = (passage.page.title, *passage.heading.split(" > "))
            self._heads[url].update(_unnumbered(head) for head in above)
            for block in blocks(passage.text):
                if block.kind == "heading":
                    said = passage.text[block.start : block.end].strip("# ")
                    self._heads[url].add(_unnumbered(said))
                for line in _lines(passage.text, block):
                    self._pages[host, line].add(url)
        self._hosts = {host: len(urls) for host, urls in hosts.items()}

    def holds(self, shown: PassageView, block: Block) -> bool:
        """Return whether a block of a passage is boilerplate."""
        if block.kind not in _KINDS or is_term(shown.text, block):
            return False
        if block.kind == "list" and _is_menu(shown.text, block):
            return True
        lines, told = list(_lines(shown.text, block)), 0
        url, host = shown.page.url, domain_of(shown.page.url)
        for line in lines:
            pages = len(self._pages.get((host, line), ()))
            often = pages >= LEAST_PAGES and pages >= LEAST_SHARE * self._hosts[host]
            told += not is_ended(line) and (often or _unnumbered(line) in self._heads[url])
        return told >= MOST * max(1, len(lines))


def _is_menu(text: str, block: Block) -> bool:
    items = [text[start:end].strip() for start, end in units(text, block)]
    linked = [found[1].split() for item in items if (found := _LINKED.fullmatch(item))]
    return len(linked) == len(items) and sum(map(len, linked)) >= HEADLINE * len(items)


def _lines(text: str, block: Block) -> Iterator[str]:
    if block.kind in _KINDS:
        for start, end in units(text, block):
            line = " ".join(plain(text[start:end]).split())
            if any(map(str.isalnum, line)):
                yield line


def _unnumbered(heading: str) -> str:
    return _NUMBER.sub("", " ".join(plain(heading).split())).casefold()

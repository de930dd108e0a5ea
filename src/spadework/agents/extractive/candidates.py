"""Find the quotable parts of passages, such as sentences, lists and table rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, zip_longest
from typing import Literal

from spadework.agents.evidence.passages import Furniture, PassageView, Span, items_of
from spadework.tools.text.language import language, language_of
from spadework.tools.text.markdown import Block, blocks, plain
from spadework.tools.text.sentences import closed, is_broken_off, is_ended, is_term, sentences
from spadework.tools.text.tables import header_of, named_cells, row_as_sentence, rows_of
from spadework.tools.web.urls import domain_of

Kind = Literal["text", "item", "list", "code", "row"]

#: The maximum number of characters quoted from a list.
LIST_CHARS = 1_200
ROW_CHARS, CODE_CHARS = 800, 2_500
#: Kinds of blocks that a sentence can introduce.
_LED = ("list", "code", "table")
#: Endings of sentences that introduce what follows.
_LEADS = (":", "：", "...", "…", "?", "？", "؟")
#: The maximum number of sentences in a paragraph that is quoted whole.
MOST_TOGETHER = 3
#: The dateline of a news story, such as "DESMOND, Ariz. (NWS) — ".
_DATELINE = re.compile(
    r"(?=[A-Z][A-Z.' -]{2}|\([A-Z])(?:[A-Z][A-Z.' -]+(?:, [A-Z][\w.]*(?: [A-Z][\w.]*)?)?\s*)?"
    r"(?:\([A-Z][A-Z/ ]+\)\s*)?[—–]\s+"
)
#: A documented call, such as "`async Client.get(url)` Send a request."
_CALL = re.compile(r"`(?:async )?([\w.]+)\([^`\n]*`\s+(.+)", re.DOTALL)
#: The minimum number of characters in a candidate (a quotable part of a passage).
LEAST_CHARS = 12
#: An incomplete sentence is quoted only if it has at least this many words. This excludes bylines
#: such as "By Lena Brodsky, staff writer".
LEAST_WORDS = 7


@dataclass(frozen=True)
class Candidate:
    """Spans of a page that are quoted together, and their text. `lead` is the sentence that
    introduces them, and `led` holds that sentence's spans.
    """

    shown: PassageView
    kind: Kind
    spans: tuple[Span, ...]
    text: str
    block: Span
    cells: tuple[tuple[str, str], ...] = ()
    lead: str = ""
    led: tuple[Span, ...] = ()
    language: str = ""

    @property
    def start(self) -> int:
        """The start of the first span."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """The end of the last span or, for a list, of the whole list."""
        return self.block[1] if self.kind == "list" else self.spans[-1][1]

    @property
    def above(self) -> str:
        """The candidate's context: page, headings, introductory sentence and column names."""
        columns = (name for name, _ in self.cells)
        shown = self.shown
        return "\n".join([self.page_name, shown.page.title, shown.heading, self.lead, *columns])

    @property
    def module(self) -> str:
        """The page's title up to its first colon, which names the module in documentation."""
        return self.shown.page.title.partition(":")[0].strip()

    @property
    def page_name(self) -> str:
        """The candidate's site and module, such as "python-3.11.7 shelve"."""
        return f"{domain_of(self.shown.page.url)} {self.module}"

    @property
    def call(self) -> tuple[str, str] | None:
        """The name of the documented call that is quoted, and its description, or None."""
        found = _CALL.fullmatch(self.shown.spot((self.start, self.end)).quote)
        return (found[1], found[2]) if found and self.kind == "text" else None

    def overlaps(self, other: Candidate) -> bool:
        """Return whether two candidates overlap on the same page."""
        return (
            self.shown.page.content_hash == other.shown.page.content_hash
            and self.start < other.end
            and other.start < self.end
        )


def page_languages(shown: Sequence[PassageView]) -> dict[str, str]:
    """Return the language code of each page by URL, "" if it is unclear."""
    texts = defaultdict[str, str](str)
    for passage in shown:
        texts[passage.page.url] += f"{passage.text}\n"
    return {url: language_of(text) for url, text in texts.items()}


def candidates(shown: Sequence[PassageView]) -> list[Candidate]:
    """Return all quotable parts of the passages, in order."""
    furniture, codes = Furniture(shown), page_languages(shown)
    passages = (_Passage(each, furniture, codes[each.page.url] or "en") for each in shown)
    return [found for passage in passages for found in passage.candidates()]


class _Passage:
    def __init__(self, shown: PassageView, furniture: Furniture, code: str) -> None:
        self.shown, self.furniture = shown, furniture
        self.text = shown.text
        self.language = code
        self.said = sentences(shown.text)
        self.lead: Span | None = None
        self.led: tuple[Span, ...] = ()
        #: The code or unfinished sentence that the next sentence may continue, as spans of the
        #: text.
        self.begun: tuple[Span, ...] | None = None
        self.term: int | None = None
        self._spaced = not language(self.language).unspaced

    def candidates(self) -> Iterator[Candidate]:
        parts = blocks(self.text)
        for block, after in zip_longest(parts, parts[1:]):
            if block.kind == "heading":
                self.lead, self.led, self.term, self.begun = None, (), None, None
                continue
            if self.furniture.holds(self.shown, block):
                self.lead, self.led = None, ()
                continue
            yield from self._of(block, after)
            if block.kind in ("list", "table"):
                self.begun = None
            if not is_term(self.text, block):
                self.term = None
            elif self.term is None:
                self.term = block.start

    def _of(self, block: Block, after: Block | None) -> Iterator[Candidate]:
        if block.kind == "list":
            yield from self._list(block)
        elif block.kind == "table":
            yield from self._rows(block)
        elif block.kind == "code":
            yield from self._code(block)
        else:
            yield from self._prose(block, after)

    def _prose(self, block: Block, after: Block | None) -> Iterator[Candidate]:
        spans = closed(self.text, [s for s in self.said if block.start <= s[0] < block.end])
        spans = _without_dateline(self.text, block, spans)
        texts, leads = [self._read(span) for span in spans], False
        for n, text in enumerate(texts):
            last = n + 1 == len(texts)
            # Quote an introductory sentence only together with the list or code that it introduces.
            # Never quote a short fragment alone.
            leads = text.endswith(_LEADS) or (last and not is_ended(text) and self._led_by(after))
            leads = leads or is_term(self.text, block)
            whole = self._whole(spans, n, block)
            said = is_ended(text) or len(text.split()) >= LEAST_WORDS or not self._spaced
            if whole and said and len(text) >= LEAST_CHARS and not leads:
                read = " ".join(map(self._read, whole))
                yield self._build("text", whole, read, block)
        if 1 < len(spans) <= MOST_TOGETHER and self._whole(spans, 0, block):
            span = (spans[0][0], spans[-1][1])
            if is_ended(texts[-1]) and not leads:
                yield self._build("text", (span,), self._read(span), block)
        self.lead = spans[-1] if spans else None
        self.led = self._whole(spans, len(spans) - 1, block) if spans else ()
        self.begun = self.led if spans and is_broken_off(texts[-1]) else None

    def _led_by(self, after: Block | None) -> bool:
        return after is not None and (after.kind in _LED or self.text[after.start].islower())

    def _whole(self, spans: Sequence[Span], n: int, block: Block) -> tuple[Span, ...]:
        """Return the spans of a sentence and the context it needs, or () if not quotable."""
        leans = n and language(self.language).needs_context(self._read(spans[n]))
        # In a script without spaces, a previous sentence shorter than LEAST_CHARS only names the
        # topic, so quote both sentences together.
        leans = leans or (n and not self._spaced and len(self._read(spans[n - 1])) < LEAST_CHARS)
        first = n - 1 if leans else n
        span = spans[first][0], spans[n][1]
        if first:
            return (span,)
        small = self._read(span)[:1].islower() and not is_term(self.text, block)
        if small and self.begun is not None:
            return self.begun and (*self.begun, span)
        return (span if self.term is None else (self.term, span[1]),)

    def _list(self, block: Block) -> Iterator[Candidate]:
        spans = list(items_of(self.text, block))
        texts = [self._read(span) for span in spans]
        first = sum(size <= LIST_CHARS + 1 for size in accumulate(len(text) + 1 for text in texts))
        for span, text in zip(spans, texts, strict=True):
            yield self._build("item", (span,), text, block)
        if first > 1:
            yield self._build("list", tuple(spans[:first]), " ".join(texts[:first]), block)

    def _rows(self, block: Block) -> Iterator[Candidate]:
        header = header_of(self.text, block)
        # A table converted from HTML begins with an empty row if it has no column names. So a first
        # row with even a single name is a header.
        of_web = "html" in f"{self.shown.page.media_type}{self.shown.page.url[-5:]}"
        heads = header_of(self.text, block, 1) if of_web else header
        names = self.text[slice(*header)] if header else self.shown.columns
        for span in rows_of(self.text, block):
            row = self.text[slice(*span)]
            if span != heads and len(row) <= ROW_CHARS:
                named = tuple((plain(name), plain(cell)) for name, cell in named_cells(names, row))
                said = " ".join(row_as_sentence(named).split())
                made = replace(self._build("row", (span,), said, block), cells=named)
                # Quote a table's caption with a row only if it is a full sentence or introduces the
                # table. Otherwise, the column names are enough.
                leads = is_ended(made.lead) or made.lead.endswith(_LEADS)
                yield made if leads else replace(made, led=())

    def _code(self, block: Block) -> Iterator[Candidate]:
        inner, self.begun = _inside(self.text, block), ()
        if inner and inner[1] - inner[0] <= CODE_CHARS:
            self.begun = (*self.led, inner)
            yield self._build("code", (inner,), self.text[slice(*inner)], block)

    def _build(self, kind: Kind, spans: tuple[Span, ...], text: str, block: Block) -> Candidate:
        placed = tuple(self._placed(span) for span in spans)
        at = self._placed((block.start, block.end))
        made = Candidate(self.shown, kind, placed, text, at, language=self.language)
        if kind == "text" or not self.lead or not self.led:
            return made
        lead = self._read(self.lead)
        ended, long = is_ended(lead), len(lead.split()) >= LEAST_WORDS
        leads = lead.endswith(_LEADS) or (kind != "item" if ended else kind == "code" or not long)
        led = self.led if leads else ()
        return replace(made, lead=lead, led=tuple(map(self._placed, led)))

    def _placed(self, span: Span) -> Span:
        return self.shown.start + span[0], self.shown.start + span[1]

    def _read(self, span: Span | None) -> str:
        return " ".join(plain(self.text[slice(*span)]).split()) if span else ""


def _without_dateline(text: str, block: Block, spans: Sequence[Span]) -> list[Span]:
    found = _DATELINE.match(text, block.start, block.end)
    if not found:
        return list(spans)
    return [(max(start, found.end()), end) for start, end in spans if end > found.end()]


def _inside(text: str, block: Block) -> Span | None:
    lines = text[block.start : block.end].split("\n")
    mark = lines[0].lstrip()
    if not mark.startswith(("```", "~~~")) or not lines[-1].strip().startswith(mark[:3]):
        return None
    start, end = block.start + len(lines[0]) + 1, block.end - len(lines[-1]) - 1
    return (start, end) if start < end and text[start:end].strip() else None

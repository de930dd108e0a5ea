"""What could be quoted of the passages shown: sentences, code blocks with the sentence that
introduces them, lists with theirs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from spadework.agents.shown import Shown
from spadework.tools.blocks import Block, blocks
from spadework.tools.inline import plain, units
from spadework.tools.sentences import sentences
from spadework.tools.tables import cells, header_of, rows_of, told

Span = tuple[int, int]
Kind = Literal["text", "item", "list", "code", "row"]

#: Lengths of a sentence that can stand alone in a report, in characters and words; an item of a
#: list may be shorter, those of a whole list on average.
SENTENCE_CHARS = (30, 420)
LEAST_WORDS, LEAST_ITEM_WORDS, LEAST_LEAD_WORDS = 5, 3, 3
#: Items of a list that is quoted as a whole, and characters of all together.
LIST_ITEMS, LIST_CHARS = (2, 14), 1_200
#: Lines of a code block that can stand in a report.
MOST_CODE_LINES = 60
#: Columns of a table whose rows can be told.
ROW_COLUMNS = (2, 12)

#: Openings that lean on the sentence before: it is quoted along with them.
_LEANS = re.compile(
    r"(?:this|that|these|those|it|its|they|their|he|she|his|her|such|here|also|however|therefore|thus|but|and|so|moreover|furthermore|"
    r"additionally|instead|otherwise|one such|similarly|likewise|"
    r"for example|for instance|as such|in this|in that|then|both|which|note that)\b",
    re.IGNORECASE,
)
#: Openings of a sentence that goes on with what stands before a list.
_GOES_ON = re.compile(r"(?:and|but|or|so)\b", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:note|important|examples?|warning|tip|hint|caution|info)s?\s*:\s*", re.IGNORECASE
)
#: An entry of a list of parameters, such as "`name` (str): …" or "name - (optional) …".
_PARAMETER = re.compile(
    r"(?:Returns?|Args|Arguments|Raises|Yields|Parameters?|Attributes?)\s*:|"
    r"`[^`]+`\s*(?:\([^)]*\))?\s*[:—–-]|\*{0,2}[\w.]+\*{0,2} (?:- )?\([^)]*\)(?:\s*:| )"
)
#: A sentence that stands whole in brackets.
_ASIDE = re.compile(r"\([^()]*\)[.!]?")
#: An item that is nothing but a link: the title of something else.
_POINTER = re.compile(r"[*_]*\[[^\[\]]*\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)\W*")
#: How a sentence ends, its quotation marks and the marks of its references included.
_ENDS = re.compile(r"[.!?…。！？।][\"”'’»」)\]*_`]*(?:\[[^\[\]]{1,12}\])*(?:<br\s*/?>)?\s*$")
#: An item may begin with a name that is written small, when it says something of it.
_TELLS = re.compile(
    r"[\w.+-]+ (?:is|are|was|has|provides|gives|offers|supports|allows|lets|adds|makes)\b"
)
#: The line in which a manual says what its command is for: "git-merge - Join two histories".
_SUMMED_UP = re.compile(r"[\w.+-]+ [-–—] [A-Z]")
#: Sentences about the page or its makers rather than about its matter.
_CHATTER = re.compile(
    r"\b(?:click|subscribe|sign up|newsletter|(?:our|accept|site uses|we use) cookies|cookie"
    r" (?:policy|settings|consent|preferences)|"
    r"all rights reserved|copyright|sponsor\w*|commercial support|star us|"
    r"pull requests?|contribut(?:ing|ors?|ions?|e to)|open[- ]source project|"
    r"licen[cs]ed? under|(?:released|published) under|changelog|issue tracker|"
    r"bug reports?|github\.com|see (?:the|also|below|above|our)|read more|learn more|visit|check"
    r" out|join (?:us|our)|"
    r"follow us|contributed by|let[’']?s (?:look|see|think|consider|start|take|say)|table of"
    r" contents|last updated|deprecated|todo|fixme|"
    r"this (?:page|section|document|tutorial|guide|chapter|article))\b|\bby"
    r" @\w|(?:^|[\s(])#\d{2,}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Candidate:
    """Stretches of a page, in order, that would be quoted together; `text` is how they read,
    `position` (0..1) where they stand.

    `introduced` code or lists begin with the sentence that introduces them.
    """

    shown: Shown
    spans: tuple[Span, ...]
    text: str
    kind: Kind
    position: float
    introduced: bool = False

    @property
    def start(self) -> int:
        """Where the first stretch begins, in the page."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where the last stretch ends, in the page."""
        return self.spans[-1][1]


def source(candidate: Candidate) -> str:
    """A candidate as it stands in its page, marks included."""
    start = candidate.shown.start
    return " ".join(candidate.shown.text[a - start : b - start] for a, b in candidate.spans)


def candidates(shown: Sequence[Shown], *, rows: bool = False) -> list[Candidate]:
    """All candidates of the passages, in their order; with the `rows` of their tables, if these are
    wanted.
    """
    return [
        found for passage in shown for found in (*_of(passage), *(_rows(passage) if rows else ()))
    ]


def _of(passage: Shown) -> Iterator[Candidate]:
    text = passage.text
    structure = blocks(text)
    prose = sentences(text)
    before: Span | None = None
    for span in prose:
        block = next((b for b in structure if b.start <= span[0] < b.end), None)
        whole = _with_support(text, before, span, block)
        before = span
        kind: Kind = "item" if block and block.kind == "list" else "text"
        if (
            whole
            and _stands_alone(text[slice(*whole)], kind)
            and not _goes_on_in_a_list(text, span, structure)
        ):
            yield _made(passage, kind, (whole,))
    for block in structure:
        lead = next((span for span in prose if _leads(text, span, block)), None)
        if block.kind == "code" and (inner := _inside(text, block)):
            yield _made(passage, "code", (lead, inner) if lead else (inner,), text[slice(*inner)])
        elif (
            block.kind == "list"
            and (items := _items(text, block))
            and not (lead and _GOES_ON.match(text, lead[0]))
        ):
            yield _made(passage, "list", (lead, *items) if lead else items)


def _rows(passage: Shown) -> Iterator[Candidate]:
    """The rows of the tables of a passage, told with the names of their columns."""
    least, most = ROW_COLUMNS
    for block in blocks(passage.text):
        if block.kind == "table":
            header = header_of(passage.text, block)
            names = passage.text[slice(*header)] if header else passage.columns
            for span in rows_of(passage.text, block):
                row = passage.text[slice(*span)]
                if least <= len(cells(row)) <= most and len(row) <= SENTENCE_CHARS[1]:
                    yield _made(passage, "row", (span,), " ".join(plain(told(names, row)).split()))


def _made(passage: Shown, kind: Kind, spans: tuple[Span, ...], text: str = "") -> Candidate:
    readable = text or " ".join(
        " ".join(plain(passage.text[slice(*span)]).split()) for span in spans
    )
    absolute = tuple((passage.start + start, passage.start + end) for start, end in spans)
    introduced = len(spans) > 1 and passage.text[slice(*spans[0])].endswith(":")
    return Candidate(
        passage, absolute, readable, kind, absolute[0][0] / max(1, passage.page.chars), introduced
    )


def _leads(text: str, span: Span, block: Block) -> bool:
    """Whether a sentence stands right before a block and says something of it."""
    start, end = span
    return (
        end <= block.start
        and not text[end : block.start].strip()
        and len(text[start:end].split()) >= LEAST_LEAD_WORDS
    )


def _goes_on_in_a_list(text: str, span: Span, structure: Sequence[Block]) -> bool:
    """Whether a sentence has no end of its own, and a list follows."""
    if _ENDS.search(plain(text[slice(*span)])):
        return False
    return any(block.kind == "list" and _leads(text, span, block) for block in structure)


def _with_support(text: str, before: Span | None, span: Span, block: Block | None) -> Span | None:
    """The sentence, together with the one before when it leans on it; None when that one is not at
    hand.
    """
    if not _leans(text[slice(*span)]):
        return span
    if (
        before
        and block
        and block.start <= before[0]
        and before[1] <= span[0]
        and not _leans(text[slice(*before)])
    ):
        return before[0], span[1]
    return None


def _leans(sentence: str) -> bool:
    return _LEANS.match(_LABEL.sub("", plain(sentence), count=1).lstrip("“\"'( ")) is not None


def _stands_alone(source: str, kind: Kind) -> bool:
    text = " ".join(plain(source).split())
    least, most = SENTENCE_CHARS
    if (
        not least <= len(text) <= most
        or len(text.split()) < LEAST_WORDS
        or text.endswith((":", "?", "...", "…", ","))
    ):
        return False
    if (
        _PARAMETER.match(source)
        or _PARAMETER.match(text)
        or _CHATTER.search(text)
        or text.lower().startswith(("example:", "examples:"))
    ):
        return False
    slogan = unicodedata.category(text[0]) == "So"  # it stands behind a picture
    if kind == "text" and (slogan or _ASIDE.fullmatch(text)):
        return False
    if kind == "item" and _POINTER.fullmatch(source):
        return False
    letters = sum(c.isalpha() or c.isspace() for c in text)
    begins = (
        not text[0].islower()
        or source[:1] in "`*_["
        or (kind == "item" and _TELLS.match(text) is not None)
    )
    whole = begins or (kind == "text" and (text[-1] in ".!" or _SUMMED_UP.match(text) is not None))
    return letters >= 0.75 * len(text) and whole


def _items(text: str, block: Block) -> tuple[Span, ...]:
    """The items of a flat list that can be quoted as a whole, or ()."""
    spans = []
    for start, end in units(text, block):
        item = text[start:end].strip()
        if item:
            begin = start + text[start:end].index(item)
            spans.append((begin, begin + len(item)))
    whole = text[block.start : block.end]
    fit = (
        LIST_ITEMS[0] <= len(spans) <= LIST_ITEMS[1]
        and len(whole) <= LIST_CHARS
        and not _CHATTER.search(whole)
    )
    words = [len(plain(text[slice(*span)]).split()) for span in spans]
    if (
        not fit
        or sum(words) < LEAST_ITEM_WORDS * len(words)
        or any(
            _PARAMETER.match(plain(text[slice(*span)])) or _PARAMETER.match(text[slice(*span)])
            for span in spans
        )
    ):
        return ()
    return tuple(spans)


def _inside(text: str, block: Block) -> Span | None:
    """The span between the fences of a code block; None for one too long or empty, or cut off."""
    lines = text[block.start : block.end].split("\n")
    mark = lines[0].lstrip()
    if not mark.startswith(("```", "~~~")) or not lines[-1].strip().startswith(mark[:3]):
        return None
    start = block.start + len(lines[0]) + 1
    end = block.end - len(lines[-1]) - 1
    return (
        (start, end) if 3 <= len(lines) <= MOST_CODE_LINES + 2 and text[start:end].strip() else None
    )

"""What could be quoted: the sentences, list items and code blocks of the passages shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spadework.agents.shown import Shown
from spadework.tools.blocks import Block, blocks
from spadework.tools.inline import plain
from spadework.tools.sentences import sentences

#: Lengths of a sentence that can stand alone in a report, in characters and words.
SENTENCE_CHARS = (30, 420)
LEAST_WORDS = 5
#: Lines of a code block that can stand in a report.
CODE_LINES = (1, 60)

#: Openings that lean on the sentence before: it is quoted along with them.
_LABEL = re.compile(r"(?:note|important|examples?|warning|tip|hint|caution|info)s?\s*:\s*", re.IGNORECASE)
_LEANS = re.compile(
    r"(?:this|that|these|those|it|its|they|their|he|she|his|her|such|here|also|however|therefore|thus|but|and|so|moreover|furthermore|"
    r"additionally|instead|otherwise|similarly|likewise|for example|for instance|as such|in this|in that|then|both|which|note that)\b",
    re.IGNORECASE,
)
#: An entry of a list of parameters, such as "`name` (str): …".
_PARAMETER = re.compile(r"`[^`]+`\s*(?:\([^)]*\))?\s*[:—–-]|\*{0,2}\w+\*{0,2} \([^)]*\)\s*:")
#: Sentences about the page or its makers rather than about its matter.
_CHATTER = re.compile(
    r"\b(?:click|subscribe|sign up|newsletter|cookies?|all rights reserved|copyright|sponsor\w*|star us|"
    r"pull requests?|contribut(?:ing|ors?|ions?|e to)|open[- ]source project|"
    r"licen[cs]ed? under|(?:released|published) under|changelog|issue tracker|"
    r"bug reports?|github\.com|see (?:the|also|below|above|our)|read more|learn more|visit|check out|join (?:us|our)|"
    r"follow us|table of contents|last updated|deprecated|todo|fixme|"
    r"this (?:page|section|document|tutorial|guide|chapter|article))\b|\bby @\w|(?:^|[\s(])#\d{2,}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Candidate:
    """A stretch `start:end` of a page that could be quoted; `text` is how it reads. `lead` is the sentence that introduces a code block."""

    shown: Shown
    start: int
    end: int
    text: str
    kind: str
    position: float
    lead: tuple[int, int] | None = None


def candidates(shown: Sequence[Shown]) -> list[Candidate]:
    """All candidates of the passages, in their order."""
    return [found for passage in shown for found in _of(passage)]


def _of(passage: Shown) -> Iterator[Candidate]:
    text = passage.text
    structure = blocks(text)
    spans = sentences(text)
    chars = max(1, passage.page.chars)
    before: tuple[int, int] | None = None
    for start, end in spans:
        block = _block(structure, start)
        kind = "item" if block and block.kind == "list" else "text"
        span = _with_support(text, before, start, end, block)
        before = (start, end)
        readable = " ".join(plain(text[span[0] : span[1]]).split()) if span else ""
        if span and _stands_alone(readable, kind) and not _PARAMETER.match(text[span[0] : span[1]]):
            yield Candidate(passage, passage.start + span[0], passage.start + span[1], readable, kind, (passage.start + start) / chars)
    for block in structure:
        if block.kind == "code" and (inner := _inside(text, block)):
            lead = next((span for span in spans if _leads(text, span, block)), None)
            absolute = (passage.start + lead[0], passage.start + lead[1]) if lead else None
            start, end = inner
            yield Candidate(
                passage, passage.start + start, passage.start + end, text[start:end], "code", (passage.start + start) / chars, absolute
            )


def _leads(text: str, span: tuple[int, int], block: Block) -> bool:
    """Whether a sentence stands right before a code block and says something of it."""
    start, end = span
    return end <= block.start and not text[end : block.start].strip() and len(text[start:end].split()) >= LEAST_WORDS


def _block(structure: Sequence[Block], offset: int) -> Block | None:
    return next((b for b in structure if b.start <= offset < b.end), None)


def _with_support(text: str, before: tuple[int, int] | None, start: int, end: int, block: Block | None) -> tuple[int, int] | None:
    """The sentence, together with the one before when it leans on it; None when that one is not at hand."""
    if not _leans(plain(text[start:end])):
        return start, end
    if before and block and block.start <= before[0] and before[1] <= start:
        leaned_on = plain(text[before[0] : before[1]])
        return None if _leans(leaned_on) else (before[0], end)
    return None


def _leans(sentence: str) -> bool:
    return _LEANS.match(_LABEL.sub("", sentence, count=1).lstrip("“\"'( ")) is not None


def _stands_alone(text: str, kind: str) -> bool:
    least, most = SENTENCE_CHARS
    if not least <= len(text) <= most or len(text.split()) < LEAST_WORDS or text.endswith((":", "?", "...", "…", ",")):
        return False
    letters = sum(c.isalpha() or c.isspace() for c in text)
    if letters < 0.75 * len(text) or _CHATTER.search(text) or text.lower().startswith(("example:", "examples:")):
        return False
    return kind == "item" or (text[0].isupper() or text[0] in "`\"“'(" or text[0].isdigit() or not text[0].isalpha() or text[-1] in ".!")


def _inside(text: str, block: Block) -> tuple[int, int] | None:
    """The span between the fences of a code block; None for one too long or empty, or cut off."""
    lines = text[block.start : block.end].split("\n")
    mark = lines[0].lstrip()
    if not mark.startswith(("```", "~~~")) or len(lines) < 3 or not lines[-1].strip().startswith(mark[:3]):
        return None
    start = block.start + len(lines[0]) + 1
    end = block.end - len(lines[-1]) - 1
    if not text[start:end].strip() or not CODE_LINES[0] <= len(lines) - 2 <= CODE_LINES[1]:
        return None
    return start, end

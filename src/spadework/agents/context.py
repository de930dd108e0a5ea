"""A sentence as it is understood where it stands: a cell of a table with its row and its column,
what leans on the sentence before it with that one.
"""

from __future__ import annotations

from spadework.tools.text.detect import spoken
from spadework.tools.text.language import language
from spadework.values import Section, Sentence

#: Words of what names a row at most.
LABEL_WORDS = 8


def in_context(section: Section) -> dict[Sentence, str]:
    """How sentences of a section are told to who sees them alone; the others are told as they
    stand.
    """
    return _leaning(section) | _cells(section)


def labels(section: Section) -> set[Sentence]:
    """What names a row of a table and states nothing."""
    found: set[Sentence] = set()
    at = 0
    for part in section.parts:
        for n, count in enumerate(part.takes):
            cell = section.sentences[at : at + count]
            if part.form == "table" and len(part.columns) > 1 and n % len(part.columns) == 0:
                found.update(one for one in cell if _is_label(one))
            at += count
    return found


def _is_label(cell: Sentence) -> bool:
    """Whether a cell is only a name: short, and without a mark of its own."""
    return not cell.evidence_ids and len(cell.text.split()) <= LABEL_WORDS


def _cells(section: Section) -> dict[Sentence, str]:
    told: dict[Sentence, str] = {}
    at = 0
    for part in section.parts:
        row, width = "", max(1, len(part.columns))
        for n, count in enumerate(part.takes):
            cell = section.sentences[at : at + count]
            at += count
            if part.form != "table":
                continue
            if n % width == 0:
                row = " ".join(one.text for one in cell)
                continue
            told |= {one: f"{row} · {part.columns[n % width]}: {one.text}" for one in cell}
    return told


def _leaning(section: Section) -> dict[Sentence, str]:
    told: dict[Sentence, str] = {}
    before = ""
    for one in section.sentences:
        if before and not one.code and language(spoken(one.text)).leaning(one.text):
            told[one] = f"{one.text} (it follows: “{before}”)"
        before = "" if one.code else one.text
    return told

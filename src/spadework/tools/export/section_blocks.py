"""A section's blocks: those chosen by its writer, or derived by code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from spadework.tools.export.step_items import step_items
from spadework.tools.text.sentences import leads
from spadework.values import Evidence, Form, Report, Section, Sentence

Item = tuple[Sentence, ...]
#: Sign after the marks of a conclusion.
INFERRED = "∴"
#: Content of an empty cell.
NOTHING = "–"


@dataclass(frozen=True)
class Set:
    """Sentences in one form. `items` are a paragraph, list items, or table cells row by row under
    `columns`; a sub-heading only has `text`. Only items and cells may hold code.
    """

    form: Form
    items: tuple[Item, ...] = ()
    text: str = ""
    columns: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[Item, ...]]:
        """A table's cells by row, padded to equal width."""
        width = max(1, len(self.columns))
        cells = (*self.items, *[()] * (-len(self.items) % width))
        return [cells[n : n + width] for n in range(0, len(cells), width)]


def blocks(section: Section, ledger: Mapping[str, Evidence]) -> list[Set]:
    """Return a section's blocks in order; together they hold every sentence once."""
    made: list[Set] = []
    at = 0
    told = _led(section.sentences, ledger)
    for part in section.parts:
        items = []
        for count in part.takes:
            items.append(told[at : at + count])
            at += count
        if part.by_code:
            own = section.sentences[at - sum(part.takes) : at]
            made += _by_code(section.model_copy(update={"sentences": own}), ledger)
        else:
            made += _whole(Set(part.form, tuple(items), part.text, part.columns))
    rest = section.model_copy(update={"sentences": section.sentences[at:]})
    return [*made, *_by_code(rest, ledger)]


def _led(sentences: Item, ledger: Mapping[str, Evidence]) -> Item:
    """Drop the marks of a sentence that only leads into the next, if that one cites as much."""
    pages = [{ledger[id_].url for id_ in each.evidence_ids if id_ in ledger} for each in sentences]
    leading = [
        not one.code and leads(one.text) and own <= following
        for one, own, following in zip(sentences, pages, pages[1:], strict=False)
    ]
    return tuple(
        one.model_copy(update={"evidence_ids": ()}) if bare else one
        for one, bare in zip(sentences, [*leading, False], strict=False)
    )


def emphasised(section: Section) -> bool:
    """Return whether the emphasis is the writer's, not that of quoted pages or other texts."""
    quoted = any(part.quoted for part in section.parts)
    return bool(section.parts) and not quoted and section.kind != "limits"


def concludes(report: Report) -> bool:
    """Return whether any sentence of the report is a conclusion."""
    said = [sentence for section in report.sections for sentence in section.sentences]
    return any(sentence.inferred and sentence.evidence_ids for sentence in said)


def _whole(block: Set) -> Iterator[Set]:
    if block.form == "table":
        yield block
    elif block.form in ("bullets", "steps"):
        yield replace(block, items=tuple(item for item in block.items if item))
    else:
        if block.form == "heading":
            yield Set("heading", text=block.text)
        for item in block.items:
            yield from _apart(item)


def _apart(sentences: Iterable[Sentence]) -> Iterator[Set]:
    for code, together in groupby(sentences, lambda sentence: sentence.code):
        if code:
            yield from (Set("code", ((sentence,),)) for sentence in together)
        else:
            yield Set("paragraph", (tuple(together),))


def _by_code(section: Section, ledger: Mapping[str, Evidence]) -> list[Set]:
    """Group sentences: a paragraph per page, items as lists, numbered if they count from 1, code
    alone.
    """
    made: list[Set] = []
    before = ""
    numbered, at = step_items(section.sentences, ledger), 0
    for n, sentence in enumerate(section.sentences):
        if n in numbered:
            made.append(Set("steps", numbered[n]))
            before, at = "steps", n + sum(map(len, numbered[n]))
        if n < at:
            continue
        cited = [ledger[id_] for id_ in sentence.evidence_ids if id_ in ledger]
        item = (not cited and section.kind != "summary") or any(e.kind == "item" for e in cited)
        form: Form = "code" if sentence.code else "bullets" if item else "paragraph"
        stands_with = form if form != "paragraph" else cited[0].url if cited else "plain"
        if form != "code" and made and stands_with == before:
            last = made[-1].items
            joined = (*last, (sentence,)) if item else (*last[:-1], (*last[-1], sentence))
            made[-1] = Set(form, joined)
        else:
            made.append(Set(form, ((sentence,),)))
        before = stands_with
    return made

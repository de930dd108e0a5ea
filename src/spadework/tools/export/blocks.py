"""A section as the blocks in which it is set: those its writer chose, or those that code makes of
its sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spadework.values import Evidence, Form, Section, Sentence

Item = tuple[Sentence, ...]


@dataclass(frozen=True)
class Set:
    """Sentences in one form. `items` are the paragraph, the items of a list, or the cells of a
    table, row by row under its `columns`; a sub-heading has a `text` alone.
    """

    form: Form
    items: tuple[Item, ...] = ()
    text: str = ""
    columns: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[Item, ...]]:
        """The cells of a table, row by row."""
        width = max(1, len(self.columns))
        return [self.items[n : n + width] for n in range(0, len(self.items), width)]


def blocks(section: Section, ledger: Mapping[str, Evidence]) -> list[Set]:
    """The blocks of a section, in order."""
    if not section.parts:
        return _by_code(section, ledger)
    made, at = [], 0
    for part in section.parts:
        items = []
        for count in part.takes:
            items.append(section.sentences[at : at + count])
            at += count
        made.append(Set(part.form, tuple(items), part.text, part.columns))
    return made


def _by_code(section: Section, ledger: Mapping[str, Evidence]) -> list[Set]:
    """Sentences that rest on one page stand in one paragraph; items make lists; code stands
    alone.
    """
    made: list[Set] = []
    before = ""
    for sentence in section.sentences:
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

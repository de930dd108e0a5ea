"""Divide a section into blocks, either as the writer chose or by fixed rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby, pairwise

from spadework.tools.text.language import ENGLISH, Phrases
from spadework.tools.text.sentences import leads
from spadework.values import Evidence, Form, Report, Section, Sentence


def step_items(
    told: Sequence[Sentence], ledger: Mapping[str, Evidence]
) -> dict[int, tuple[tuple[Sentence, ...], ...]]:
    """Return the lists of numbered steps in the sentences `told`, keyed by the index of each list's
    first sentence. Code between two steps belongs to the first.
    """
    lists: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for n, one in enumerate(told):
        cited = ledger.get(one.evidence_ids[0]) if len(one.evidence_ids) == 1 else None
        if cited and cited.step is not None and cited.steps is not None:
            lists[cited.content_hash, cited.steps].append((n, cited.step))
    found = {}
    for own in lists.values():
        places, numbers = zip(*own, strict=True)
        between = [one for a, b in pairwise(places) for one in told[a + 1 : b]]
        counts_up = list(numbers) == list(range(1, len(own) + 1))
        if len(own) > 1 and counts_up and all(one.code for one in between):
            ends = (*places[1:], places[-1] + 1)
            found[places[0]] = tuple(tuple(told[a:b]) for a, b in zip(places, ends, strict=True))
    return found


Item = tuple[Sentence, ...]
#: The sign that marks a conclusion.
INFERRED = "∴"
NOTHING = "–"


@dataclass(frozen=True)
class Set:
    """A block of sentences. `items` holds a paragraph, the items of a list, or the cells of a
    table, row by row. A sub-heading has only `text`.
    """

    form: Form
    items: tuple[Item, ...] = ()
    text: str = ""
    columns: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[Item, ...]]:
        """A table's cells, grouped into rows. The last row is padded with empty cells."""
        width = max(1, len(self.columns))
        cells = (*self.items, *[()] * (-len(self.items) % width))
        return [cells[n : n + width] for n in range(0, len(cells), width)]


def blocks(section: Section, ledger: Mapping[str, Evidence], say: Phrases = ENGLISH) -> list[Set]:
    """Return a section's blocks in order. A note below a table explains the sign in empty cells."""
    made: list[Set] = []
    at = 0
    told = section.sentences
    for part in section.parts:
        ends = [*accumulate(part.takes, initial=at)]
        items = [told[start:end] for start, end in pairwise(ends)]
        at = ends[-1]
        if part.by_code:
            made += _by_code(section.model_copy(update={"sentences": (*chain(*items),)}), ledger)
        else:
            made += _whole(Set(part.form, tuple(items), part.text, part.columns))
        if part.form == "table" and not part.quoted and not all(items):
            meaning = Sentence(text=say("nothing_said", sign=NOTHING))
            made.append(Set("paragraph", ((meaning,),)))
    made += _by_code(section.model_copy(update={"sentences": told[at:]}), ledger)
    led = iter(_led([one for block in made for item in block.items for one in item], ledger))
    made = [_with_sentences(block, led) for block in made]
    return [_marked_once(block, ledger) for block in made]


def _with_sentences(block: Set, sentences: Iterator[Sentence]) -> Set:
    return replace(block, items=tuple(tuple(next(sentences) for _ in item) for item in block.items))


def _marked_once(block: Set, ledger: Mapping[str, Evidence]) -> Set:
    """Keep only the last citation mark if all sentences of an item or row cite the same pages."""
    width = max(1, len(block.columns)) if block.form == "table" else 1
    made: list[Sentence] = []
    for start in range(0, len(block.items), width):
        cells = block.items[start : start + width]
        made += _shared([one for cell in cells for one in cell], ledger)
    return _with_sentences(block, iter(made))


def _shared(sentences: Sequence[Sentence], ledger: Mapping[str, Evidence]) -> list[Sentence]:
    cited = [one for one in sentences if one.evidence_ids or not leads(one.text)]
    told = {(_pages(one, ledger), one.inferred, one.code) for one in cited}
    if len(cited) < 2 or len(told) > 1 or cited[-1].code or not cited[-1].evidence_ids:
        return _signed_once(sentences)
    ids = tuple(dict.fromkeys(id_ for one in cited for id_ in one.evidence_ids))
    last = max(n for n, one in enumerate(sentences) if one.evidence_ids)
    return [
        one.model_copy(update={"evidence_ids": ids if n == last else ()})
        for n, one in enumerate(sentences)
    ]


def _signed_once(sentences: Sequence[Sentence]) -> list[Sentence]:
    goes_on = [one.inferred for one in sentences[1:]] + [False]
    return [
        one.model_copy(update={"inferred": one.inferred and not more})
        for one, more in zip(sentences, goes_on, strict=True)
    ]


def _pages(sentence: Sentence, ledger: Mapping[str, Evidence]) -> frozenset[str]:
    return frozenset(ledger[id_].url for id_ in sentence.evidence_ids if id_ in ledger)


def _led(sentences: Sequence[Sentence], ledger: Mapping[str, Evidence]) -> Item:
    """Drop the citations of a sentence that only introduces what follows, such as a list, if the
    next citations are to the same pages. Move the citations of code to the sentence that
    introduces it.
    """
    made = [*sentences]
    for n, one in enumerate(sentences[:-1]):
        if one.code or not leads(one.text):
            continue
        following = next((each for each in sentences[n + 1 :] if each.evidence_ids), one)
        if following.code and following is sentences[n + 1]:
            ids = dict.fromkeys((*one.evidence_ids, *following.evidence_ids))
            made[n] = one.model_copy(update={"evidence_ids": tuple(ids)})
            made[n + 1] = following.model_copy(update={"evidence_ids": ()})
        elif following is not one and _pages(one, ledger) <= _pages(following, ledger):
            made[n] = one.model_copy(update={"evidence_ids": ()})
    return tuple(made)


def emphasised(section: Section) -> bool:
    """Return whether a section's emphasis comes from the writer rather than from quoted pages."""
    quoted = any(part.quoted for part in section.parts)
    return bool(section.parts) and not quoted and section.kind != "limits"


def concludes(report: Report) -> bool:
    """Return whether the report contains a conclusion."""
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
        # A documented call gets a paragraph of its own.
        alone = form == "code" or (form == "paragraph" and sentence.text.startswith("`"))
        if not alone and made and stands_with == before:
            last = made[-1].items
            joined = (*last, (sentence,)) if item else (*last[:-1], (*last[-1], sentence))
            made[-1] = Set(form, joined)
        else:
            made.append(Set(form, ((sentence,),)))
        before = "" if alone else stands_with
    return made

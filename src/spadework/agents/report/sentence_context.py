"""Put sentences in context, such as their table cell or the preceding sentence."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from spadework.agents.report.marked_text import joined_ids
from spadework.tools.text.language import language, spoken
from spadework.tools.text.sentences import leads, sentences
from spadework.values import Part, Section, Sentence

#: Maximum words in a purely introductory line.
LEAD_WORDS = 8


@dataclass(frozen=True)
class Place:
    """A sentence's position in the layout of its section. Other sentences are given by index.
    - `after`: the preceding sentence, or None.
    - `row`: for a sentence in a table cell, the sentences in its row label.
    - `column`: the name of the cell's column, or None outside table cells.
    - `opens_row`: whether the sentence is a row label.
    - `ahead`: the sentences that this sentence can introduce.
    - `alone`: whether rules, not a model, laid out the sentence, so that it has no context.
    """

    after: int | None = None
    row: tuple[int, ...] = ()
    column: str | None = None
    opens_row: bool = False
    ahead: range = range(0)
    alone: bool = False

    @property
    def in_table(self) -> bool:
        """Whether the sentence is in a table."""
        return self.opens_row or self.column is not None


@dataclass(frozen=True)
class Stated:
    """A sentence in context. Equal instances share a verdict.
    - `row`: for a table cell, the names of its row and column.
    - `follows`: a phrase quoting the sentence on which this one depends.
    - `before`: the preceding sentence, if `follows` is "".
    - `of_row`: for a row label, the ids of the evidence that its row cites.
    """

    sentence: Sentence
    row: str = ""
    follows: str = ""
    label: bool = False
    ids: tuple[str, ...] = field(default=(), compare=False)
    of_row: tuple[str, ...] = field(default=(), compare=False)
    before: str = field(default="", compare=False)

    @property
    def mark(self) -> str:
        """The evidence ids, formatted as in a citation mark."""
        return joined_ids(self.sentence, self.of_row or self.ids)

    @property
    def in_order(self) -> str:
        """The sentence, with its row and column if it is in a table cell, for a prompt that shows a
        section's sentences in order.
        """
        return f"{self.row}: {self.sentence.text}" if self.row else self.sentence.text

    @property
    def in_words(self) -> str:
        """The sentence with the context that a reader needs to understand it alone."""
        if self.row:
            return f"{self.row}: {self.sentence.text}"
        if self.label:
            return f"{self.sentence.text} (it names a row)"
        return f"{self.sentence.text} ({self.follows})" if self.follows else self.sentence.text

    @property
    def for_judge(self) -> str:
        """The sentence and its context, for a judging model. An empty `before` is left out."""
        return f"{self.in_words} (it comes after “{self.before}”)" if self.before else self.in_words

    @property
    def parts(self) -> tuple[Stated, ...]:
        """The individual sentences of the text, each with the preceding sentence as its context."""
        whole = self.sentence
        told = [] if whole.code else [whole.text[slice(*at)] for at in sentences(whole.text)]
        if len(told) < 2:
            return (self,)
        follows = [self.follows, *(f"it comes after “{before}”" for before in told)]
        return tuple(
            replace(
                self,
                sentence=whole.model_copy(update={"text": text}),
                follows=after,
                before="" if after else self.before,
            )
            for text, after in zip(told, follows, strict=False)
        )


def state_sentences(section: Section, gone: Container[int] = ()) -> tuple[Stated, ...]:
    """Return a section's sentences in context, as if those at the positions `gone` were removed."""
    told = section.sentences
    cited = _ids(told, range(len(told)))
    made = []
    before = _before(section)
    for n, (one, place) in enumerate(zip(told, places(section), strict=True)):
        label = place.opens_row and bool(place.ahead) and not one.evidence_ids
        of_row = " ".join(told[at].text for at in place.row if at not in gone)
        row = "" if place.column is None else f"{of_row} · {place.column}"
        after, follows = before.get(n), ""
        if after is not None and after not in gone:
            lead = told[after]
            follows = f"it comes after {'code' if lead.code else f'“{lead.text}”'}"
        ids = cited if label else one.evidence_ids
        marks = _ids(told, place.ahead) if label else ()
        near = after is None and place.after == n - 1 and not told[n - 1].code
        last = told[n - 1].text if near else ""
        made.append(Stated(one, row, follows, label, ids, marks, last))
    return tuple(made)


def _ids(told: Sequence[Sentence], at: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id_ for n in at for id_ in told[n].evidence_ids))


def leans(sentence: Sentence) -> bool:
    """Return whether a sentence refers to the preceding one ("However, …")."""
    return not sentence.code and language(spoken(sentence.text)).needs_context(sentence.text)


def leant_on(section: Section) -> set[int]:
    """Return the positions of sentences that others depend on, including row labels."""
    rows = (at for place in places(section) for at in place.row)
    return {*rows, *_before(section).values()}


def leans_on_lead(one: Stated) -> bool:
    """Return whether a sentence depends on an introductory line."""
    return bool(one.follows) and not leans(one.sentence)


def _before(section: Section) -> dict[int, int]:
    told, where = section.sentences, places(section)
    return {
        n: place.after
        for n, (one, place) in enumerate(zip(told, where, strict=True))
        if place.after is not None
        and (
            leans(one)
            or (not one.code and leads(told[place.after].text) and n in where[place.after].ahead)
        )
    }


def dangling_leads(section: Section, gone: Container[int]) -> set[int]:
    """Find the introductory lines that introduce nothing once the sentences `gone` are removed."""
    return {
        n
        for n, (one, place) in enumerate(zip(section.sentences, places(section), strict=True))
        if n not in gone
        and not (one.code or place.in_table or place.alone)
        and leads(one.text)
        and all(after in gone for after in place.ahead)
    }


def places(section: Section) -> tuple[Place, ...]:
    """Return the `Place` of each sentence in a section."""
    made: list[Place] = []
    last: int | None = None
    for n, part in enumerate(section.parts):
        if part.form == "heading":
            last = None
        elif part.form == "table":
            made += _cells(part, len(made))
        elif part.by_code:
            made += [Place(alone=True)] * sum(part.takes)
            last = None
        else:
            following = (sum(next_.takes) for next_ in section.parts[n + 1 :] if next_.takes)
            last = _in_line(part, next(following, 0), made, last)
    return (*made, *[Place(alone=True)] * (len(section.sentences) - len(made)))


def _in_line(part: Part, next_: int, made: list[Place], last: int | None) -> int | None:
    """Append a `Place` to `made` for each sentence of a layout part. Return the index of the
    sentence that the next part may continue, or None.
    """
    end = len(made) + sum(part.takes)
    before = last
    for count in part.takes:
        at = len(made)
        first = before if part.form == "bullets" else last
        for n in range(at, at + count):
            rest = range(n + 1, at + count) or range(n + 1, end) or range(end, end + next_)
            made.append(Place(after=first if n == at else n - 1, ahead=rest))
        last = at + count - 1 if count else last
    return before if part.form == "bullets" and before is not None else last


def _cells(part: Part, begin: int) -> Iterator[Place]:
    width, at = max(1, len(part.columns)), begin
    row: tuple[int, ...] = ()
    for n, count in enumerate(part.takes):
        cell = tuple(range(at, at + count))
        at += count
        if n % width == 0:
            row = cell
            rest = range(at, at + sum(part.takes[n + 1 : n + width]))
            yield from (Place(opens_row=True, ahead=rest) for _ in cell)
        else:
            column = part.columns[n % width] if part.columns else ""
            yield from (Place(row=row, column=column) for _ in cell)

"""Sections as Markdown with marks, as their writer gave them, which marked_text reads; those of one
heading are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spadework.values import Part, Section, Sentence


def with_marks(section: Section) -> str:
    """A section as Markdown with the marks of its evidence, as its writer gave it."""
    drawn: list[str] = []
    for part, items in parts_of(section):
        match part.form:
            case "heading":
                drawn.append(f"### {part.text}")
            case "table":
                drawn.append(_table(part.columns, items))
            case "bullets" | "steps":
                steps = part.form == "steps"
                signs = (f"{n}. " if steps else "- " for n in range(1, len(items) + 1))
                drawn.append("\n".join(map(_item, signs, items)))
            case _:
                drawn += [_item_text(item) for item in items]
    return "\n\n".join(drawn)


def _table(columns: Sequence[str], items: Sequence[Sequence[Sentence]]) -> str:
    width = max(1, len(columns))
    cells = [*columns, *["---"] * width, *(_item_text(cell).replace("\n", " ") for cell in items)]
    cells = [cell.replace("|", "\\|") for cell in cells]
    rows = (cells[n : n + width] for n in range(0, len(cells), width))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _item(sign: str, item: Sequence[Sentence]) -> str:
    return sign + _item_text(item).replace("\n", "\n" + " " * len(sign))


def _item_text(item: Sequence[Sentence]) -> str:
    return "\n".join(_fence(one) if one.code else f"{one.text}{mark_of(one)}" for one in item)


def _fence(code: Sentence) -> str:
    ticks = "````" if "```" in code.text else "```"
    return f"{ticks}{code.language}{mark_of(code)}\n{code.text}\n{ticks}"


def parts_of(section: Section) -> Iterator[tuple[Part, list[tuple[Sentence, ...]]]]:
    """The parts of a section with the sentences of each item; a paragraph for each in none."""
    at = 0
    for part in section.parts:
        items = []
        for count in part.takes:
            items.append(section.sentences[at : at + count])
            at += count
        if part.by_code:
            yield from _each_alone(one for item in items for one in item)
        else:
            yield part, items
    yield from _each_alone(section.sentences[at:])


def _each_alone(told: Iterable[Sentence]) -> Iterator[tuple[Part, list[tuple[Sentence, ...]]]]:
    return ((Part(form="paragraph", takes=(1,)), [(one,)]) for one in told)


def mark_of(sentence: Sentence) -> str:
    """The mark of a sentence behind a space; "" for one that cites nothing."""
    ids = joined_ids(sentence, sentence.evidence_ids)
    return f" [{ids}]" if sentence.evidence_ids else ""


def joined_ids(sentence: Sentence, ids: Sequence[str]) -> str:
    """Ids as they stand in the mark of a sentence."""
    return f"{'+'.join(ids)}→" if sentence.inferred else ", ".join(ids)


def one_a_heading(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, of which a later one with the heading of another is its end."""
    made: dict[str, Section] = {}
    for section in sections:
        first = made.get(section.heading.casefold())
        if first is None:
            made[section.heading.casefold()] = section
            continue
        made[section.heading.casefold()] = first.followed_by(section)
    return tuple(made.values())

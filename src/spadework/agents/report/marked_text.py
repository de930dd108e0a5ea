"""Parse a writer's Markdown into sentences, citation marks and layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import chain
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from spadework.tools.text.markdown import plain
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.text.sentences import leads, sentences
from spadework.values import Form, Part, Section, Sentence

MARK_IDS = r"\[\s*(E\d+(?:\s*[+,;/]\s*E\d+)*)\s*(→|->|⟶)?\s*\]"
_IN_CODE = re.compile(r"(`[^`\n]+`)")
#: Accepted variants of citation marks: other brackets, a lowercase `e`, ranges and arrows.
_ARROW = "→|->|⟶"
_ONE = rf"[eE]\d{{1,9}}\s*(?:[-–—]\s*[eE]?\d{{1,9}})?\s*(?:{_ARROW})?"
_LOOSE = re.compile(rf"[\[【]\s*({_ONE}(?:\s*[+,;/&]\s*{_ONE})*)\s*[\]】]")
_RANGE = re.compile(r"[eE](\d+)(\s*[-–—]\s*[eE]?(\d+))?")
#: A citation mark, and the separator or short word ("and") that joins it to the next one.
_JOINED = re.compile(
    rf"({MARK_IDS})\s*(?:[,;&]|[^\W\d_]{{1,3}}(?=\s*{MARK_IDS}\s*(?:[.!?;]|$)))\s*(?=\[\s*E\d)"
)
MOST_IN_RANGE = 12


def uniform(text: str) -> str:
    """Normalize citation marks to the form `[E1, E2]`, except in inline code."""
    return beside_code(text, _uniform)


def beside_code(text: str, change: Callable[[str], str]) -> str:
    """Return the text with `change` applied everywhere except in inline code."""
    parts = _IN_CODE.split(text)
    return "".join(part if n % 2 else change(part) for n, part in enumerate(parts))


def _uniform(text: str) -> str:
    text = _LOOSE.sub(lambda found: _bracket(found[1]), text)
    joined = None
    while joined != text:
        joined, text = text, _JOINED.sub(r"\1 ", text)
    return text


def _bracket(inside: str) -> str:
    ids: list[int] = []
    for first, _, last in _RANGE.findall(inside):
        low, high = int(first), int(last or first)
        ids += range(low, high + 1) if 0 <= high - low < MOST_IN_RANGE else [low, high]
    arrow = "→" if re.search(_ARROW, inside) else ""
    return f"[{', '.join(f'E{n}' for n in ids)}{arrow}]"


_MARKS = re.compile(rf"(?:\s*{MARK_IDS})+")
_MARK = re.compile(MARK_IDS)
#: Citation marks before a sentence's final punctuation.
_BEFORE_STOP = re.compile(rf"((?:\s*{MARK_IDS})+)([.!?:…。！？：]+)")
_ID = re.compile(r"E\d+")
#: A model's answer that consists of one fenced Markdown block with citation marks.
_WHOLE = re.compile(r"```(?:md|markdown)?[ \t]*\n((?:(?!```).)*\[E\d+.*)\n```", re.DOTALL)
_TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|</?[a-zA-Z!?][^>]*>", re.DOTALL)
_STOPS = ".!?:…。！？："
#: A short bold paragraph that does not end like a sentence is read as a heading.
_BOLD = re.compile(r"\*\*([^\s*](?:[^*\n]{0,78}[^\s*.!?:…。！？：])?)\*\*")


class _Said(NamedTuple):
    text: str
    ids: tuple[str, ...]
    concludes: bool


@dataclass
class _Made:
    sentences: list[Sentence] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def goes_on(self, first: int) -> Part | None:
        """If a new list starting at number `first` continues a numbered list in `parts`, remove and
        return the old list, else return None. Parts after the old list join its last item.
        """
        forms = [part.form for part in self.parts]
        if first < 2 or "steps" not in forms:
            return None
        at = len(forms) - 1 - forms[::-1].index("steps")
        steps, since = self.parts[at], self.parts[at + 1 :]
        if len(steps.takes) != first - 1 or {part.form for part in since} & {"heading", "table"}:
            return None
        del self.parts[at:]
        more = sum(count for part in since for count in part.takes)
        return steps.model_copy(update={"takes": (*steps.takes[:-1], steps.takes[-1] + more)})

    def head(self, text: str) -> None:
        if not is_injection(text):
            self.parts.append(Part(form="heading", text=text))

    def add(
        self, form: Form, items: Sequence[Sequence[Sentence]], columns: Sequence[str] = ()
    ) -> None:
        kept = items if form == "table" else [item for item in items if item]
        if any(kept):
            self.sentences += [sentence for item in kept for sentence in item]
            takes = tuple(len(item) for item in kept)
            self.parts.append(Part(form=form, columns=tuple(columns), takes=takes))


def section_of(heading: str, markdown: str) -> Section:
    """Parse a writer's Markdown into a section, dropping a first heading that repeats `heading`."""
    made = _Made()
    whole = _WHOLE.fullmatch(markdown.strip())
    tokens = MarkdownIt("commonmark").enable("table").parse(whole[1] if whole else markdown)
    _read(tokens, made)
    first = made.parts[0] if made.parts else None
    if first and first.form == "heading" and first.text.casefold() == heading.casefold():
        made.parts.pop(0)
    told, led = made.sentences, dict[int, tuple[Sentence, ...]]()
    for n, one in enumerate(told):
        # A lead-in ("… as follows:") shares the evidence of the sentence it introduces.
        if not one.evidence_ids and leads(one.text):
            ids = next((after.evidence_ids for after in told[n:] if after.evidence_ids), ())
            led[n] = (one.model_copy(update={"evidence_ids": ids}),)
    section = Section(heading=heading, sentences=tuple(told), parts=tuple(made.parts))
    return section.changed(led)


def bare_code(text: str, before: Sentence) -> tuple[Sentence, ...]:
    """Return the code sentence `before` with the code in `text` instead, or () if there is none."""
    ids = _ids_in(text)
    code = _MARKS.sub("", text).strip("`\n")
    changes = {"text": code, "evidence_ids": ids or before.evidence_ids}
    return (before.model_copy(update=changes),) if code.strip() else ()


def parse_sentences(text: str) -> list[Sentence]:
    """Split a paragraph into sentences, each with the evidence in the next citation mark."""
    text = _BEFORE_STOP.sub(r"\4\1", uniform(" ".join(text.split())))
    found: list[_Said] = []
    at = 0
    for match in [*_MARKS.finditer(text), None]:
        piece = text[at : match.start() if match else len(text)].strip()
        at = match.end() if match else len(text)
        ids = tuple(dict.fromkeys(_ID.findall(match[0]))) if match else ()
        concludes = match is not None and any(mark[2] for mark in _MARK.finditer(match[0]))
        if piece and found and _goes_on(found[-1].text, piece):
            end = next((end for _, end in sentences(piece)), len(piece))
            first, piece = piece[:end], piece[end:].strip()
            before = found.pop()
            gap = "" if first[0] in ",;:.!?)" else " "
            more, ends = ((), False) if piece else (ids, concludes)
            joined = tuple(dict.fromkeys((*before.ids, *more)))
            found.append(_Said(f"{before.text}{gap}{first}", joined, before.concludes or ends))
        if match is None:
            # Text after the last citation mark is based on that mark's evidence, unless the text
            # introduces what follows.
            piece, lead = _without_lead(piece)
            last = found[-1].ids if found else ()
            found += [_Said(piece, last, False), _Said(lead, (), False)]
        elif piece:
            found.append(_Said(piece, ids, concludes))
    return [
        Sentence(text=said.text, evidence_ids=said.ids, inferred=said.concludes)
        for said in found
        if any(char.isalnum() for char in said.text)
    ]


def _without_lead(text: str) -> tuple[str, str]:
    if not leads(text):
        return text, ""
    start = next((start for start, _ in reversed(sentences(text))), 0)
    return text[:start].strip(), text[start:]


def _goes_on(before: str, after: str) -> bool:
    if after[0] in ",;:":  # true even after an abbreviation, as in "et al.,"
        return True
    return before[-1] not in _STOPS and (after[0] in ".!?)–—" or after[0].islower())


def _read(tokens: Sequence[Token], made: _Made) -> None:
    for token, inside in _opened(tokens):
        if token.type == "heading_open":
            made.head(plain(_MARKS.sub("", inside[0].content)))
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            form: Form = "bullets" if token.type[0] == "b" else "steps"
            found = [_item(item) for _, item in _opened(inside)]
            # A list nested in a bullet becomes further bullets. A list nested in a numbered step
            # joins the step.
            items = [*chain(*found)] if form == "bullets" else [[*chain(*each)] for each in found]
            before = made.goes_on(int(token.attrGet("start") or 1)) if form == "steps" else None
            made.add(form, items)
            if before:
                made.parts[-1] = before.model_copy(
                    update={"takes": (*before.takes, *made.parts[-1].takes)}
                )
        elif token.type == "table_open":
            cells = [parse_sentences(cell) for cell in _cells(inside, "td_open")]
            made.add("table", cells, _columns(inside))
        elif token.type in ("fence", "code_block") and token.content.strip():
            made.add("code", [[_code(token)]])
        elif token.type == "blockquote_open":
            _read(inside, made)
        elif token.type == "paragraph_open":
            _read_paragraph(inside[0].content, made)
        elif token.type == "html_block":
            made.add("paragraph", [parse_sentences(_visible_words(token.content))])


def _read_paragraph(text: str, made: _Made) -> None:
    if bold := _BOLD.fullmatch(text.strip()):
        made.head(bold[1])
    else:
        made.add("paragraph", [parse_sentences(text)])


def _opened(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    begun = depth = 0
    for n, token in enumerate(tokens):
        depth += token.nesting
        if depth <= 0:
            yield tokens[begun], tokens[begun + 1 : n]
            begun, depth = n + 1, 0


def _cells(tokens: Sequence[Token], kind: str) -> list[str]:
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == kind]


def _columns(tokens: Sequence[Token]) -> list[str]:
    return [plain(_MARKS.sub("", cell)) for cell in _cells(tokens, "th_open")]


def _item(tokens: Sequence[Token]) -> list[list[Sentence]]:
    items: list[list[Sentence]] = [[]]
    for token, inside in _opened(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            for _, item in _opened(inside):
                items += _item(item)
        elif token.type == "table_open":
            items[-1] += _rows(inside)
        elif token.type == "html_block":
            items[-1] += parse_sentences(_visible_words(token.content))
        elif token.type == "inline":
            items[-1] += parse_sentences(token.content)
        elif token.type in ("fence", "code_block") and token.content.strip():
            items[-1].append(_code(token))
        elif inside:
            first, *more = _item(inside)
            items[-1] += first
            items += more
    return items


def _rows(tokens: Sequence[Token]) -> Iterator[Sentence]:
    columns, cells = _columns(tokens), [uniform(cell) for cell in _cells(tokens, "td_open")]
    for n in range(0, len(cells), max(1, len(columns))):
        row = zip(columns, cells[n : n + len(columns)], strict=False)
        said = [(name, _MARKS.sub("", cell).strip(), _brackets(cell)) for name, cell in row]
        text = "; ".join(f"{name}: {cell}" for name, cell, _ in said if cell)
        marks = " ".join(mark for *_, found in said for mark in found)
        yield from parse_sentences(f"{text.rstrip('.')}. {marks}")


def _visible_words(html: str) -> str:
    return unescape(_TAG.sub(" ", html))


def _code(token: Token) -> Sentence:
    info = uniform(token.info)
    language, _, _ = _MARKS.sub("", info).strip().partition(" ")
    return Sentence(
        text=token.content.rstrip("\n"),
        evidence_ids=_ids_in(info),
        inferred=any(mark[2] for mark in _MARK.finditer(info)),
        code=True,
        language=language,
    )


def _ids_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_ID.findall(" ".join(_brackets(text)))))


def _brackets(text: str) -> Iterable[str]:
    return (match[0] for match in _MARK.finditer(text))


def with_marks(section: Section) -> str:
    """Format a section as Markdown with citation marks, preserving its writer's layout."""
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
                drawn.append("\n".join(map(_write_item, signs, items)))
            case _:
                drawn += [_item_text(item) for item in items]
    return "\n\n".join(drawn)


def _table(columns: Sequence[str], items: Sequence[Sequence[Sentence]]) -> str:
    width = max(1, len(columns))
    cells = [*columns, *["---"] * width, *(_item_text(cell).replace("\n", " ") for cell in items)]
    cells = [cell.replace("|", "\\|") for cell in cells]
    rows = (cells[n : n + width] for n in range(0, len(cells), width))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _write_item(sign: str, item: Sequence[Sentence]) -> str:
    return sign + _item_text(item).replace("\n", "\n" + " " * len(sign))


def _item_text(item: Sequence[Sentence]) -> str:
    return "\n".join(_fence(one) if one.code else f"{one.text}{mark_of(one)}" for one in item)


def _fence(code: Sentence) -> str:
    ticks = "````" if "```" in code.text else "```"
    return f"{ticks}{code.language}{mark_of(code)}\n{code.text}\n{ticks}"


def parts_of(section: Section) -> Iterator[tuple[Part, list[tuple[Sentence, ...]]]]:
    """Yield each layout part of a section, such as a list, with its sentences grouped by item.
    Sentences that no model laid out become paragraphs.
    """
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
    """Return a sentence's citation mark, preceded by a space, or "" if it cites nothing."""
    ids = joined_ids(sentence, sentence.evidence_ids)
    return f" [{ids}]" if sentence.evidence_ids else ""


def joined_ids(sentence: Sentence, ids: Sequence[str]) -> str:
    """Join evidence ids as "E1, E2", or as "E1+E2→" if the sentence is a conclusion."""
    return f"{'+'.join(ids)}→" if sentence.inferred else ", ".join(ids)


def one_a_heading(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Merge sections that have the same heading, ignoring case."""
    made: dict[str, Section] = {}
    for section in sections:
        first = made.get(section.heading.casefold())
        if first is None:
            made[section.heading.casefold()] = section
            continue
        made[section.heading.casefold()] = first.followed_by(section)
    return tuple(made.values())

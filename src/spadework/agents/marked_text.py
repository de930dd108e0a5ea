"""Markdown with marks, as a writer gives it, as sentences and the form in which they are set.

A mark such as `[E12]` or `[E3, E7]` stands behind what it proves; `[E3+E7→]` behind what concludes
from these. What stands before a mark is one `Sentence`, however many its writer made of it. A fence
is marked behind its language. What ends a paragraph without a mark rests on the last mark in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import chain
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from spadework.agents.mark_spelling import MARK_IDS, uniform
from spadework.tools.text.lead_in import leads
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.text.quotes import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Form, Part, Section, Sentence

_MARKS = re.compile(rf"(?:\s*{MARK_IDS})+")
_MARK = re.compile(MARK_IDS)
#: Marks before the stop of their sentence.
_BEFORE_STOP = re.compile(rf"((?:\s*{MARK_IDS})+)([.!?:…。！？：]+)")
_ID = re.compile(r"E\d+")
#: An answer that is fenced as a whole.
_WHOLE = re.compile(r"```(?:md|markdown)?[ \t]*\n((?:(?!```).)*\[E\d+.*)\n```", re.DOTALL)
#: What of HTML is not its words.
_TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|</?[a-zA-Z!?][^>]*>", re.DOTALL)
_STOPS = ".!?:…。！？："
#: A paragraph of a few bold words that is no sentence.
_BOLD = re.compile(r"\*\*([^\s*](?:[^*\n]{0,78}[^\s*.!?:…。！？：])?)\*\*")


class _Said(NamedTuple):
    """A stretch before a mark, the ids it is marked with, and whether it concludes."""

    text: str
    ids: tuple[str, ...]
    concludes: bool


@dataclass
class _Made:
    """What was read of a text so far."""

    sentences: list[Sentence] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def goes_on(self, first: int) -> Part | None:
        """The steps that a list which begins with the number `first` goes on, taken back with what
        was said since: that belongs to the last of them. None where there are none.
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
    """The section of a heading. Its own heading in the text is left out; no mark, no evidence."""
    made = _Made()
    whole = _WHOLE.fullmatch(markdown.strip())
    tokens = MarkdownIt("commonmark").enable("table").parse(whole[1] if whole else markdown)
    _read(tokens, made)
    first = made.parts[0] if made.parts else None
    if first and first.form == "heading" and first.text.casefold() == heading.casefold():
        made.parts.pop(0)
    told, led = made.sentences, dict[int, tuple[Sentence, ...]]()
    for n, one in enumerate(told):
        # What only leads to the next sentence ("… as follows:") rests on what that rests on.
        if not one.evidence_ids and leads(one.text):
            ids = next((after.evidence_ids for after in told[n:] if after.evidence_ids), ())
            led[n] = (one.model_copy(update={"evidence_ids": ids}),)
    section = Section(heading=heading, sentences=tuple(told), parts=tuple(made.parts))
    return section.changed(led)


def bare_code(text: str, before: Sentence) -> tuple[Sentence, ...]:
    """Code that is told without a fence, in the place of other code."""
    ids = _ids_in(text)
    code = _MARKS.sub("", text).strip("`\n")
    changes = {"text": code, "evidence_ids": ids or before.evidence_ids}
    return (before.model_copy(update=changes),) if code.strip() else ()


def parse_sentences(text: str) -> list[Sentence]:
    """Return what a paragraph says, each stretch before a mark whole, with its evidence: a writer
    marks what he wrote, and it is not cut where a stop may end a sentence. A mark within a sentence
    is of all of it.
    """
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
            # The marks that follow are its own unless other sentences stand before them.
            more, ends = ((), False) if piece else (ids, concludes)
            joined = tuple(dict.fromkeys((*before.ids, *more)))
            found.append(_Said(f"{before.text}{gap}{first}", joined, before.concludes or ends))
        if match is None:
            # What ends the paragraph without a mark rests on the last one, but for what leads on.
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
    """Return a text without its last sentence where that leads to what follows, and that sentence;
    "" is what there is none of.
    """
    if not leads(text):
        return text, ""
    start = next((start for start, _ in reversed(sentences(text))), 0)
    return text[:start].strip(), text[start:]


def _goes_on(before: str, after: str) -> bool:
    """Whether a text goes on a sentence that a mark stands in."""
    return before[-1] not in _STOPS and (after[0] in ",;:.!?)–—" or after[0].islower())


def _read(tokens: Sequence[Token], made: _Made) -> None:
    """The blocks of a text, in order."""
    for token, inside in _opened(tokens):
        if token.type == "heading_open":
            made.head(plain(_MARKS.sub("", inside[0].content)))
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            form: Form = "bullets" if token.type[0] == "b" else "steps"
            found = [_item(item) for _, item in _opened(inside)]
            # A list in an item of bullets gives items; in a step it belongs to the step.
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
        # A heading in other signs: it says nothing that could be proven.
        made.head(bold[1])
    else:
        made.add("paragraph", [parse_sentences(text)])


def _opened(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """The tokens that stand in no other, each with those that stand between it and its end."""
    begun = depth = 0
    for n, token in enumerate(tokens):
        depth += token.nesting
        if depth <= 0:
            yield tokens[begun], tokens[begun + 1 : n]
            begun, depth = n + 1, 0


def _cells(tokens: Sequence[Token], kind: str) -> list[str]:
    """What stands in the cells of a table, row by row."""
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == kind]


def _columns(tokens: Sequence[Token]) -> list[str]:
    return [plain(_MARKS.sub("", cell)) for cell in _cells(tokens, "th_open")]


def _item(tokens: Sequence[Token]) -> list[list[Sentence]]:
    """All that an item of a list says: itself, each item of the lists in it, a table row by row."""
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
    """The rows of a table, each as a sentence under the names of its columns."""
    columns, cells = _columns(tokens), [uniform(cell) for cell in _cells(tokens, "td_open")]
    for n in range(0, len(cells), max(1, len(columns))):
        row = zip(columns, cells[n : n + len(columns)], strict=False)
        said = [(name, _MARKS.sub("", cell).strip(), _brackets(cell)) for name, cell in row]
        text = "; ".join(f"{name}: {cell}" for name, cell, _ in said if cell)
        marks = " ".join(mark for *_, found in said for mark in found)
        yield from parse_sentences(f"{text.rstrip('.')}. {marks}")


def _visible_words(html: str) -> str:
    """The words of a piece of HTML."""
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
    """The ids of the marks of a text, each once."""
    return tuple(dict.fromkeys(_ID.findall(" ".join(_brackets(text)))))


def _brackets(text: str) -> Iterable[str]:
    return (match[0] for match in _MARK.finditer(text))

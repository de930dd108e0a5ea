"""Compute answers from lists and whole tables: counts, sums, extremes and looked-up values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote

from spadework.agents.evidence.expectation import asked_of
from spadework.agents.evidence.passages import Judgement, PassageView, Spot
from spadework.agents.extractive.candidates import LIST_CHARS
from spadework.agents.extractive.question_parts import counted
from spadework.tools.text.facts import numbers, spelled_numbers, stems
from spadework.tools.text.language import ENGLISH, Phrases, language, spoken
from spadework.tools.text.markdown import blocks, plain, units
from spadework.tools.text.passages import heading_at, headings, paths
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.text.sentences import is_ended, leads, sentences
from spadework.tools.text.table_operations import Computed, compute
from spadework.values import CODE, Evidence, Page, Plan, Sentence, Topic

Span = tuple[int, int]
CUE = "count"
LEAST_ITEMS, MOST_ITEMS = 2, 60
MOST_ROWS = 20


class Listed(NamedTuple):
    """A list in a text.
    - `led`: the span of the sentence that introduces it, if any.
    - `name`: the introduction, or the heading above.
    - `items`: the spans of its items.
    - `things`: the number of top-level items.
    """

    led: Span | None
    name: str
    items: tuple[Span, ...]
    things: int

    @property
    def parts(self) -> tuple[Span, ...]:
        """The spans of the introduction, if any, and of the items."""
        return (self.led, *self.items) if self.led else self.items

    def cut_at(self, shown: int) -> bool:
        """Return whether the list is too long to show more than `shown` items."""
        size = sum(end - start for start, end in self.items[: shown + 1])
        return shown < len(self.items) and size > LIST_CHARS

    def sentence(self, shown: int, say: Phrases) -> str:
        """Return a sentence that says how many items the list has, and how many are shown."""
        if shown == len(self.items):
            return say("listed", heading=self.name, many=self.things)
        return say("list_cut", heading=self.name, shown=shown, many=len(self.items))


def asks_how_many(topic: Topic) -> bool:
    """Return whether a topic asks for a count."""
    return topic.expects == "number" and CUE in language(spoken(topic.question)).cues_in(
        topic.question
    )


def with_lists(
    plan: Plan, topic: Topic, judgement: Judgement, shown: Sequence[PassageView]
) -> Judgement:
    """Quote a whole list if the topic asks for a count that no quote in the judgement states."""
    asked, proven = asked_of(plan, topic), False
    quotes = [spot.quote for spot in judgement.spots]
    if not asks_how_many(topic) or states_count(topic, asked, quotes):
        return judgement
    spots = list(judgement.spots)
    for passage in shown:
        shown_here = passage.spot((passage.start, passage.start + len(passage.text)))
        inside = [spot for spot in spots if spot.overlaps(shown_here)]
        for listed in lists(passage.text, passage.heading) if inside else ():
            if len(listed.items) > MOST_ITEMS:
                continue
            whole = [passage.spot(_move_span(span, passage.start)) for span in listed.parts]
            if _names(listed, asked) and any(a.overlaps(b) for a in inside for b in whole):
                spots += [one for one in whole if not any(one.overlaps(old) for old in spots)]
                above = stems(f"{listed.name} {passage.page.title}", spoken(listed.name))
                proven = proven or asked - _form(topic) <= above
    made = replace(judgement, spots=tuple(spots))
    return _proven(made) if proven and judgement.judge == CODE else made


def with_tables(topic: Topic, judgement: Judgement, texts: Mapping[Page, str]) -> Judgement:
    """Quote the table rows that prove a computed value, and mark the topic as covered. Return the
    judgement unchanged if a model made it, or if there is no single best table.
    """
    if judgement.judge != CODE:
        return judgement
    found = [
        (made, page)
        for page, text in texts.items()
        if (made := _compute(topic.question, text, page.title, page.url))
    ]
    best = max((made.score for made, _ in found), default=0.0)
    answers = [each for each in found if each[0].score == best]
    if len(answers) != 1:
        return judgement
    [(made, page)] = answers
    quoted = [Spot(page, a, b, texts[page][a:b]) for a, b in made.rows[:MOST_ROWS]]
    if not quoted or any(is_injection(spot.quote) for spot in quoted):
        return judgement
    beside = judgement.spots if judgement.covered else ()
    spots = [*quoted, *(one for one in beside if not any(one.overlaps(q) for q in quoted))]
    return _proven(replace(judgement, spots=tuple(spots)))


def _proven(judgement: Judgement) -> Judgement:
    return replace(judgement, covered=True, score=1.0, gaps=(), recommendations=(), near=False)


def _form(topic: Topic) -> set[str]:
    code = spoken(topic.question)
    found = language(code).cues[CUE].search(topic.question)
    return stems(found[0], code) if found else set()


def _compute(question: str, text: str, title: str, url: str) -> Computed | None:
    folder_and_name = " ".join(unquote(url).split("/")[-2:])
    return compute(question, spoken(question), text, f"{title} {folder_and_name}")


def counts(
    plan: Plan, topic: Topic, own: Sequence[Evidence], pages: Mapping[str, str]
) -> list[Sentence]:
    """Return sentences that state values computed from a topic's quoted tables, or else the lengths
    of its quoted lists. `pages` maps content hashes to page texts.
    """
    asked, say = asked_of(plan, topic), Phrases(plan.language)
    if told := _told_rows(topic.question, own, pages, say):
        return [Sentence(text=told.text, evidence_ids=told.ids, inferred=True)]
    counting = asks_how_many(topic)
    if counting and states_count(topic, asked, [e.quote for e in own]):
        return []
    return [
        Sentence(text=listed.sentence(shown, say), evidence_ids=ids, inferred=True)
        for listed, shown, ids in _quoted_lists(own, pages)
        if listed.name and not is_injection(listed.name)
        if listed.cut_at(shown)
        or (shown == len(listed.items) and counting and _names(listed, asked))
    ]


class _Told(NamedTuple):
    text: str
    ids: tuple[str, ...]


def _told_rows(
    question: str, own: Sequence[Evidence], pages: Mapping[str, str], say: Phrases
) -> _Told | None:
    """Return a sentence with the value computed from table rows, and the rows' ids, or None."""
    by_page = {e.content_hash: e for e in own}
    for digest, page in by_page.items():
        made = _compute(question, pages.get(digest, ""), page.title, page.url)
        rows = set(made.rows) if made else set()
        ids = tuple(e.id for e in own if e.content_hash == digest and (e.start, e.end) in rows)
        if not made or made.kind == "row" or not ids:
            continue
        many, where = len(made.rows), f" ({made.where})" if made.where else ""
        told = say(
            f"rows_{made.kind}", column=made.column, value=made.value, many=many, of=made.of,
            where=where,
        )  # fmt: skip
        if many > MOST_ROWS:
            told = f"{told} {say('rows_shown', shown=MOST_ROWS, many=many)}"
        return _Told(told, ids)
    return None


def is_count(
    sentence: Sentence,
    cited: Sequence[Evidence],
    pages: Mapping[str, str],
    question: str = "",
    say: Phrases = ENGLISH,
    questions: Mapping[str, str] = MappingProxyType({}),
) -> bool:
    """Return whether a sentence was computed from the list or rows it cites. `questions` maps topic
    names to questions.
    """
    if not sentence.inferred:
        return False
    asked = dict.fromkeys([question, *(questions.get(e.topic, e.topic) for e in cited)])
    told = (_told_rows(each, cited, pages, say) for each in asked)
    if any(one and one.text == sentence.text for one in told):
        return True
    # In every language, a generated sentence about a list begins with the list's name in quotation
    # marks.
    return sentence.text.startswith(("“", "„", "«", "「")) and any(
        listed.sentence(shown, say) == sentence.text
        for listed, shown, _ in _quoted_lists(cited, pages)
    )


def states_count(topic: Topic, asked: set[str], quotes: Sequence[str]) -> bool:
    """Return whether any quote states the count that the topic asks for."""
    code = spoken(topic.question)
    known = numbers(topic.question, code)
    things = stems(counted(topic.question, code), code) or asked
    told = (plain(quote[start:end]) for quote in quotes for start, end in sentences(quote))
    return any(
        (numbers(one, code) | spelled_numbers(one, code)) - known and things & stems(one, code)
        for one in told
    )


def lists(text: str, above: str = "") -> Iterator[Listed]:
    """Yield the lists in a text. `above` is the heading before the text."""
    own, found = paths(headings(text)), blocks(text)
    for before, block in zip([None, *found], found, strict=False):
        if block.kind != "list":
            continue
        items = [span for span in units(text, block) if text[slice(*span)].strip()]
        if len(items) >= LEAST_ITEMS:
            intro = text[before.start : before.end] if before and before.kind == "paragraph" else ""
            said = sentences(intro) if leads(intro) or not is_ended(plain(intro).strip()) else []
            led = _move_span(said[-1], before.start) if before and said else None
            heading = (heading_at(own, block.start) or above).rpartition(" > ")[2]
            name = " ".join(plain(text[slice(*led)] if led else heading).split())
            lines = [text[text.rfind("\n", 0, start) + 1 : start] for start, _ in items]
            indents = [len(line) - len(line.lstrip()) for line in lines]
            things = indents.count(min(indents))  # excludes nested items
            yield Listed(led, name.rstrip(":："), tuple(items), things)


def _quoted_lists(
    own: Sequence[Evidence], pages: Mapping[str, str]
) -> Iterator[tuple[Listed, int, tuple[str, ...]]]:
    for digest in dict.fromkeys(e.content_hash for e in own if e.kind == "item"):
        here = [e for e in own if e.content_hash == digest]
        for listed in lists(pages.get(digest, "")):
            met = [any(_meet((e.start, e.end), item) for e in here) for item in listed.items]
            if (shown := sum(met)) >= LEAST_ITEMS and all(met[:shown]):
                parts = [e for e in here if any(_meet((e.start, e.end), p) for p in listed.parts)]
                yield listed, shown, tuple(e.id for e in parts)


def _names(listed: Listed, asked: set[str]) -> bool:
    return bool(asked & stems(listed.name, spoken(listed.name)))


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _move_span(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by

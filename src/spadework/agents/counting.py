"""A count is the number of the things that are listed, with the list as its quote: where a question
asks how many, and no sentence that is quoted says it, lists are quoted whole and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from spadework.agents.confirming import asked_of
from spadework.agents.passage_view import Judgement, PassageView
from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import numbers, spelled_numbers, stems
from spadework.tools.text.language import language
from spadework.tools.text.markdown_blocks import blocks
from spadework.tools.text.markdown_marks import plain, units
from spadework.tools.text.passages import heading_at, headings, paths
from spadework.tools.text.sentences import sentences
from spadework.values import Evidence, Plan, Sentence, Topic

Span = tuple[int, int]
#: The cue of a question that asks how many.
CUE = "count"
#: Items that make a list, and that are counted at most.
LEAST_ITEMS, MOST_ITEMS = 2, 60

#: A count as it is told.
_COUNT = re.compile(r"“.*”: \d+ are listed\.")


class Listed(NamedTuple):
    """A list of a text: what introduces it ("" where nothing does), its name (that, else the
    heading above it), where all its items stand, and how many things they are: items below another
    one belong to that.
    """

    led: Span | None
    name: str
    items: tuple[Span, ...]
    things: int

    @property
    def parts(self) -> tuple[Span, ...]:
        """Where what introduces it and its items stand."""
        return (self.led, *self.items) if self.led else self.items

    @property
    def told(self) -> str:
        """The count as a sentence."""
        return f"“{self.name}”: {self.things} are listed."


def asks_how_many(topic: Topic) -> bool:
    """Whether a topic asks for the number of some things."""
    return topic.expects == "number" and CUE in language(spoken(topic.question)).asked(
        topic.question
    )


def with_lists(
    plan: Plan, topic: Topic, judgement: Judgement, shown: Sequence[PassageView]
) -> Judgement:
    """The judgement of a topic that asks how many, in which a list of what is asked for is quoted
    whole where a part of it is quoted; unless a sentence says the number.
    """
    asked = asked_of(plan, topic)
    quotes = [spot.quote for spot in judgement.spots]
    if not asks_how_many(topic) or states_count(topic, asked, quotes):
        return judgement
    spots = list(judgement.spots)
    for passage in shown:
        shown_here = passage.spot((passage.start, passage.start + len(passage.text)))
        inside = [spot for spot in spots if spot.overlaps(shown_here)]
        for listed in lists(passage.text, passage.heading) if inside else ():
            whole = [passage.spot(_move_span(span, passage.start)) for span in listed.parts]
            if _names(listed, asked) and any(a.overlaps(b) for a in inside for b in whole):
                spots += [one for one in whole if not any(one.overlaps(old) for old in spots)]
    return replace(judgement, spots=tuple(spots))


def counts(
    plan: Plan, topic: Topic, own: Sequence[Evidence], pages: Mapping[str, str]
) -> list[Sentence]:
    """What is counted for a topic: of every list of what is asked for that is quoted whole one
    sentence, which cites all of it. `pages` are texts by content hash.
    """
    asked = asked_of(plan, topic)
    if not asks_how_many(topic) or states_count(topic, asked, [e.quote for e in own]):
        return []
    found = ((listed, ids) for listed, ids in _quoted_lists(own, pages) if _names(listed, asked))
    return [Sentence(text=listed.told, evidence_ids=ids, inferred=True) for listed, ids in found]


def is_count(sentence: Sentence, cited: Sequence[Evidence], pages: Mapping[str, str]) -> bool:
    """Whether a sentence is the count of a list that it cites whole."""
    if not (sentence.inferred and _COUNT.fullmatch(sentence.text)):
        return False
    return any(listed.told == sentence.text for listed, _ in _quoted_lists(cited, pages))


def states_count(topic: Topic, asked: set[str], quotes: Sequence[str]) -> bool:
    """Whether a sentence of some quotes says a number beside what is asked for."""
    code = spoken(topic.question)
    known = numbers(topic.question, code)
    told = (plain(quote[start:end]) for quote in quotes for start, end in sentences(quote))
    return any(
        (numbers(one, code) | spelled_numbers(one, code)) - known and asked & stems(one, code)
        for one in told
    )


def lists(text: str, above: str = "") -> Iterator[Listed]:
    """The lists of a text that can be counted; `above` is the heading above the text."""
    own, found = paths(headings(text)), blocks(text)
    for before, block in zip([None, *found], found, strict=False):
        if block.kind != "list":
            continue
        items = [span for span in units(text, block) if text[slice(*span)].strip()]
        if LEAST_ITEMS <= len(items) <= MOST_ITEMS:
            led = None
            if before and before.kind == "paragraph":
                said = sentences(text[before.start : before.end])
                led = _move_span(said[-1], before.start) if said else None
            heading = (heading_at(own, block.start) or above).rpartition(" > ")[2]
            name = " ".join(plain(text[slice(*led)] if led else heading).split())
            lines = [text[text.rfind("\n", 0, start) + 1 : start] for start, _ in items]
            indents = [len(line) - len(line.lstrip()) for line in lines]
            things = indents.count(min(indents))  # those that stand below no other one
            yield Listed(led, name.rstrip(":："), tuple(items), things)


def _quoted_lists(
    own: Sequence[Evidence], pages: Mapping[str, str]
) -> Iterator[tuple[Listed, tuple[str, ...]]]:
    """The lists of which every item stands in some entries, with the ids of these."""
    for digest in dict.fromkeys(e.content_hash for e in own if e.kind == "item"):
        here = [e for e in own if e.content_hash == digest]
        for listed in lists(pages.get(digest, "")):
            if all(any(_meet((e.start, e.end), item) for e in here) for item in listed.items):
                parts = [e for e in here if any(_meet((e.start, e.end), p) for p in listed.parts)]
                yield listed, tuple(e.id for e in parts)


def _names(listed: Listed, asked: set[str]) -> bool:
    return bool(asked & stems(listed.name, spoken(listed.name)))


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _move_span(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by

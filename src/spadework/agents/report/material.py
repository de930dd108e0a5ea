"""Prepare the evidence and pages used to write and check reports."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from textwrap import shorten
from typing import NamedTuple

from spadework.agents.report.checks import (
    Known,
    about as told_of,
    find_unfounded,
    keep_founded_heading,
    reason_to_refuse,
)
from spadework.tools.text.facts import stems
from spadework.tools.text.language import codes, language, language_of, spoken
from spadework.tools.text.passages import without_targets
from spadework.tools.text.prompt_injection import without_injections
from spadework.tools.text.sentences import sentences
from spadework.tools.web.urls import domain_of
from spadework.values import Evidence, Section, Sentence

#: Maximum characters to show of a quote if an entry has no claim, and of code after an entry's
#: claim.
LINE_CHARS, CODE_CHARS = 220, 100


class Entry(NamedTuple):
    """A ledger entry as shown in a prompt.
    - `about`: a one-line description of its page.
    - `quote`, `before`, `after`: its quote, and the sentences before and after it.
    - `claim`: the quote reworded by a model, if the rewording adds anything.
    """

    id: str
    about: str
    quote: str
    before: str = ""
    after: str = ""
    claim: str = ""


def entries_of(evidence: Sequence[Evidence], *, around: bool = False) -> list[Entry]:
    """Return evidence as entries for one prompt, without repeated text. With `around`, each entry
    includes the sentences before and after its quote. Otherwise, entries of prose include them
    only where a sentence refers back ("However, …").
    """
    pages, made, told = dict[str, Evidence](), list[Entry](), defaultdict[str, str](str)
    for e in evidence:
        told[e.content_hash] += "\n" + " ".join(e.quote.split())
    for e in evidence:
        code = spoken(f"{e.before} {e.quote} {e.after}")
        prose = e.kind in ("text", "item") and not around
        texts = [e.quote]
        for text, leaning in ((e.before, e.quote), (e.after, e.after)):
            near = text if not prose or language(code).needs_context(leaning) else ""
            line = " ".join(near.split())
            texts.append("" if line in told[e.content_hash] else near)
            told[e.content_hash] += "\n" + line
        new = stems(e.claim, code) - stems(" ".join([e.title, e.heading, *texts]), code)
        quote, before, after = texts if e.kind == "code" else map(without_targets, texts)
        about = _about(e, pages.setdefault(e.content_hash, e))
        made.append(Entry(e.id, about, quote, before, after, e.claim if new else ""))
    return made


def _about(evidence: Evidence, first: Evidence) -> str:
    heading, url = below(evidence.title, evidence.heading), evidence.url
    if evidence.id != first.id:
        return page_line(f"page of {first.id}", heading * (evidence.heading != first.heading))
    date = day(evidence.published_at)
    place = _place(evidence) if url.startswith("library:") else domain_of(url)
    return page_line(evidence.title, heading, evidence.byline, place, date)


def day(moment: datetime | None) -> str:
    """Format a page's date with its weekday, so that a model can interpret "Saturday"."""
    return f"{moment:%Y-%m-%d, %A}" if moment else ""


def _place(evidence: Evidence) -> str:
    folder, _, name = evidence.url.removeprefix("library://").rpartition("/")
    words = stems(name.rpartition(".")[0].replace("-", " ").replace("_", " "))
    return folder if folder and words <= stems(evidence.title) else f"{folder}/{name}".lstrip("/")


def below(title: str, heading: str) -> str:
    """Return the heading path without a leading page title."""
    return "" if heading == title else heading.removeprefix(f"{title} > ")


def page_line(*parts: str) -> str:
    """Join a page's nonempty metadata fields into one line."""
    return " · ".join(" ".join(part.split()) for part in parts if part)


def speaks_of(evidence: Evidence, must: str) -> bool:
    """Return whether an entry has every content word of `must`, an aspect the answer must cover."""
    code = spoken(must)
    said = stems(f"{evidence.title} {evidence.heading} {evidence.claim} {evidence.quote}", code)
    return stems(must, code) <= said


def merged(ledger: Sequence[Evidence]) -> dict[str, Evidence]:
    """Merge entries whose quote lies within a slightly longer quote from the same page. Map each
    original id to its merged entry, which combines the claims.
    """
    alike: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
    for e in ledger:
        alike[e.content_hash, e.kind].append(e)
    whole = {e.id: _whole_of(e, alike[e.content_hash, e.kind]) for e in ledger}
    # An entry that contains another may itself be contained in a third. The third then replaces
    # both.
    for e in sorted(ledger, key=lambda e: -len(e.quote)):
        whole[e.id] = whole[whole[e.id].id]
    claims: dict[str, list[str]] = defaultdict(list)
    for e in ledger:
        claims[whole[e.id].id] += [e.claim] if e.claim else []
    told = {id_: " / ".join(_saying_more(own)) for id_, own in claims.items()}
    return {id_: e.model_copy(update={"claim": told[e.id]}) for id_, e in whole.items()}


def with_columns(chosen: Sequence[Evidence], ledger: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the chosen entries, preceded by the column names of their tables."""
    tables = {(e.content_hash, e.columns) for e in chosen if e.kind in ("row", "cells")}
    named = [e for e in ledger if e.kind == "columns" and (e.content_hash, e.start) in tables]
    return tuple(dict.fromkeys([*named, *chosen]))


def _whole_of(evidence: Evidence, alike: Sequence[Evidence]) -> Evidence:
    around = [e for e in alike if e.start <= evidence.start <= evidence.end <= e.end]
    if len(around) > 1:
        around = [e for e in around if _size(e) <= _size(evidence) + 1]
    return max(around, key=lambda e: len(e.quote))


def _size(evidence: Evidence) -> int:
    prose = evidence.kind in ("text", "item")
    return len(sentences(evidence.quote)) if prose else evidence.quote.count("\n") + 1


def _saying_more(claims: Iterable[str]) -> Iterator[str]:
    said = frozenset[str]()
    for claim in sorted(dict.fromkeys(claims), key=len, reverse=True):
        own = stems(claim, spoken(claim))
        if not said or own - said:
            yield claim
        said |= own


def lines_of(evidence: Iterable[Evidence]) -> list[str]:
    """Format entries as lines, grouped under a line with their page's title, heading and date. An
    entry's line has its id, and its claim or shortened quote. Column names are left out.
    """
    placed: dict[str, list[str]] = defaultdict(list)
    for e in evidence:
        if e.kind == "columns":
            continue
        quote = " ".join(e.quote.split())
        said = e.claim or shorten(quote, LINE_CHARS, placeholder="…")
        if e.kind == "code":
            begins = f": {shorten(quote, CODE_CHARS, placeholder='…')}" if e.claim else ""
            said = f"(code) {said}{begins}"
        about = page_line(e.title, below(e.title, e.heading), day(e.published_at))
        placed[about].append(f"{e.id} · {said}")
    return [line for about, own in placed.items() for line in (f"{about}:", *own)]


_FILE = re.compile(r"(?<![\w./-])[\w-]+(?:/[\w-]+)*\.[a-z]{1,5}\b")


@dataclass(frozen=True)
class Material:
    """The material for writing and checking a report.
    - `ledger`: the evidence, keyed by id.
    - `pages`: the page texts, keyed by content hash.
    - `language`: the report's language code, or "" if unknown.
    - `code`: the program code and file names in the report.
    - `questions`: the topics' questions, keyed by topic name.
    """

    ledger: Mapping[str, Evidence]
    pages: Mapping[str, str]
    question: str
    language: str = ""
    code: str = ""
    questions: Mapping[str, str] = field(default_factory=dict)
    _known: dict[str, Known] = field(default_factory=dict, compare=False, repr=False)

    @property
    def home(self) -> str:
        """The language code of the report, else of the question, or "" if both are unknown."""
        return self.language if self.language in codes() else language_of(self.question)

    def cited(self, ids: Iterable[str]) -> list[Evidence]:
        """Return the entries with these ids, skipping unknown ids."""
        return [self.ledger[id_] for id_ in ids if id_ in self.ledger]

    def refused(self, sentence: Sentence, cited: Sequence[Evidence]) -> str:
        """Return the reason to remove a sentence that cites this evidence, or "" to keep it."""
        return reason_to_refuse(
            sentence, cited, self._pages(cited), Known(self.question), self.code
        )

    def unfounded(self, sentence: Sentence, cited: Sequence[Evidence]) -> str:
        """Return a note on the figures, dates or names that are on no cited page, or ""."""
        there = [*self._pages(cited), Known(self.question)]
        # A conclusion may use names from the code in the report, so they count as known.
        known = [*there, Known(self.code)] if sentence.inferred else there
        return find_unfounded(sentence, cited, known, self.home)

    def with_code(self, sections: Iterable[Section], names: Iterable[str] = ()) -> Material:
        """Return a copy whose `code` is the sections' code and the file names in `names`."""
        told = (one.text for section in sections for one in section.sentences if one.code)
        return replace(self, code="\n\n".join([*_FILE.findall("\n".join(names)), *told]))

    def support_heading(self, heading: str, cited: Sequence[Evidence]) -> str:
        """Return the heading on one line, or "" if the cited evidence does not support it."""
        there = [*self._pages(cited), told_of(cited), Known(self.question)]
        return keep_founded_heading(heading, there, self.home)

    def _pages(self, cited: Sequence[Evidence]) -> list[Known]:
        hashes = dict.fromkeys(e.content_hash for e in cited)
        for each in hashes.keys() - self._known.keys():
            self._known[each] = Known(without_injections(self.pages.get(each, "")))
        return [self._known[each] for each in hashes]

"""Evidence for writing and checking a report: ledger entries and their pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import NamedTuple

from spadework.agents.report.checks import (
    Known,
    find_unfounded,
    keep_founded_heading,
    reason_to_refuse,
)
from spadework.agents.report.checks import about as told_of
from spadework.tools.text.facts import stems
from spadework.tools.text.language import codes, language_of, spoken
from spadework.tools.text.prompt_injection import without_injections
from spadework.tools.web.urls import domain_of
from spadework.values import Evidence, Section, Sentence

#: Maximum characters of an entry's line, and of the start of code.
LINE_CHARS, CODE_CHARS = 220, 100


class Entry(NamedTuple):
    """A ledger entry in a prompt: its page in one line (`about`), its quote with adjacent
    sentences, and its reader's `claim`; "" if unknown.
    """

    id: str
    about: str
    quote: str
    before: str = ""
    after: str = ""
    claim: str = ""


def entry_of(evidence: Evidence) -> Entry:
    """Return an entry with title, heading, author, host and date."""
    date = evidence.published_at.date().isoformat() if evidence.published_at else ""
    heading, url = below(evidence.title, evidence.heading), evidence.url
    # A library document's path often names it.
    local = url.startswith("library://")
    place = url.removeprefix("library://") if local else domain_of(url)
    about = page_line(evidence.title, heading, evidence.author, place, date)
    return Entry(
        evidence.id, about, evidence.quote, evidence.before, evidence.after, evidence.claim
    )


def entries_of(evidence: Sequence[Evidence]) -> list[Entry]:
    """Return entries for one prompt: an adjacent sentence that is itself an entry is given once."""
    quotes = {" ".join(e.quote.split()) for e in evidence}
    made = []
    for entry in map(entry_of, evidence):
        before = "" if " ".join(entry.before.split()) in quotes else entry.before
        after = "" if " ".join(entry.after.split()) in quotes else entry.after
        made.append(entry._replace(before=before, after=after))
    return made


def below(title: str, heading: str) -> str:
    """Return the path of headings without the page's title, usually the first of them."""
    return "" if heading == title else heading.removeprefix(f"{title} > ")


def page_line(*parts: str) -> str:
    """Join a page's metadata on one line."""
    return " · ".join(" ".join(part.split()) for part in parts if part)


def speaks_of(evidence: Evidence, must: str) -> bool:
    """Return whether an entry has all content words of a required aspect."""
    code = spoken(must)
    said = stems(f"{evidence.title} {evidence.heading} {evidence.claim} {evidence.quote}", code)
    return stems(must, code) <= said


def place_of(evidence: Evidence) -> tuple[str, int, int]:
    """Return a quote's position: page, start, end."""
    return evidence.content_hash, evidence.start, evidence.end


def each_once(ledger: Sequence[Evidence]) -> list[Evidence]:
    """Return the entries, merging those quoted for several topics, with all their claims."""
    claims: dict[tuple[str, int, int], dict[str, None]] = defaultdict(dict)
    for e in ledger:
        claims[place_of(e)] |= {e.claim: None} if e.claim else {}
    first = {place_of(e): e for e in reversed(ledger)}
    return [
        e.model_copy(update={"claim": " / ".join(claims[place])})
        for place, e in reversed(first.items())
    ]


def line_of(evidence: Evidence) -> str:
    """Return an entry on one line: its claim or quote, how code starts, place and date."""
    quote = " ".join(evidence.quote.split())
    said = evidence.claim or shorten(quote, LINE_CHARS, placeholder="…")
    if evidence.kind == "code":
        begins = f": {shorten(quote, CODE_CHARS, placeholder='…')}" if evidence.claim else ""
        said = f"(code) {said}{begins}"
    date = evidence.published_at.date().isoformat() if evidence.published_at else ""
    about = (said, evidence.title, below(evidence.title, evidence.heading), date)
    return f"{evidence.id} · " + " · ".join(part for part in about if part)


_FILE = re.compile(r"(?<![\w./-])[\w-]+(?:/[\w-]+)*\.[a-z]{1,5}\b")


@dataclass(frozen=True)
class Material:
    """Ledger entries by id, page texts by content hash, the question, the report's language if
    known, and its code.
    """

    ledger: Mapping[str, Evidence]
    pages: Mapping[str, str]
    question: str
    language: str = ""
    code: str = ""
    _known: dict[str, Known] = field(default_factory=dict, compare=False, repr=False)

    @property
    def home(self) -> str:
        """The report's language code, else the question's; "" if unknown."""
        return self.language if self.language in codes() else language_of(self.question)

    def cited(self, ids: Iterable[str]) -> list[Evidence]:
        """Return the entries of these ids that exist."""
        return [self.ledger[id_] for id_ in ids if id_ in self.ledger]

    def refused(self, sentence: Sentence, cited: Sequence[Evidence]) -> str:
        """Return why code refuses a sentence with this evidence, whatever a judge says; "" if it
        does not.
        """
        return reason_to_refuse(
            sentence, cited, self._pages(cited), Known(self.question), self.code
        )

    def unfounded(self, sentence: Sentence, cited: Sequence[Evidence]) -> str:
        """Return a note on the figures, dates and names that are in none of these pages."""
        there = [*self._pages(cited), Known(self.question)]
        # A conclusion may be about the report's own code.
        known = [*there, Known(self.code)] if sentence.inferred else there
        return find_unfounded(sentence, cited, known, self.home)

    def with_code(self, sections: Iterable[Section], names: Iterable[str] = ()) -> Material:
        """Return a copy that includes these sections' code and the named files: what readers should
        save has no source.
        """
        told = (one.text for section in sections for one in section.sentences if one.code)
        return replace(self, code="\n\n".join([*_FILE.findall("\n".join(names)), *told]))

    def support_heading(self, heading: str, cited: Sequence[Evidence]) -> str:
        """Return a heading for this evidence; "" if none of it supports the heading."""
        there = [*self._pages(cited), told_of(cited), Known(self.question)]
        return keep_founded_heading(heading, there, self.home)

    def _pages(self, cited: Sequence[Evidence]) -> list[Known]:
        """Return the pages of entries, without instructions to machines, which support nothing."""
        hashes = dict.fromkeys(e.content_hash for e in cited)
        for each in hashes.keys() - self._known.keys():
            self._known[each] = Known(without_injections(self.pages.get(each, "")))
        return [self._known[each] for each in hashes]

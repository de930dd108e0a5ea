"""What a report is written from and checked against: entries of the ledger and their pages."""

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

#: Characters of an entry of the ledger in its line, and of how code begins.
LINE_CHARS, CODE_CHARS = 220, 100


class Entry(NamedTuple):
    """An entry of the ledger as it stands in a prompt: its page in one line (`about`), its quote
    between the sentences around it, and what who read it says of it (`claim`); "" is what is not
    known.
    """

    id: str
    about: str
    quote: str
    before: str = ""
    after: str = ""
    claim: str = ""


def entry_of(evidence: Evidence) -> Entry:
    """An entry with all that is known of it: title, heading, author, host and date."""
    date = evidence.published_at.date().isoformat() if evidence.published_at else ""
    heading, url = below(evidence.title, evidence.heading), evidence.url
    # Of a document of a library the path, which often names it.
    local = url.startswith("library://")
    place = url.removeprefix("library://") if local else domain_of(url)
    about = page_line(evidence.title, heading, evidence.author, place, date)
    return Entry(
        evidence.id, about, evidence.quote, evidence.before, evidence.after, evidence.claim
    )


def entries_of(evidence: Sequence[Evidence]) -> list[Entry]:
    """Entries side by side: a sentence around one that is an entry itself is told once."""
    quotes = {" ".join(e.quote.split()) for e in evidence}
    made = []
    for entry in map(entry_of, evidence):
        before = "" if " ".join(entry.before.split()) in quotes else entry.before
        after = "" if " ".join(entry.after.split()) in quotes else entry.after
        made.append(entry._replace(before=before, after=after))
    return made


def below(title: str, heading: str) -> str:
    """The path of headings below the title of their page, which is most often the first of it."""
    return "" if heading == title else heading.removeprefix(f"{title} > ")


def page_line(*parts: str) -> str:
    """What is known of a page in one line."""
    return " · ".join(" ".join(part.split()) for part in parts if part)


def speaks_of(evidence: Evidence, must: str) -> bool:
    """Whether an entry holds all content words of what must be covered."""
    code = spoken(must)
    said = stems(f"{evidence.title} {evidence.heading} {evidence.claim} {evidence.quote}", code)
    return stems(must, code) <= said


def place_of(evidence: Evidence) -> tuple[str, int, int]:
    """Where a quote stands: the page, and from where to where."""
    return evidence.content_hash, evidence.start, evidence.end


def each_once(ledger: Sequence[Evidence]) -> list[Evidence]:
    """The entries, those that several topics quote once, with what is said of them for each."""
    claims: dict[tuple[str, int, int], dict[str, None]] = defaultdict(dict)
    for e in ledger:
        claims[place_of(e)] |= {e.claim: None} if e.claim else {}
    first = {place_of(e): e for e in reversed(ledger)}
    return [
        e.model_copy(update={"claim": " / ".join(claims[place])})
        for place, e in reversed(first.items())
    ]


def line_of(evidence: Evidence) -> str:
    """An entry in a line: what it says, of code also how it begins, where, when."""
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
    """Entries of the ledger by id, the texts of their pages by content hash, the question, the
    language of the report where known, and the code that it tells.
    """

    ledger: Mapping[str, Evidence]
    pages: Mapping[str, str]
    question: str
    language: str = ""
    code: str = ""
    _known: dict[str, Known] = field(default_factory=dict, compare=False, repr=False)

    @property
    def home(self) -> str:
        """The code of the language of the report, else of the question; "" where neither shows."""
        return self.language if self.language in codes() else language_of(self.question)

    def cited(self, ids: Iterable[str]) -> list[Evidence]:
        """The entries of these ids, as far as there are such."""
        return [self.ledger[id_] for id_ in ids if id_ in self.ledger]

    def refused(self, sentence: Sentence, cited: Sequence[Evidence]) -> str:
        """Return why code refuses a sentence that cites these, whoever judges; "" for no reason."""
        return reason_to_refuse(
            sentence, cited, self._pages(cited), Known(self.question), self.code
        )

    def unfounded(self, sentence: Sentence, cited: Sequence[Evidence]) -> str:
        """Return a note on the figures, dates and names that code finds in no page of these."""
        there = [*self._pages(cited), Known(self.question)]
        # A conclusion may be about the code of the report itself.
        known = [*there, Known(self.code)] if sentence.inferred else there
        return find_unfounded(sentence, cited, known, self.home)

    def beside(self, sections: Iterable[Section], names: Iterable[str] = ()) -> Material:
        """The same with the code that these sections tell, and the files that are called by these
        names: what a reader is told to save has no source.
        """
        told = (one.text for section in sections for one in section.sentences if one.code)
        return replace(self, code="\n\n".join([*_FILE.findall("\n".join(names)), *told]))

    def founded(self, heading: str, cited: Sequence[Evidence]) -> str:
        """A heading over what cites these; "" for one that none of it bears out."""
        there = [*self._pages(cited), told_of(cited), Known(self.question)]
        return keep_founded_heading(heading, there, self.home)

    def _pages(self, cited: Sequence[Evidence]) -> list[Known]:
        """The pages of entries. What speaks to machines bears nothing out."""
        hashes = dict.fromkeys(e.content_hash for e in cited)
        for each in hashes.keys() - self._known.keys():
            self._known[each] = Known(without_injections(self.pages.get(each, "")))
        return [self._known[each] for each in hashes]

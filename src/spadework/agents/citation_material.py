"""What the sentences of a report are checked against: entries, their pages, the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spadework.agents.checked_text import Known
from spadework.agents.checking import about as told_of
from spadework.agents.checking import find_unfounded, keep_founded_heading, reason_to_refuse
from spadework.tools.text.detect import language_of
from spadework.tools.text.language import codes
from spadework.tools.text.prompt_injection import without_injections
from spadework.values import Evidence, Section, Sentence

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

"""What a question asks for, and whether a passage has it near the question's subject: a number,
date, name, definition, steps, list, code.
"""

from __future__ import annotations

import re
from functools import lru_cache

from spadework.agents.extractive.candidates import Candidate
from spadework.agents.extractive.question_parts import names_in, read
from spadework.tools.text.facts import (
    OTHER_WORDS,
    is_negated,
    months,
    names,
    numbers,
    spelled_numbers,
)
from spadework.tools.text.language import language
from spadework.tools.text.sentences import is_ended
from spadework.tools.text.terms import terms

Stems = frozenset[str]

#: From this many matched words on, one may be missing that is neither asked for nor a name.
LEAST_HELD = 3
#: Kinds of candidates with the form of an answer.
_FORMS = {"steps": ("list", "code"), "items": ("list",)}
#: Answers in a sentence or row, not in a list.
_VALUES = ("number", "date", "name", "definition")
_YEAR = re.compile(r"[12]\d{3}")


@lru_cache(maxsize=60_000)
def stems(text: str, code: str) -> Stems:
    """Return the distinct stems of a text."""
    return frozenset(terms(text, code))


class Slot:
    """What one aspect of a question asks for, in words required in its answer."""

    def __init__(self, text: str, question: str, code: str) -> None:
        self.stems = stems(text, code)
        self.kind = read(text).expects
        self.words = self.stems - _form_words(text, code)
        # What is asked for, and its subject, are always required.
        counted = [word for word in terms(text, code) if word in self.words][:1]
        typed = [word for word in question.split() if not word.strip("?!.,;:¿¡").isalpha()]
        named = [*names_in(question), *typed, *_cue_words(text, code)]
        self._kept = stems(" ".join(named), code).union(counted)
        self._denies = is_negated(question, code)
        self._numbers = numbers(question, code) | spelled_numbers(question, code)
        self._names = names(f"- {question}")

    @property
    def is_fact(self) -> bool:
        """Whether a sentence or two answer it."""
        return self.kind not in _FORMS

    def fits(self, one: Candidate) -> bool:
        """Return whether a candidate has the requested form."""
        text, code = one.text, one.language
        if self.kind == "number":
            return bool((numbers(text, code) | spelled_numbers(text, code)) - self._numbers)
        if self.kind == "date":
            return bool(_dates(text, code) - self._numbers)
        if self.kind == "name":
            return bool(names(f"- {text}") - self._names)
        if self.kind == "definition":
            begins = bool(self.words.intersection(terms(text, code)[:1]))
            return one.kind == "text" and is_ended(text) and begins
        return one.kind in _FORMS.get(self.kind, ())

    def proves(self, one: Candidate, own: Stems, near: Stems) -> bool:
        """Return whether a candidate of that form covers everything the question names, with its
        headings, and does not negate what the question affirms.
        """
        if self.kind in _VALUES and one.kind == "list":
            return False
        if not self.words or (is_negated(one.text, one.language) and not self._denies):
            return False
        held = near | {stem for stem in self.words if near & set(OTHER_WORDS.get(stem, ()))}
        missing = self.words - held
        if missing and not self._may_lack(missing, one):
            return False
        return bool(self.words & own or one.kind in ("list", "code"))

    def _may_lack(self, missing: Stems, one: Candidate) -> bool:
        """Return whether the only missing word of a long question is neither asked for nor a name,
        usually its verb. If a name is asked for, the verb is needed.
        """
        return (
            len(missing) == 1
            and not missing <= self._kept
            and len(self.words) > LEAST_HELD
            and self.kind != "name"
            and one.kind != "code"
        )


def _cue_words(text: str, code: str) -> list[str]:
    """Return the question's words for the requested thing ("cost", "population")."""
    return [m[0] for cue in language(code).cues.values() for m in cue.finditer(text)]


def _form_words(text: str, code: str) -> Stems:
    """Return the stems of a question phrase: "how many", "which year"."""
    known = language(code)
    found = [m[0] for cue in known.cues.values() if (m := cue.search(text))]
    asks = [words for words in found if words.split()[0].casefold() in known.stop]
    return frozenset().union(*(stems(words, code) for words in asks))


def _dates(text: str, code: str) -> set[str]:
    """Return a text's months next to numbers, and its years."""
    return months(text, code) | {n for n in numbers(text, code) if _YEAR.fullmatch(n)}

"""What a question asks for, and whether a passage holds it beside the question's subject: a number,
a date, a name, a definition, steps, a list, code.
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

#: From so many words held on, one that is neither asked for nor a name may be missing.
LEAST_HELD = 3
#: The kinds of candidates that have the form of an answer.
_FORMS = {"steps": ("list", "code"), "items": ("list",)}
#: What a sentence or a row says, and no list of things.
_VALUES = ("number", "date", "name", "definition")
_YEAR = re.compile(r"[12]\d{3}")


@lru_cache(maxsize=60_000)
def stems(text: str, code: str) -> Stems:
    """Return the stems of a text, each once."""
    return frozenset(terms(text, code))


class Slot:
    """What one aspect of a question asks for, in words that must stand where it is answered."""

    def __init__(self, text: str, question: str, code: str) -> None:
        self.stems = stems(text, code)
        self.kind = read(text).expects
        self.words = self.stems - _form_words(text, code)
        # What is asked for and whom it is about must stand there, whatever else does not.
        counted = [word for word in terms(text, code) if word in self.words][:1]
        typed = [word for word in question.split() if not word.strip("?!.,;:¿¡").isalpha()]
        named = [*names_in(question), *typed, *_cue_words(text, code)]
        self._kept = stems(" ".join(named), code).union(counted)
        self._denies = is_negated(question, code)
        self._numbers = numbers(question, code) | spelled_numbers(question, code)
        self._names = names(f"- {question}")

    @property
    def is_fact(self) -> bool:
        """Return whether a sentence or two answer it."""
        return self.kind not in _FORMS

    def fits(self, one: Candidate) -> bool:
        """Return whether a candidate has the form of what is asked for."""
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
        """Return whether a candidate of that form speaks of all that the question names, by itself
        or by what stands above it, and denies nothing that the question affirms.
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
        """Return whether the one word that is missing is neither asked for nor a name, in a
        question of many words: most often its verb. Of a name that is asked for the verb says
        whose it is.
        """
        return (
            len(missing) == 1
            and not missing <= self._kept
            and len(self.words) > LEAST_HELD
            and self.kind != "name"
            and one.kind != "code"
        )


def _cue_words(text: str, code: str) -> list[str]:
    """Return what stands in a question for the asked thing ("cost", "population")."""
    return [m[0] for cue in language(code).cues.values() for m in cue.finditer(text)]


def _form_words(text: str, code: str) -> Stems:
    """Return the stems of a question word and what belongs to it: "how many", "which year"."""
    known = language(code)
    found = [m[0] for cue in known.cues.values() if (m := cue.search(text))]
    asks = [words for words in found if words.split()[0].casefold() in known.stop]
    return frozenset().union(*(stems(words, code) for words in asks))


def _dates(text: str, code: str) -> set[str]:
    """Return the months beside a number, and the years, of a text."""
    return months(text, code) | {n for n in numbers(text, code) if _YEAR.fullmatch(n)}

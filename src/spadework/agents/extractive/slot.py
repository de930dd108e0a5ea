"""What a question asks for, and whether a passage has it near the question's subject: a number,
date, name, definition, steps, list, code.
"""

from __future__ import annotations

import re
from functools import lru_cache

from spadework.agents.extractive.candidates import Candidate
from spadework.agents.extractive.question_parts import counted, names_in, read
from spadework.tools.text.facts import (
    OTHER_WORDS,
    dates,
    is_negated,
    names,
    numbers,
    spelled_numbers,
)
from spadework.tools.text.language import language
from spadework.tools.text.quantities import figures
from spadework.tools.text.sentences import is_ended, sentences
from spadework.tools.text.terms import terms

Stems = frozenset[str]

#: From this many matched words on, one may be missing that is neither asked for nor a name.
LEAST_HELD = 3
#: Minimum share of the question's words in a passage itself, not above it; and if one is missing.
LEAST_OWN, MOST_LACKING = 1 / 3, 1 / 2
#: Characters in which a sentence states what something is.
OPENING_CHARS = 120
#: Maximum characters between a number and what it counts.
NEAR_CHARS = 40
#: The kinds of candidates that have the form of an answer.
_FORMS = {"steps": ("list", "code"), "items": ("list",)}
#: Answers in a sentence or row, not in a list.
_VALUES = ("number", "date", "name", "definition")


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
        first = [word for word in terms(text, code) if word in self.words][:1]
        typed = [word for word in question.split() if not word.strip("?!.,;:¿¡").isalpha()]
        named = [*names_in(question), *typed, *_cue_words(text, code)]
        self._kept = stems(" ".join(named), code).union(first)
        self._denies = is_negated(question, code)
        self._numbers = numbers(question, code) | spelled_numbers(question, code)
        self._names = names(f"- {question}")
        self._says_what = _says_what(text, code)
        self._counted = stems(counted(text, code), code)
        self._dimensions = _asked_dimensions(text, code)

    @property
    def is_fact(self) -> bool:
        """Whether a sentence or two answer it."""
        return self.kind not in _FORMS

    def fits(self, one: Candidate) -> bool:
        """Return whether a candidate has the requested form."""
        text, code = one.text, one.language
        if self.kind == "number":
            return self._tells_number(text, code)
        if self.kind == "date":
            return bool(dates(text, code) - self._numbers)
        if self.kind == "name":
            return bool(names(f"- {text}") - self._names)
        whole = len(self.words) >= LEAST_HELD and self.words <= stems(text, code)
        if self.kind == "definition":
            begins = bool(self.words.intersection(terms(text, code)[:1]))
            says = not self._says_what or bool(self._says_what.search(text[:OPENING_CHARS]))
            return whole or (one.kind == "text" and is_ended(text) and begins and says)
        if self.kind == "steps" and one.kind == "text":
            return whole or one.has_code
        return one.kind in _FORMS.get(self.kind, ())

    def _tells_number(self, text: str, code: str) -> bool:
        """Return whether a text has a number of the requested dimension ("how heavy") or, for "how
        many", near what it counts.
        """
        if not (numbers(text, code) | spelled_numbers(text, code)) - self._numbers:
            return False
        if self._dimensions:
            told = (each for figure in figures(text, code) for each in figure.readings)
            return any(each.dimension in self._dimensions for each in told)
        return not self._counted or any(
            self._counts(text[start:end], code) for start, end in sentences(text)
        )

    def _counts(self, sentence: str, code: str) -> bool:
        for figure in figures(sentence, code):
            around = sentence[max(0, figure.start - NEAR_CHARS) : figure.end + NEAR_CHARS]
            if self._counted & _with_others(self._counted, stems(around, code)):
                return True
        return False

    def proves(self, one: Candidate, own: Stems, near: Stems) -> bool:
        """Return whether a candidate of that form covers everything the question names, with its
        headings, and does not negate what the question affirms.
        """
        if self.kind in _VALUES and one.kind == "list":
            return False
        if not self.words or self._is_denied(one):
            return False
        missing = self.words - _with_others(self.words, near)
        own_share = len(_with_others(self.words, own)) / len(self.words)
        if missing:
            return own_share > MOST_LACKING and self._may_lack(missing, one)
        return own_share >= LEAST_OWN or one.kind in ("list", "code")

    def _is_denied(self, one: Candidate) -> bool:
        """Return whether a clause denies what the question affirms. What a list forbids is part of
        its answer.
        """
        if self._denies or one.kind in ("list", "code"):
            return False
        known = language(one.language)
        clauses = re.split(rf"[.,;:!?]\s|{known.joint.pattern}", one.text)
        return any(
            is_negated(clause, one.language) and self.words & stems(clause, one.language)
            for clause in clauses
        )

    def _may_lack(self, missing: Stems, one: Candidate) -> bool:
        """Return whether the one word that is missing is neither asked for nor a name, in a
        question of many words: most often its verb. Of a name, a date or a reason the verb says
        whose it is.
        """
        return (
            len(missing) == 1
            and not missing <= self._kept
            and len(self.words) > LEAST_HELD
            and self.kind in ("number", "steps", "items")
            and one.kind != "code"
        )


def _with_others(words: Stems, held: Stems) -> Stems:
    """Return the words that are present, or whose synonyms are."""
    return frozenset(w for w in words if w in held or held & set(OTHER_WORDS.get(w, ())))


def _says_what(text: str, code: str) -> re.Pattern[str] | None:
    """Return a pattern of definitions if the question asks what something is, else None ("what does
    it do").
    """
    known = language(code)
    found = known.cues["define"].search(text) if "define" in known.cues else None
    return known.says_what if found and known.says_what.search(f"{found[0]} a") else None


def _asked_dimensions(text: str, code: str) -> frozenset[str]:
    known = language(code)
    found = known.cues["measure"].search(text) if "measure" in known.cues else None
    last = found[0].split()[-1].casefold() if found else ""
    return frozenset(known.dimensions.get(last, ()))


def _cue_words(text: str, code: str) -> list[str]:
    """Return the question's words for the requested thing ("cost", "population")."""
    return [m[0] for cue in language(code).cues.values() for m in cue.finditer(text)]


def _form_words(text: str, code: str) -> Stems:
    """Return the stems of a question phrase: "how many", "which year"."""
    known = language(code)
    found = [(name, m) for name, cue in known.cues.items() if (m := cue.search(text))]
    asks = [
        m[0]
        for name, m in found
        # "List the …" says no more than "which".
        if m[0].split()[0].casefold() in known.stop or (name == "items" and not m.start())
    ]
    return frozenset().union(*(stems(words, code) for words in asks))

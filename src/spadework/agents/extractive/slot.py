"""Check whether a passage gives the requested kind of answer near the question's subject."""

from __future__ import annotations

import re
from functools import lru_cache

from spadework.agents.extractive.candidates import Candidate
from spadework.agents.extractive.question_parts import (
    SIGNS,
    WORD,
    counted,
    names_in,
    read,
    words_behind,
)
from spadework.tools.text.facts import (
    OTHER_WORDS,
    dates,
    figures,
    is_negated,
    names,
    numbers,
    spelled_numbers,
    weekdays,
)
from spadework.tools.text.language import DEFAULT, language
from spadework.tools.text.sentences import is_ended, sentences
from spadework.tools.text.terms import split_camel_case, terms

Stems = frozenset[str]

#: If a question has more words than this, a candidate may lack one of them.
LEAST_HELD = 3
#: The minimum fraction of the question's words that a candidate's own text must contain. Its
#: headings may contain the others.
LEAST_OWN = 1 / 3
#: A candidate that lacks a word must contain more than this fraction of the question's words in
#: its own text, without its headings.
MOST_LACKING = 1 / 2
#: A stem with at least this many letters also matches words derived from it.
LEAST_STEM = 7
#: The number of words after a negation that count as negated.
DENIED_WORDS = 2
#: A sentence that does not fit the requested kind of answer is quoted only if it contains at least
#: this many words that are not in the question.
LEAST_NEW = 2
#: A cue (such as "how many") of at most this many words cannot contain the question's subject.
CUE_WORDS = 3
#: The maximum number of words, besides those of the subject, before the verb of a definition.
BESIDE_SUBJECT = 2
#: The maximum number of characters between a number and the noun that it counts.
NEAR_CHARS = 40
#: A list that proves nothing is quoted only if it has at most this many characters.
LIST_CHARS = 600
_FORMS = {"steps": ("list", "code"), "items": ("list",)}
#: Cues of questions that can be answered only by comparing all rows of a table.
_EXTREMES = frozenset(("largest", "smallest"))
#: Kinds of answers that a sentence or table row can give, but a list cannot.
VALUES = ("number", "date", "name", "definition")
_WORDS = re.compile(r"[^\W_]+")
#: The URL of an installed package, but not of the standard library (such as python-3.11.7).
_PACKAGE = re.compile(r"library://(?!python-\d+\.\d+\.\d+/)([^/]+)-\d[^/-]*/")
_NO_LETTERS = re.compile(r"[\W\d_]+")
#: The end of a sentence's first clause.
_CLAUSE_END = re.compile(r"[,(;:]|\.\s")
#: Chinese and Japanese question words, and patterns for hiragana and pairs of Han characters.
_ASKING = re.compile("[什甚啥何哪谁誰几幾多怎]|いつ|いく|だれ|どこ|どれ|なぜ")
_ENDING, _HAN = re.compile("[\u3041-\u309f]+"), re.compile("[\u3400-\u9fff]{2}")


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


@lru_cache(maxsize=60_000)
def stems(text: str, code: str) -> Stems:
    """Return the distinct stems of a text. "Command-line" counts as two words."""
    return frozenset(terms(text.replace("-", " "), code))


class Slot:
    """The kind of answer that a part of a question asks for, and the words required near it."""

    def __init__(self, text: str, question: str, code: str) -> None:
        known = language(code)
        self.stems = stems(text, code)
        self._question, self._asked = question, stems(question, code)
        self.kind = read(text, code).expects
        self.words = _subject_words(text, code) - _form_words(text, code)
        # A quote may lack one word of the question, but not the subject or what is asked for.
        first = [word for word in terms(text, code) if word in self.words][:1]
        typed = [word for word in question.split() if not word.strip(SIGNS).isalpha()]
        named = [*names_in(question), *typed]
        cues = (m[0] for cue in known.cues.values() for m in cue.finditer(text))
        self._kept = stems(" ".join([*named, *cues]), code).union(first)
        # If the aspect (a part of the question) contains a pronoun, the pronoun may stand for any
        # name in the question.
        said = {*_plain(question if known.pronouns & {*_plain(text).split()} else text).split()}
        self._named = [name for name in map(_plain, named) if said.intersection(name.split())]
        self._language = code
        self._denies = is_negated(question, code)
        self._asks_weekdays = "weekdays" in known.cues_in(text)
        # A phrase without a question word does not show what the user wants to know. A single word
        # is taken to ask for its meaning.
        alone = len(question.split()) == 1
        self._asks = bool(
            alone or known.cues_in(question) or known.which.match(text) or "?" in question
        )
        self._is_polar = bool(known.polar.match(text))
        self._numbers = numbers(question, code) | spelled_numbers(question, code)
        self._names = names(f"- {question}")
        self._says_what = _says_what(text, code)
        self._counted = stems(counted(text, code), code)
        # Ignore the words after "which" if the question asks for the largest or smallest item,
        # because only a whole table can show which it is.
        which = None if known.cues_in(text) & _EXTREMES else known.which.match(text)
        self._thing = stems(words_behind(which, code), code)
        # A word after a preposition ("winter" in "open in winter") is not a verb.
        behind = (WORD.search(text, found.end()) for found in known.regarding.finditer(text))
        nouns = [*named, *(word[0] for word in behind if word)]
        self._no_verbs = stems(" ".join(nouns), code)
        self._dimensions = _asked_dimensions(text, code)

    @property
    def is_fact(self) -> bool:
        """Whether one or two sentences can answer the question."""
        return self.kind not in _FORMS

    def fits(self, one: Candidate) -> bool:
        """Return whether a candidate contains the requested kind of value or has the right form."""
        text, code = one.text, one.language
        if self.kind == "date":
            return bool((weekdays if self._asks_weekdays else dates)(text, code) - self._numbers)
        if self.kind == "number":
            return self._tells_number(text, code)
        if self.kind == "name":
            return bool(names(f"- {text}") - self._names)
        whole = len(self.words) >= LEAST_HELD and self.words <= stems(text, code)
        if self.kind == "definition":
            begins = bool(self.words.intersection(terms(text, code)[:1]))
            says = not self._says_what or bool(self._says_what.search(text))
            return whole or (one.kind == "text" and is_ended(text) and begins and says)
        if self.kind == "steps" and one.kind == "text":
            return whole or "`" in one.shown.spot((one.start, one.end)).quote
        return one.kind in _FORMS.get(self.kind, ())

    def admits(self, one: Candidate, own: Stems, fits: bool) -> bool:
        """Return whether a candidate that proves nothing may still be quoted."""
        if one.kind == "list":
            return self.kind not in VALUES and len(one.text) <= LIST_CHARS
        return one.kind != "text" or fits or len(own - self.stems) >= LEAST_NEW

    def _tells_number(self, text: str, code: str) -> bool:
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
            if self._counted & held_words(self._counted, stems(around, code)):
                return True
        return False

    def proves(self, one: Candidate, own: Stems, above: Stems) -> bool:
        """Return whether a candidate covers everything that the question names. For a list,
        consider only the text above the items.
        """
        # A single row with column names proves nothing here. The table computations handle such
        # rows.
        if any(name for name, _ in one.cells):
            return False
        if self.kind in VALUES and one.kind == "list":
            return False
        if not self.words or not self._asks or self._is_denied(one):
            return False
        if self.kind == "steps" and (call := one.call):
            return self._documents_task(one, *call)
        near = above if one.kind == "list" else own | above
        missing = self.words - held_words(self.words, near)
        own_share = len(held_words(self.words, own)) / len(self.words)
        if missing and not self._may_lack(missing, one, own_share):
            return False
        enough = missing or own_share >= LEAST_OWN or one.kind in ("list", "code")
        return bool(enough) and self._has_names(_plain(f"{one.above}\n{one.text}"))

    def states(self, one: Candidate, above: Stems) -> bool:
        """Return whether a candidate that covers the question also states the answer.
        - A definition must begin with what it defines.
        - The introduction of a list must contain all words of the question.
        - Only a documented call states how to do something.
        - A value must share a sentence with the words of the question.
        """
        if self.kind == "items":
            whole = self.words | self._thing
            return one.kind == "list" and held_words(whole, above) == whole
        if one.kind != "text":
            return False
        if self.kind == "steps":
            return one.call is not None
        if self.kind == "definition":
            first = terms(_before_verb(one.text, self._says_what), one.language)
            most = len(self.words) + BESIDE_SUBJECT
            short = self._says_what is None or len(first) <= most
            return short and held_words(self.words, frozenset(first[:most])) == self.words
        if self.kind not in VALUES or len(self.words) < LEAST_HELD:
            return False
        named = above & stems(" ".join(self._named), self._language)
        said = (stems(one.text[a:b], one.language) | named for a, b in sentences(one.text))
        return any(held_words(self.words, each) == self.words for each in said)

    def _documents_task(self, one: Candidate, name: str, described: str) -> bool:
        """Return whether a documented call does the task in a how-to question.
        - The task is the words of the question, LEAST_HELD or more, that do not name the page.
        - The call's name and the first clause of its description must contain the whole task.
        - At least half of the words in this clause must belong to the task.
        - For a method, the question must name the class.
        """
        code, (owner, _, name) = one.language, split_camel_case(name).rpartition(".")
        task = self.words - held_words(self.words, stems(one.page_name, code))
        first = stems(_CLAUSE_END.split(described)[0], code)
        kind = stems(owner, code) if owner[:1].isupper() else Stems()
        told = held_words(task, first | kind | stems(name, code))
        half = 2 * len(held_words(task, first)) >= len(first)
        enough = len(task) >= LEAST_HELD and told == task and half
        return enough and held_words(self.words, kind) == kind

    def may_instruct(self, one: Candidate) -> bool:
        """Return False for a how-to if the page is of a package that the question does not name."""
        package = _PACKAGE.match(one.shown.page.url)
        if self.kind != "steps" or one.shown.page.kind == "own" or not package:
            return True
        names = stems(f"{package[1]} {one.module.partition('.')[0]}", one.language) - {"python"}
        joined, asked = (_NO_LETTERS.sub("", s).casefold() for s in (package[1], self._question))
        return bool(held_words(self._asked, names)) or (
            len(joined) > LEAST_STEM and joined in asked
        )

    def _has_names(self, text: str) -> bool:
        """Return whether a text has all required names, in English exactly or with a plural "s"."""
        if self._language == DEFAULT:
            return all(
                re.search(rf"(?<!\w){re.escape(n)}(?:e?s)?(?!\w)", text) for n in self._named
            )
        held = stems(text, self._language)
        return all(name in text or stems(name, self._language) <= held for name in self._named)

    def contradicts(self, one: Candidate, near: Stems) -> bool:
        """Return whether a candidate has the question's words but denies the question's premise."""
        return self.words <= held_words(self.words, near) and self._is_denied(one)

    def _is_denied(self, one: Candidate) -> bool:
        if self._denies or self._is_polar or one.kind in ("list", "code"):
            return False
        denials = language(one.language).negations.finditer(one.text)
        denied = (" ".join(one.text[no.end() :].split()[:DENIED_WORDS]) for no in denials)
        return any(self.words & stems(words, one.language) for words in denied)

    def _may_lack(self, missing: Stems, one: Candidate, own_share: float) -> bool:
        """Return whether a candidate can count as proof without one of the question's words."""
        if len(missing) != 1:
            return False
        if self._thing and not missing & (self._thing | self._no_verbs):
            return own_share >= LEAST_OWN and len(self.words) >= LEAST_HELD
        long = (
            not missing & self._kept and len(self.words) > LEAST_HELD and own_share > MOST_LACKING
        )
        return long and self.kind in ("number", "steps", "items") and one.kind != "code"


def held_words(words: Stems, held: Stems) -> Stems:
    """Return those of `words` that occur in `held`, including as synonyms or derived forms."""
    found = frozenset(word for word in words if word in held or _holds(held, word))
    pairs = [word for word in words - found if _HAN.fullmatch(word)]
    ends, begins = ({word[at] for word in found if pairs} for at in (-1, 0))
    return found.union(pair for pair in pairs if pair[0] in ends and pair[1] in begins)


def _holds(held: Stems, word: str) -> bool:
    derived = len(word) >= LEAST_STEM and any(each.startswith(word) for each in held)
    return derived or not held.isdisjoint(OTHER_WORDS.get(word, ()))


def _says_what(text: str, code: str) -> re.Pattern[str] | None:
    known = language(code)
    found = known.cues["define"].search(text) if "define" in known.cues else None
    return known.says_what if found and known.says_what.search(f"{found[0]} a") else None


def _before_verb(text: str, says_what: re.Pattern[str] | None) -> str:
    found = says_what.search(text) if says_what else None
    return text[: found.start()] if found else "" if says_what else text


def _asked_dimensions(text: str, code: str) -> frozenset[str]:
    known = language(code)
    found = known.cues["measure"].search(text) if "measure" in known.cues else None
    last = found[0].split()[-1].casefold() if found else ""
    return frozenset(known.dimensions.get(last, ()))


def _subject_words(text: str, code: str) -> Stems:
    """Return a question's word stems. In languages without spaces, leave out question words."""
    if not language(code).unspaced:
        return stems(text, code)
    for cue in language(code).cues.values():
        text = cue.sub(lambda found: " " if _ASKING.search(found[0]) else found[0], text)
    return frozenset(stem for stem in stems(text, code) if not _ENDING.fullmatch(stem))


def _form_words(text: str, code: str) -> Stems:
    known = language(code)
    found = [(name, m) for name, cue in known.cues.items() if (m := cue.search(text))]
    asks = [
        _ends(m[0])
        for name, m in found
        # Cues such as "which", "List the …" and "… steps" only indicate the form of the answer.
        if m[0].split()[0].casefold() in known.stop
        or (name == "items" and not m.start())
        or (name == "steps" and m.end() == len(text.rstrip(" ?.")))
    ]
    return frozenset().union(*(stems(words, code) for words in asks))


def _ends(cue: str) -> str:
    """Keep only the start and end of a long cue: its middle can contain the question's subject."""
    words = cue.split()
    return " ".join(words if len(words) <= CUE_WORDS else [*words[:2], words[-1]])

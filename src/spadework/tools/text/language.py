"""What is known of a language, from `lang/<code>.toml`, the only place that has its words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

#: The language that is meant where nothing tells which one.
DEFAULT = "en"
_LANG = "spadework.tools.text.lang"
_CODE = re.compile(r"[a-z]{2,3}")
_NEVER = re.compile(r"(?!)")
#: Sets of words.
_WORDS = (
    "stop", "capitals", "elisions", "abbreviations", "maybe_last", "starters", "pronouns",
    "articles", "points", "compares",
)  # fmt: skip
#: Patterns that are used as they are written.
_IN_ANY_CASE = ("joins", "joint", "belongs", "regarding", "goes_on", "last_verb")
_AS_THEY_STAND = ("relation", "linked", "demonym", "request", "label", "expletive")


@dataclass(frozen=True)
class Talk:
    """What is said without asking for anything: greetings and questions about whom one speaks with
    (`opens`), thanks, assent, goodbyes (`closes`), and words that may stand beside them (`fill`).
    `about` and `welcome` are what is answered to each.
    """

    opens: re.Pattern[str]
    closes: re.Pattern[str]
    fill: re.Pattern[str]
    about: str
    welcome: str


@dataclass(frozen=True)
class Language:
    """A language, by its code. Words are lower-case; without a file there are none.

    `letters` are those beside a to z. `cues` are patterns for what kind of answer a question asks
    for: count, measure, date, who, where, define, steps, items, compare, why. A question may show
    several: "what is the price of" asks to define by its first words alone.
    """

    code: str
    name: str = ""
    stemmer: str = ""  # snowballstemmer's name of it
    unspaced: bool = False  # written without spaces between words
    letters: str = ""
    stop: frozenset[str] = frozenset()
    capitals: frozenset[str] = frozenset()  # stop words that are names when in capitals
    elisions: frozenset[str] = frozenset()  # what stands before an apostrophe and is no word
    decimal: str = "."
    of: str = ""  # may stand between the parts of a date
    months: Mapping[str, str] = field(default_factory=dict)  # name → "1" to "12"
    numbers: Mapping[str, str] = field(default_factory=dict)  # word → digits
    scales: Mapping[str, int] = field(default_factory=dict)  # word → power of ten
    nouns_in_capitals: bool = False  # a word in capitals need not be a name
    # Never the last word of a sentence; one with a capital only where it is written with that.
    abbreviations: frozenset[str] = frozenset()
    maybe_last: frozenset[str] = frozenset()  # the last one only before one of `starters`
    starters: frozenset[str] = frozenset()
    ordinals: bool = False  # "3." before a word is an ordinal
    negations: re.Pattern[str] = _NEVER
    other_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # stems
    cues: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    latest: re.Pattern[str] = _NEVER  # asks for what is new
    leans: frozenset[str] = frozenset()  # a sentence that begins so needs the one before it
    pronouns: frozenset[str] = frozenset()  # what stands for the subject in a later question
    expletive: re.Pattern[str] = _NEVER  # a pronoun that stands for nothing
    joins: re.Pattern[str] = _NEVER  # between the parts of a question
    #: The two things that a question compares, as the last groups, and in what, as one before.
    compares: frozenset[str] = frozenset()  # say of a comparison that it is one, no more
    defines: str = ""  # asks what something is
    sides: tuple[re.Pattern[str], ...] = ()
    joint: re.Pattern[str] = _NEVER  # between the things of a list
    belongs: re.Pattern[str] = _NEVER  # between a thing and what it is of
    regarding: re.Pattern[str] = _NEVER  # before what all sides are looked at for
    articles: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()  # what points at something said before
    taken_up: Mapping[str, str] = field(default_factory=dict)  # pronoun → its article
    last_verb: re.Pattern[str] = _NEVER  # a question that ends with its verb
    goes_on: re.Pattern[str] = _NEVER  # how a follow-up begins
    relation: re.Pattern[str] = _NEVER  # a thing told by what it is to another one
    linked: re.Pattern[str] = _NEVER  # what stands before the name of who did or is something
    demonym: re.Pattern[str] = _NEVER  # a word that says where somebody is from
    request: re.Pattern[str] = _NEVER  # how a request begins that brings a text
    label: re.Pattern[str] = _NEVER  # what stands before a part of a text
    other_side: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # stems: who is whose
    #: What is asked of a text that is there: shorter, longer, set (a form), add;
    #: the verbs that ask to do it, and polite words.
    revises: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    tongues: Mapping[str, str] = field(default_factory=dict)  # name of a language → its code
    talk: Talk | None = None
    report: Mapping[str, str] = field(default_factory=dict)  # what code says in a report

    def asked(self, question: str) -> frozenset[str]:
        """The cues that stand in a question."""
        return frozenset(name for name, cue in self.cues.items() if cue.search(question))

    def leaning(self, text: str) -> bool:
        """Whether a sentence begins with a word that needs what stands before it ("However")."""
        opening = text[:60].casefold().lstrip("*_“\"'( ")
        ends = ("",) if self.unspaced else (" ", ",")
        return any(opening.startswith(word + end) for word in self.leans for end in ends)

    def alone(self, text: str) -> str:
        """A sentence without its connective ("However, …"); "" if it leans on what precedes it."""
        if not self.leaning(text):
            return text
        connective, comma, rest = text.partition(", ")
        if not comma or connective.strip("*_“\"'( ").casefold() not in self.leans:
            return ""
        return self.alone(rest[:1].upper() + rest[1:])


@lru_cache(maxsize=64)
def language(code: str) -> Language:
    """The language of a code such as `de` or `de-AT`; known by its code alone without a file."""
    short = code.lower().partition("-")[0]
    if short not in codes():
        return Language(short, short)
    text = (files(_LANG) / f"{short}.toml").read_text(encoding="utf-8")
    return _make_language(short, tomllib.loads(text))


@lru_cache(maxsize=1)
def codes() -> tuple[str, ...]:
    """The codes of the languages that have a file."""
    names = (file.name.partition(".") for file in files(_LANG).iterdir())
    return tuple(sorted(n for n, _, kind in names if kind == "toml" and _CODE.fullmatch(n)))


def _make_language(code: str, table: dict[str, Any]) -> Language:
    spaced = not table.get("unspaced", False)
    made: dict[str, Any] = {name: frozenset(table.pop(name, "").split()) for name in _WORDS}
    made["leans"] = frozenset(table.pop("leans", ()))
    made |= {name: _words(table.pop(name, {})) for name in ("other_words", "other_side")}
    made |= {name: re.compile(table.pop(name, "(?!)")) for name in _AS_THEY_STAND}
    made |= {name: re.compile(table.pop(name, "(?!)"), re.IGNORECASE) for name in _IN_ANY_CASE}
    months = enumerate(table.pop("months"), 1)
    return Language(
        code=code,
        months={name: str(n) for n, names in months for name in names.split()},
        numbers={w: n for n, names in table.pop("numbers").items() for w in names.split()},
        negations=_pattern(table.pop("negations"), spaced),
        scales={w: int(n) for n, names in table.pop("scales", {}).items() for w in names.split()},
        latest=_pattern(table.pop("latest", ["(?!)"]), spaced),
        cues={name: _pattern(cues, spaced) for name, cues in table.pop("cues").items()},
        revises={name: _pattern(of, spaced) for name, of in table.pop("revises", {}).items()},
        tongues={w: c for c, names in table.pop("tongues", {}).items() for w in names.split()},
        talk=_talk(table.pop("talk", None), spaced),
        sides=tuple(re.compile(each, re.IGNORECASE) for each in table.pop("sides", ())),
        **made,
        **table,
    )


def _talk(table: Mapping[str, Any] | None, spaced: bool) -> Talk | None:
    if table is None:
        return None
    # Who chats leaves out apostrophes.
    said = ([each.replace("'", "'?") for each in table[name]] for name in ("opens", "closes"))
    opens, closes = (_pattern(each, spaced) for each in said)
    fill = _pattern(map(re.escape, table["fill"].split()), spaced)
    return Talk(opens, closes, fill, table["about"], table["welcome"])


def _words(table: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {word: tuple(others.split()) for word, others in table.items()}


def _pattern(phrases: Iterable[str], spaced: bool) -> re.Pattern[str]:
    """Any of the phrases, as whole words; apostrophes may be curly, a space any white space."""
    phrase = "|".join(phrases).replace("'", "['’]").replace(" ", r"\s+")
    return re.compile(rf"(?<!\w)(?:{phrase})(?!\w)" if spaced else phrase, re.IGNORECASE)

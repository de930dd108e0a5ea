"""The language of a text, and what is known of it from `lang/<code>.toml`."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
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
_AS_THEY_STAND = ("relation", "linked", "demonym", "request", "label", "expletive", "form")


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
    form: re.Pattern[str] = _NEVER  # what asks for a form of the answer
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


#: So much of a text is looked at.
LOOKED_AT = 4_000
#: The least share of function words in a text of more words than a question may have.
LEAST_SHARE, SHORT = 0.15, 12
#: What a text must have of the words of its language, each shared among the languages it is in.
LEAST = 0.5
#: What a word counts against a language whose letters it is not written in.
FOREIGN = 0.5
#: Scores that differ by no more than this are the same sum added in another order.
TIE = 1e-6
#: A sign of these scripts says as much as so many letters.
SIGNS = {"kana": 2, "han": 2, "ko": 2}
#: Japanese has at least this share of kana among its signs; Chinese may quote a few.
KANA = 0.05

#: A word, without what stands after an apostrophe.
_WORD = re.compile(r"(?<![\w'’])\w+")
#: Scripts by the code points they begin and end at; those of one language under its code.
_SCRIPTS = (
    (0x0041, 0x024F, "latin"), (0x0370, 0x03FF, "el"), (0x0400, 0x052F, "cyrillic"),
    (0x0531, 0x058F, "hy"), (0x05D0, 0x05EA, "he"), (0x0620, 0x06FF, "ar"),
    (0x0900, 0x097F, "hi"), (0x0980, 0x09FF, "bn"), (0x0A00, 0x0A7F, "pa"),
    (0x0A80, 0x0AFF, "gu"), (0x0B80, 0x0BFF, "ta"), (0x0C00, 0x0C7F, "te"),
    (0x0C80, 0x0CFF, "kn"), (0x0D00, 0x0D7F, "ml"), (0x0D80, 0x0DFF, "si"),
    (0x0E00, 0x0E7F, "th"), (0x0E80, 0x0EFF, "lo"), (0x1000, 0x109F, "my"),
    (0x10A0, 0x10FF, "ka"), (0x1100, 0x11FF, "ko"), (0x1200, 0x137F, "am"),
    (0x1780, 0x17FF, "km"), (0x1E00, 0x1EFF, "latin"), (0x3041, 0x30FF, "kana"),
    (0x3400, 0x9FFF, "han"), (0xAC00, 0xD7AF, "ko"), (0xF900, 0xFAFF, "han"),
    (0x20000, 0x3FFFF, "han"),
)  # fmt: skip


def language_of(text: str) -> str:
    """The code of the language of a text, also of a short question; "" where it cannot tell."""
    return _language_of(text[:LOOKED_AT])


def spoken(*texts: str) -> str:
    """The code of the language of the first text that shows one, else that of English."""
    return next(filter(None, map(language_of, texts)), DEFAULT)


@lru_cache(maxsize=2_048)
def _language_of(text: str) -> str:
    scripts = {"latin": 1} if text.isascii() else _scripts(text)
    if not scripts:
        return ""
    main = max(scripts, key=lambda script: scripts[script] * SIGNS.get(script, 1))
    if main in ("latin", "cyrillic"):
        return _by_words(text.lower()) or _among_letters(text, scripts)
    return _east_asian(scripts) if main in ("kana", "han") else main


def _scripts(text: str) -> dict[str, int]:
    """How many letters a text has of each script."""
    found: Counter[str] = Counter()
    for char, times in Counter(text).items():
        if char.isalpha():
            point = ord(char)
            script = next((s for first, last, s in _SCRIPTS if first <= point <= last), "")
            found[script] += times
    found.pop("", None)
    return dict(found)


def _east_asian(scripts: dict[str, int]) -> str:
    kana, han = scripts.get("kana", 0), scripts.get("han", 0)
    return "ja" if kana > KANA * (kana + han) else "zh"


def _among_letters(text: str, scripts: dict[str, int]) -> str:
    """The East Asian language whose function words stand among foreign names: `asyncio 是什么`."""
    if not {"kana", "han"} & scripts.keys():
        return ""
    code = _east_asian(scripts)
    return code if any(word in text for word in language(code).stop) else ""


def _by_words(text: str) -> str:
    words = Counter(_WORD.findall(text))
    scores: defaultdict[str, float] = defaultdict(float)
    hits: Counter[str] = Counter()
    for word, times in words.items():
        owners = _owners().get(word, ())
        for code in owners:
            scores[code] += times / len(owners)
            hits[code] += times
        if not word.isascii():
            for code, letters in _alphabets().items():
                if not letters.issuperset(word):
                    scores[code] -= times * FOREIGN
                    hits[code] -= times
    best, second = [*sorted(scores, key=lambda code: -scores[code]), "", ""][:2]
    total = words.total()
    sure = scores[best] >= LEAST and scores[best] - scores[second] > TIE
    return best if sure and (total <= SHORT or hits[best] >= LEAST_SHARE * total) else ""


@lru_cache(maxsize=1)
def _owners() -> dict[str, tuple[str, ...]]:
    """The languages that each function word belongs to."""
    found: dict[str, tuple[str, ...]] = {}
    for code in _alphabets():
        for word in language(code).stop:
            found[word] = (*found.get(word, ()), code)
    return found


@lru_cache(maxsize=1)
def _alphabets() -> dict[str, frozenset[str]]:
    """The letters of each language that puts spaces between words."""
    spaced = (language(code) for code in codes() if not language(code).unspaced)
    return {one.code: frozenset("abcdefghijklmnopqrstuvwxyz" + one.letters) for one in spaced}


@dataclass(frozen=True)
class Phrases:
    """The fixed words of a report in the language of a code such as `de` or `de-AT`."""

    code: str = DEFAULT

    @property
    def spoken(self) -> str:
        """The code of the language that they are in."""
        own = language(self.code)
        return own.code if own.report else DEFAULT

    def __call__(self, name: str, **values: object) -> str:
        """A phrase by its name, with what is told in it."""
        return language(self.spoken).report[name].format(**values)


ENGLISH = Phrases()

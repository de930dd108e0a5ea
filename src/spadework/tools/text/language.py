"""Detect a text's language, and load `lang/<code>.toml`."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, Literal

DEFAULT = "en"
_LANG = "spadework.tools.text.lang"
_CODE = re.compile(r"[a-z]{2,3}")
_NEVER = re.compile(r"(?!)")
#: A figure or date in a comparison, after an optional currency sign.
_FIGURE = r"[^\w\s]?(\d(?:[\d.,/-]*\d)?)"
_WORDS = (
    "stop", "capitals", "elisions", "abbreviations", "maybe_last", "starters", "pronouns",
    "articles", "points", "compares", "weekdays",
)  # fmt: skip
_WORDS_BY_WORD = ("other_words", "other_side", "dimensions")
_IN_ANY_CASE = (
    "joins", "joint", "belongs", "regarding", "goes_on", "last_verb", "says_what", "which", "polar",
    "excludes", "ranks",
)  # fmt: skip
_AS_THEY_STAND = ("relation", "linked", "demonym", "request", "label", "expletive", "form")


@dataclass(frozen=True)
class Talk:
    """Patterns for small talk and for filler words (`fill`). `about` is the reply to a greeting,
    and `welcome` the reply to thanks or a goodbye.
    """

    opens: re.Pattern[str]
    closes: re.Pattern[str]
    fill: re.Pattern[str]
    about: str
    welcome: str


@dataclass(frozen=True)
class Language:
    """Data for one language, with words in lower case. `letters` are its letters other than a-z.
    `cues` recognize the type of answer that a question asks for, such as a count or date.
    """

    code: str
    name: str = ""
    own_name: str = ""
    stemmer: str = ""  # snowballstemmer's name
    unspaced: bool = False  # no spaces between words
    letters: str = ""
    stop: frozenset[str] = frozenset()
    capitals: frozenset[str] = frozenset()  # stop words that are names in all capitals ("US")
    elisions: frozenset[str] = frozenset()  # prefixes before an apostrophe, such as French "l"
    decimal: str = "."
    of: str = ""  # a word between the parts of a date, such as "of"
    months: Mapping[str, str] = field(default_factory=dict)  # name → number as text ("1" to "12")
    weekdays: frozenset[str] = frozenset()
    numbers: Mapping[str, str] = field(default_factory=dict)  # number word → digits
    scales: Mapping[str, int] = field(default_factory=dict)  # word → power of ten ("million" → 6)
    nouns_in_capitals: bool = False  # nouns are capitalized, even if they are not names
    # Abbreviations that never end a sentence. Those with capitals are case-sensitive.
    abbreviations: frozenset[str] = frozenset()
    # Abbreviations that end a sentence only before one of `starters`.
    maybe_last: frozenset[str] = frozenset()
    starters: frozenset[str] = frozenset()
    ordinals: bool = False  # "3." before a word is an ordinal
    negations: re.Pattern[str] = _NEVER
    # stem → stems of synonyms
    other_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cues: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    bounds: Mapping[str, re.Pattern[str]] = field(default_factory=dict)  # "before 1850"
    # Maps a word such as "heavy" to dimensions such as "mass".
    dimensions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    says_what: re.Pattern[str] = _NEVER  # text after the subject of a definition ("is a")
    latest: re.Pattern[str] = _NEVER  # a request for news
    leans: frozenset[str] = frozenset()  # starts of sentences that need context, such as "however"
    pronouns: frozenset[str] = frozenset()  # pronouns that may stand for a subject mentioned before
    which: re.Pattern[str] = _NEVER  # words before the noun that is asked for ("which")
    polar: re.Pattern[str] = _NEVER  # start of a yes/no question
    excludes: re.Pattern[str] = _NEVER  # a word before something to exclude ("outside")
    ranks: re.Pattern[str] = _NEVER  # a rank beside a superlative, as in "second largest"
    expletive: re.Pattern[str] = _NEVER  # a pronoun without a referent, as in "it is true that"
    joins: re.Pattern[str] = _NEVER  # text between two questions, such as "and" before "how"
    compares: frozenset[str] = frozenset()  # words of a request for a comparison
    defines: str = ""  # template for asking what something is
    sides: tuple[re.Pattern[str], ...] = ()
    joint: re.Pattern[str] = _NEVER  # text between the items of a list
    belongs: re.Pattern[str] = _NEVER  # text between a thing and its owner, such as "of"
    regarding: re.Pattern[str] = _NEVER  # words such as "in terms of"
    articles: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()  # words that refer to something mentioned before
    taken_up: Mapping[str, str] = field(default_factory=dict)  # pronoun → article ("er" → "der")
    last_verb: re.Pattern[str] = _NEVER  # a question that ends with its verb
    goes_on: re.Pattern[str] = _NEVER  # start of a follow-up question
    relation: re.Pattern[str] = _NEVER  # words that state a relation, such as "Anna's brother"
    linked: re.Pattern[str] = _NEVER  # text before the name of a related person or thing ("by")
    demonym: re.Pattern[str] = _NEVER  # an adjective of nationality, such as "French"
    request: re.Pattern[str] = _NEVER  # start of a request, such as "please summarize"
    label: re.Pattern[str] = _NEVER  # a heading such as "Abstract:" within a text
    form: re.Pattern[str] = _NEVER  # requirements on the answer's form ("in plain words")
    other_side: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # stem of a relation → stems of the opposite relation ("husband" → "wife")
    #: Maps each type of change to a pattern for requests to change a text in this way.
    revises: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    tongues: Mapping[str, str] = field(default_factory=dict)  # language name → code
    talk: Talk | None = None
    report: Mapping[str, str] = field(default_factory=dict)  # the phrases of a report, by name

    def cues_in(self, question: str) -> frozenset[str]:
        """Return the names of the cues that match a question."""
        return frozenset(name for name, cue in self.cues.items() if cue.search(question))

    @cached_property
    def short_weekdays(self) -> frozenset[str]:
        """The first three letters of each weekday, capitalized."""
        return frozenset() if self.unspaced else frozenset(d[:3].title() for d in self.weekdays)

    def is_weekday(self, word: str) -> bool:
        """Return whether a word is a weekday or its plural ("Tuesdays")."""
        small = word.casefold()
        return not self.weekdays.isdisjoint((small, small.removesuffix("s")))

    def needs_context(self, text: str) -> bool:
        """Return whether a text's opening depends on the previous sentence ("However")."""
        opening = text[:60].casefold().lstrip("*_“\"'( ")
        ends = ("",) if self.unspaced else (" ", ",")
        return any(opening.startswith(word + end) for word in self.leans for end in ends)

    def without_connective(self, text: str) -> str:
        """Return a sentence without its connective ("However, …"), or "" if it needs context."""
        if not self.needs_context(text):
            return text
        connective, comma, rest = text.partition(", ")
        if not comma or connective.strip("*_“\"'( ").casefold() not in self.leans:
            return ""
        return self.without_connective(rest[:1].upper() + rest[1:])


@lru_cache(maxsize=64)
def language(code: str) -> Language:
    """Return the language for a code such as `de` or `de-AT`. If it has no data file, its word
    lists are empty and its patterns match nothing.
    """
    short = code.lower().partition("-")[0]
    if short not in codes():
        return Language(short, short)
    text = (files(_LANG) / f"{short}.toml").read_text(encoding="utf-8")
    return _make_language(short, tomllib.loads(text))


@lru_cache(maxsize=1)
def codes() -> tuple[str, ...]:
    """Return the codes of all languages with a data file."""
    names = (file.name.partition(".") for file in files(_LANG).iterdir())
    return tuple(sorted(n for n, _, kind in names if kind == "toml" and _CODE.fullmatch(n)))


def _make_language(code: str, table: dict[str, Any]) -> Language:
    spaced = not table.get("unspaced", False)
    made: dict[str, Any] = {name: frozenset(table.pop(name, "").split()) for name in _WORDS}
    made["leans"] = frozenset(table.pop("leans", ()))
    made |= {name: _words(table.pop(name, {})) for name in _WORDS_BY_WORD}
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
        bounds={
            name: _pattern([bound.replace("{n}", _FIGURE)], spaced)
            for name, bound in table.pop("bounds", {}).items()
        },
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
    said = ([each.replace("'", "'?") for each in table[name]] for name in ("opens", "closes"))
    opens, closes = (_pattern(each, spaced) for each in said)
    fill = _pattern(map(re.escape, table["fill"].split()), spaced)
    return Talk(opens, closes, fill, table["about"], table["welcome"])


def _words(table: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {word: tuple(others.split()) for word, others in table.items()}


def _pattern(phrases: Iterable[str], spaced: bool) -> re.Pattern[str]:
    phrase = "|".join(phrases).replace("'", "['’]").replace(" ", r"\s+")
    return re.compile(rf"(?<!\w)(?:{phrase})(?!\w)" if spaced else phrase, re.IGNORECASE)


LOOKED_AT = 4_000
#: In a text of more than SHORT words, at least the fraction LEAST_SHARE must be function words of
#: the detected language.
LEAST_SHARE, SHORT = 0.15, 12
#: Minimum score for a language to be detected. A function word that n languages share adds 1/n to
#: the score of each.
LEAST = 0.5
#: A word with letters foreign to a language lowers the language's score by this much.
FOREIGN = 0.5
#: Scores that differ by no more than this count as equal, to allow for rounding errors.
TIE = 1e-6
#: One character of each of these scripts counts as this many letters.
SIGNS = {"kana": 2, "han": 2, "ko": 2}
#: Minimum fraction of kana for a text to count as Japanese. A Chinese text may contain a few quoted
#: kana.
KANA = 0.05

#: A word, without the part after an apostrophe.
_WORD = re.compile(r"(?<![\w'’])\w+")
#: Code point ranges of scripts, or of languages with their own script.
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
    """Return a text's language code, or "" if unclear."""
    return _language_of(text[:LOOKED_AT])


def spoken(*texts: str) -> str:
    """Return the language of the first text whose language is clear, or else English."""
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
    """Return the East Asian language of mixed text (`asyncio 是什么`), or ""."""
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
    found: dict[str, tuple[str, ...]] = {}
    for code in _alphabets():
        for word in language(code).stop:
            found[word] = (*found.get(word, ()), code)
    return found


@lru_cache(maxsize=1)
def _alphabets() -> dict[str, frozenset[str]]:
    spaced = (language(code) for code in codes() if not language(code).unspaced)
    return {one.code: frozenset("abcdefghijklmnopqrstuvwxyz" + one.letters) for one in spaced}


@dataclass(frozen=True)
class Phrases:
    """Report phrases in the language `code`, such as `de` or `de-AT`."""

    code: str = DEFAULT

    @property
    def language(self) -> str:
        """The language code without its region."""
        short = self.code.lower().partition("-")[0]
        return short if _CODE.fullmatch(short) else DEFAULT

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        """The writing direction."""
        return "rtl" if self.language in _RIGHT_TO_LEFT else "ltr"

    def __call__(self, name: str, **values: object) -> str:
        """Return the named phrase with `values` filled in, in English if the language lacks it."""
        own = language(self.language).report or _headings().get(self.language, {})
        return (own.get(name) or language(DEFAULT).report[name]).format(**values)

    def scope(self, text: str) -> str:
        """Translate an English description of a search's scope, including nested descriptions.
        Return it unchanged if no `scope_` phrase matches.
        """
        for name, pattern in _scopes():
            if found := pattern.fullmatch(text):
                values = found.groupdict()
                return self(name, **values | {"what": self.scope(values.get("what", ""))})
        return text


@lru_cache(maxsize=1)
def _scopes() -> list[tuple[str, re.Pattern[str]]]:
    phrases = language(DEFAULT).report.items()
    scopes = [(name, re.escape(text)) for name, text in phrases if name.startswith("scope_")]
    field = re.compile(r"\\{(\w+)\\}")
    return [(name, re.compile(field.sub(r"(?P<\1>.+)", text))) for name, text in scopes]


_RIGHT_TO_LEFT = frozenset(
    ["ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"]
)


@lru_cache(maxsize=1)
def _headings() -> dict[str, dict[str, str]]:
    return tomllib.loads((files(_LANG) / "headings.toml").read_text(encoding="utf-8"))


ENGLISH = Phrases()

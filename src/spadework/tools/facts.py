"""What can be checked by code in a sentence: its numbers and dates, its names, its negations, its
content words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

from spadework.tools.rank import STOP_WORDS

_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d+(?:[.,]\d+)*(?:\.\d+)?(?=%|\b)")
_SEPARATED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
_WORDS_FOR = {word: str(n) for n, word in enumerate(_COUNTED.split())} | {
    word: str(n * 10) for n, word in enumerate(_TENS.split(), 2)
}
_MONTH_NAMES = (
    "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august"
    "|sep sept september|oct october|nov november|dec december"
)
_MONTHS = {
    name: str(n) for n, names in enumerate(_MONTH_NAMES.split("|"), 1) for name in names.split()
}
_WORD = re.compile(r"[^\W_][\w'’.+#-]*")
#: A word, also one such as `c++`, `gpt-5` or `node.js`; underscores part words, so that names in
#: code share them.
_CONTENT = re.compile(r"[^\W_](?:[^\W_]|['’-](?=[^\W_]))*[+#]*")
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nor|neither|cannot|without|nobody|nothing)\b|n['’]t\b", re.IGNORECASE
)
#: What answers say where questions say otherwise, as stems.
OTHER_WORDS = {
    "peopl": ("inhabit", "popul", "resid"),
    "live": ("inhabit", "popul", "resid"),
    "inhabit": ("popul", "resid"),
    "popul": ("inhabit", "resid"),
    "cost": ("price",),
    "born": ("birth",),
    "birth": ("born",),
    "die": ("death",),
    "death": ("die",),
    "invent": ("develop", "design"),
    "wrote": ("written", "author", "creat", "develop"),
    "creat": ("written", "wrote", "author", "develop", "design", "invent"),
    "start": ("found", "began"),
}
_STEMMER = snowballstemmer.stemmer("english")
#: The stemmer keeps the word it works on in itself, and passages are ranked in several threads at
#: once.
_STEMMING = Lock()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The English stem of a lower-case word."""
    with _STEMMING:
        return str(_STEMMER.stemWord(word))


def content_words(text: str) -> list[str]:
    """The stems of the words of a text that are not stop words, in order, with repeats."""
    return [stem(word) for word in _CONTENT.findall(text.lower()) if word not in STOP_WORDS]


def stems(text: str) -> set[str]:
    """The stems of the content words of a text, each once."""
    return set(content_words(text))


def numbers(text: str) -> set[str]:
    """The numbers of a text in one spelling: "1,000" and "1000", "three" and "3", months as numbers
    of their own ("m5").
    """
    found = {_plain_number(match.group()) for match in _NUMBER.finditer(text)}
    return found | months(text)


def months(text: str) -> set[str]:
    """The months that are named next to a number, as "m1" to "m12" ("may" alone is a verb)."""
    pairs = re.findall(
        r"(?:\d+(?:st|nd|rd|th)?\s+(?:of\s+)?([A-Za-z]{3,9})|\b([A-Za-z]{3,9})\.?,?\s+\d)", text
    )
    return {
        f"m{_MONTHS[word.lower()]}" for pair in pairs for word in pair if word.lower() in _MONTHS
    }


def spelled(text: str) -> set[str]:
    """The numbers that stand as words in a text, as digits."""
    return {_WORDS_FOR[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _WORDS_FOR}


def names(sentence: str) -> set[str]:
    """The names of a sentence, lower-case: capitalised words that do not begin it, and words with
    inner capitals or digits.
    """
    found: set[str] = set()
    fresh = True
    for match in _WORD.finditer(sentence):
        word = re.sub(r"['’]s$", "", match.group().rstrip(".'’-"))
        inner = any(c.isupper() for c in word[1:]) or (
            word[:1].isalpha() and any(c.isdigit() for c in word)
        )
        if word != "I" and len(word) > 1 and (inner or (word[:1].isupper() and not fresh)):
            found.add(word.lower())
        fresh = sentence[match.end() : match.end() + 2].strip() in (
            ".",
            "!",
            "?",
            ":",
            "“",
            '"',
        ) or match.group().endswith(".")
    return found


def negated(text: str) -> bool:
    """Whether a text denies something."""
    return bool(_NEGATION.search(text))


def _plain_number(text: str) -> str:
    text = text.lstrip("+")
    if _SEPARATED.fullmatch(text.lstrip("-")):
        text = text.replace(",", "")
    if "." in text and text.replace(".", "", 1).lstrip("-").isdigit():
        text = text.rstrip("0").rstrip(".")
    return text

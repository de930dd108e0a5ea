"""Split text into words, and stem its content words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from threading import Lock

import snowballstemmer

from spadework.tools.text.language import Language, language

#: Characters of scripts written without spaces (Thai, Lao, Burmese, Khmer, Chinese, Japanese), and
#: Korean characters.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
#: Letters and vowel signs of scripts without spaces between words. Korean is included, because its
#: words have endings attached.
RUN_SIGNS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1100-\u11ff"
    "\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
RUN = re.compile(f"[{RUN_SIGNS}]+")


def in_spaced_word(char: str) -> bool:
    """Return whether `char` is `_`, or a letter or digit of a script with spaces between words."""
    if char.isascii():
        return char.isalnum() or char == "_"
    return char.isalnum() and not _UNSPACED.match(char)


def is_whole(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` consists of whole words, unlike "mid" in "middle"."""
    return not _is_joined(text, start) and not _is_joined(text, end)


def _is_joined(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if in_spaced_word(left) and in_spaced_word(right):
        return True
    power = at if right == "^" else at - 1 if left == "^" else 0
    if power:  # For example 10^6 or x^(n+1).
        return text[power - 1].isalnum() and not text[power + 1 : power + 2].isspace()
    if left in ".," and right.isdigit():
        return text[at - 2 : at - 1].isdigit()
    return left.isdigit() and right in ".," and text[at + 1 : at + 2].isdigit()


#: A capital letter that starts a word inside a name. For speed, the pattern matches the letter
#: before it checks the letters around it.
_CAMEL = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")


def split_camel_case(text: str) -> str:
    """Put spaces between the words of camel-case names, so that "AsyncClient" is two words."""
    return _CAMEL.sub(r" \g<0>", text)


_APART = re.compile(r"(?<=\d)(?:[⁺⁻]?[⁰¹²³⁴-⁹]+|[₊₋]?[₀-₉]+|[¼-¾⅐-⅞↉])")
#: A word, such as `c++` or `gpt-5`. Underscores split names into words.
_PLAIN = re.compile(r"[^\W_](?:[^\W_]|['’-](?=[^\W_]))*[+#]*")
#: Matches a letter of a script with spaces between words, or a combining mark, as used in Arabic,
#: Hebrew and Indic scripts.
_LETTER = (
    rf"(?:[^\W_{RUN_SIGNS}]|"
    r"[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff])"
)
_WORD = re.compile(rf"{RUN.pattern}|{_LETTER}(?:{_LETTER}|['’-](?={_LETTER}))*[+#]*")
#: Characters of scripts in which `_PLAIN` may not find whole words.
_ODD = re.compile(r"[^\x00-\u02ff\u0370-\u058f\u10a0-\u10ff\u1e00-\u2e7f]")

Stemming = Callable[[str], str]


def terms(text: str, code: str) -> list[str]:
    """Return a text's stems in order, including repeats but not stop words. Text without spaces is
    split at stop words, and then into overlapping pairs of characters.
    """
    known = language(code)
    words, stop = _words(text, known), known.stop
    if not known.stemmer:
        return [word for word in words if word not in stop]
    stem = stemmer(known.stemmer)
    return [stem(word) for word in words if word not in stop]


@lru_cache(maxsize=32)
def stemmer(name: str) -> Stemming:
    """Return a stemmer for lower-case words by its Snowball name."""
    stemmer, lock = snowballstemmer.stemmer(name), Lock()

    @lru_cache(maxsize=50_000)
    def stem(word: str) -> str:
        # The stemmer is stateful, and threads share it.
        with lock:
            return str(stemmer.stemWord(word))

    return stem


@lru_cache(maxsize=16)
def run_splitter(code: str) -> Callable[[str], list[str]]:
    """Return a function that splits unspaced text at stop words."""
    stop = sorted(language(code).stop, key=len, reverse=True) if language(code).unspaced else ()
    if not stop:
        return lambda run: [run]
    pattern = re.compile("|".join(map(re.escape, stop)))
    return lambda run: [piece for piece in pattern.split(run) if piece]


def in_plain_signs(text: str) -> str:
    """Normalize to NFKC, but turn "10⁶" into "10^6", "1₂" into "1_2" and "2½" into "2 1/2"."""
    marked = _APART.sub(lambda found: _mark(found[0]) + found[0], text)
    return unicodedata.normalize("NFKC", marked).replace("\u2044", "/")


def _mark(figure: str) -> str:
    kind = unicodedata.decomposition(figure[0]).partition(" ")[0]
    return {"<super>": "^", "<sub>": "_"}.get(kind, " ")


def pairs(run: str) -> list[str]:
    """Return the overlapping character pairs of text without spaces, or its single character."""
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def _words(text: str, known: Language) -> Iterable[str]:
    if text.isascii():
        words = _PLAIN.findall(text.lower())
    else:
        # Replace frequent characters first, because NFKC normalization is slow on text that it must
        # change.
        text = text.replace("\u2026", " ").replace("\u00a0", " ").replace("\u2019", "'")
        text = in_plain_signs(text).lower()
        if _ODD.search(text):
            return _split_mixed(text, known)
        words = _PLAIN.findall(text)
    return (_whole(word, known.elisions) for word in words) if known.elisions else words


def _split_mixed(text: str, known: Language) -> Iterator[str]:
    cut = run_splitter(known.code)
    for word in _WORD.findall(text):
        if not word.isascii() and RUN.match(word):
            yield from (pair for piece in cut(word) for pair in pairs(piece))
        else:
            yield _whole(word, known.elisions)


def _whole(word: str, elisions: frozenset[str]) -> str:
    """Remove an elided article or pronoun: `eau` for `l'eau`."""
    head, _, tail = word.partition("'")
    return tail if tail and head in elisions else word

"""Score hits, and fuse lists by reciprocal rank (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import fsum
from typing import TypeVar

from spadework.tools.ranking.query_operators import without_operators
from spadework.tools.text.language import DEFAULT, Language, language, spoken
from spadework.tools.text.terms import RUN, in_spaced_word, is_whole, pairs, run_splitter, terms
from spadework.tools.web.urls import canonical_url
from spadework.values import Hit

PRIORITY = {"domain": 0.4, "relevance": 0.3, "cached": 0.2, "quality": 0.1}
POSITION_WEIGHT = 0.40
TITLE_WEIGHT = 0.30
SNIPPET_WEIGHT = 0.30
MIN_TERM_CHARS = 3

STOP_WORDS = language(DEFAULT).stop
# fmt: off
#: Terms of two or three letters that are kept even in lower case.
SHORT_TERMS = frozenset((
    "ai", "ci", "cd", "cv", "db", "eu", "ev", "hr", "ip", "js", "llm", "ml", "nlp", "os", "pc",
    "pr", "qa", "rl", "tv", "ts", "ui", "uk", "un", "ux", "vm", "vr",
))
# fmt: on

_TOKEN = re.compile(r"(?:(?<![\w.])\.(?=[^\W\d_]))?\w(?:[\w.+#&'\u2019/-]*[\w+#])?")
_SPLIT = re.compile(r"[/&#]|\.{2,}|-{2,}|\+(?=[^+\d])")
#: Endings of possessives and contractions. For example, "don't" without its ending is the stop word
#: "do".
_ENDING = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m)?)$", re.IGNORECASE)
Key = TypeVar("Key", bound=Hashable)


def query_terms(query: str) -> list[str]:
    """Return the distinct significant words of a query, in order and in lower case. Stop words and
    operators such as `site:` are dropped. Technical terms such as `c++` and `gpt-5` stay whole.
    Words under three characters are kept only if they look like terms (`ai`, `s3`, `c#`, `IT`).
    Text in scripts without spaces is segmented.
    """
    query = without_operators(query)
    known = language(spoken(query))
    mixed = any(char.islower() for char in query)
    tokens = _TOKEN.findall(_cut(query, known) if known.unspaced else query)
    return list(dict.fromkeys(term for token in tokens for term in _terms(token, mixed, known)))


def relevance(title: str, snippet: str, position: int, terms: Sequence[str]) -> float:
    """Return a hit's relevance (0..1, rounded to 3 decimals).

    It is 0.40 position + 0.30 title + 0.30 snippet, where title and snippet are the fractions of
    terms found in them. Without terms, it is the position score.

    Whole words match in any case, as English plurals, and with other hyphenation (`gpt-5`, `GPT
    5`). In scripts without spaces, a term can match in part.
    """
    place = position_score(position)
    if not terms:
        return round(place, 3)
    words = TITLE_WEIGHT * _share(title, terms), SNIPPET_WEIGHT * _share(snippet, terms)
    return round(POSITION_WEIGHT * place + words[0] + words[1], 3)


def priority(domain: float, relevance: float, cached: bool, quality: float) -> float:
    """Return a hit's priority: 0.4 domain + 0.3 relevance + 0.2 if cached + 0.1 snippet quality."""
    parts = {"domain": domain, "relevance": relevance, "cached": cached, "quality": quality}
    return round(sum(PRIORITY[name] * part for name, part in parts.items()), 3)


def relevance_parts(
    title: str, snippet: str, position: int, terms: Sequence[str]
) -> dict[str, float]:
    """Return the unweighted parts of `relevance`, or only the position if there are no terms."""
    parts = {"position": position_score(position)}
    if terms:
        parts |= {"title": _share(title, terms), "snippet": _share(snippet, terms)}
    return {name: round(part, 3) for name, part in parts.items()}


def position_score(position: int) -> float:
    """Return 1.0 for position 1, falling to 0.1 at position 10, and then slowly to 0.05."""
    position = max(1, position)
    return (11 - position) / 10 if position <= 10 else max(0.05, 0.1 - 0.01 * (position - 10))


def _cut(query: str, known: Language) -> str:
    cut = run_splitter(known.code)
    return RUN.sub(lambda run: f" {' '.join(cut(run[0]))} ", query)


def _terms(token: str, mixed: bool, known: Language) -> Iterator[str]:
    whole = token.isupper() or not _SPLIT.search(token)
    for part in [token] if whole else _SPLIT.split(token):
        word = _ENDING.sub("", part.replace("\u2019", "'"))
        word = (word if word.startswith("__") else word.strip("_")).rstrip(".'-&/")
        term = word.lower()
        if term in known.stop and not (mixed and word.isupper() and term in known.capitals):
            continue
        if len(term) >= MIN_TERM_CHARS or (term and _technical(word, term, mixed)):
            yield term


def _technical(word: str, term: str, mixed: bool) -> bool:
    has_sign_or_digit = not word.isdigit() and not word.isalpha()
    unspaced = not in_spaced_word(word[0])
    return term in SHORT_TERMS or (mixed and word.isupper()) or has_sign_or_digit or unspaced


def _share(text: str, terms: Sequence[str]) -> float:
    low = text.lower()
    return sum(_present(term, low) for term in terms) / len(terms)


def _present(term: str, low: str) -> float:
    if any(is_whole(low, *match.span()) for match in _forms(term).finditer(low)):
        return 1.0
    if not RUN.fullmatch(term):
        return 0.0
    parts = pairs(term)
    return sum(part in low for part in parts) / len(parts)


@lru_cache(maxsize=4096)
def _forms(term: str) -> re.Pattern[str]:
    pattern = re.escape(term).replace(r"\-", r"[-\u2010-\u2013\s]?").replace("'", "['\u2019]")
    if not (term.isascii() and term.isalpha()) or len(term) < MIN_TERM_CHARS:
        return re.compile(pattern + (r"(?![+#])" if term.isalnum() else ""))
    if term.endswith(("ies", "y")):
        return re.compile(rf"{term.removesuffix('ies').removesuffix('y')}(?:y|ies|ys)")
    stem = term[:-1] if term.endswith("s") and not term.endswith(("ss", "us", "is")) else term
    return re.compile(rf"{stem}(?:s|es)?")


#: Usual BM25 constants (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
K1 = 1.2
B = 0.75


class Bm25:
    """Scores texts with BM25. `languages` holds each text's language code (default: English)."""

    def __init__(self, texts: Sequence[str], languages: Iterable[str] = ()) -> None:
        self._languages = [*languages] or [DEFAULT] * len(texts)
        self._documents = [
            Counter(terms(text, code)) for text, code in zip(texts, self._languages, strict=True)
        ]
        lengths = [sum(document.values()) for document in self._documents]
        mean = max(1.0, sum(lengths) / max(1, len(lengths)))
        self._norms = [K1 * (1 - B + B * length / mean) for length in lengths]
        self._holding = Counter(word for document in self._documents for word in document)

    def scores(self, query: str) -> list[float]:
        """Return each text's BM25 score, in order, tokenizing the query in the text's language."""
        # Keep the query's word order, because the order of addition affects a sum of floats.
        asked = {code: [*dict.fromkeys(terms(query, code))] for code in set(self._languages)}
        words = {word for own in asked.values() for word in own}
        rare = {word: self._rarity(word) for word in words}
        languages = enumerate(self._languages)
        return [sum(rare[w] * self._weight(w, n) for w in asked[code]) for n, code in languages]

    def _rarity(self, word: str) -> float:
        holding = self._holding[word]
        return math.log(1 + (len(self._documents) - holding + 0.5) / (holding + 0.5))

    def _weight(self, word: str, n: int) -> float:
        times = self._documents[n].get(word, 0)
        return times * (K1 + 1) / (times + self._norms[n])


def rank_scores(
    lists: Sequence[Iterable[Key]], k: int = 60, weights: Sequence[float] | None = None
) -> dict[Key, float]:
    """Return each key's score: the sum of weight / (k + rank) over the lists that contain it."""
    parts: dict[Key, list[float]] = {}
    weights = [1.0] * len(lists) if weights is None else weights
    for ranked, weight in zip(lists, weights, strict=True):
        seen: set[Key] = set()
        for rank, key in enumerate(ranked, 1):
            if key not in seen:
                parts.setdefault(key, []).append(weight / (k + rank))
            seen.add(key)
    return {key: fsum(found) for key, found in parts.items()}


def reciprocal_rank_fusion(
    lists: Sequence[Iterable[Hit | str]], k: int = 60, weights: Sequence[float] | None = None
) -> list[Hit]:
    """Return one list, best first, with `rrf` = Σ weight / (k + rank) where ranks start at 1.
    - `lists` hold hits or URLs, best first; `weights` has one number per list, 1 by default.
    - Variants of a URL are one page, which counts once per list, at its best rank.
    - The most relevant copy is kept, with the `found_by` of all copies.
    - Ties keep their order of first appearance.
    """
    copies: dict[str, list[Hit]] = {}
    keys: list[list[str]] = []
    for ranked in lists:
        hits = [Hit(url=item) if isinstance(item, str) else item for item in ranked]
        keys.append([canonical_url(hit.url) for hit in hits])
        for key, hit in zip(keys[-1], hits, strict=True):
            copies.setdefault(key, []).append(hit)
    scores = rank_scores(keys, k, weights)
    fused = [_merge_copies(found, scores[key]) for key, found in copies.items()]
    return sorted(fused, key=lambda hit: -hit.rrf)


def _merge_copies(copies: Sequence[Hit], score: float) -> Hit:
    best = max(copies, key=lambda hit: hit.relevance)
    found_by = tuple(dict.fromkeys(found for copy in copies for found in copy.found_by))
    days = (copy.published_at for copy in (best, *copies) if copy.published_at)
    published_at = next(days, None)
    publisher = next((copy.publisher for copy in (best, *copies) if copy.publisher), "")
    kind = next((copy.kind for copy in (best, *copies) if copy.kind), "")
    known = {"published_at": published_at, "publisher": publisher, "kind": kind}
    return best.model_copy(update={"rrf": score, "found_by": found_by, **known})

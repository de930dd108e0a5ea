"""The full-text index: its fields, and how texts become terms in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import tantivy

#: Terms that lose their meaning when their signs are dropped: C++, C#, .NET.
#: Each pattern begins with a sign, which is found much faster than a word with a sign after it.
_DOT_FIRST = re.compile(r"\.(?<![\w.]\.)[A-Za-z]{2,}\b")
_SIGNS_LAST = (re.compile(r"\+\+(?!\w)"), re.compile(r"#(?!\w)"))
#: A capital that begins a word inside a name. To begin with the capital, and look around it, is
#: much faster than to look everywhere.
_CAMEL = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
#: Scripts written without spaces: every sign is a word of its own.
_UNSPACED = re.compile(
    r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff])"
)
_WORD = re.compile(r"[^\W_]+")
#: Stems that are no beginning of their words (dying), but for their last letter (hoping, happy).
_IRREGULAR = frozenset(("die", "lie", "tie"))
_NAME = r"[\p{L}\p{N}_]+(?:[.\-][\p{L}\p{N}_]+)*"

#: The fields that hold words, and how much a match in each counts against one in the body.
BOOSTS = {"title": 1.5, "heading": 1.2, "body": 1.0}


@lru_cache(maxsize=1)
def schema() -> tantivy.Schema:
    """The fields of a passage; texts are not stored here.

    `names` holds the words of title, URL and headings as they are written, `signed` the terms that
    must keep their signs, and `subject`, on the first passage of a document, what it is about in
    one piece. `places`, `kind` and `day` are what a search can be kept to: the collection and the
    folders of the document, what kind of file it is, and the day it is of (`date.toordinal`).
    """
    builder = tantivy.SchemaBuilder()
    for name in BOOSTS:
        builder.add_text_field(name, tokenizer_name="words")
    builder.add_text_field("names", tokenizer_name="names", index_option="freq")
    builder.add_text_field("signed", tokenizer_name="signed", index_option="freq")
    builder.add_text_field("subject", tokenizer_name="raw", index_option="basic")
    for name in ("places", "kind"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("document", indexed=True, fast=True)
    for name in ("start", "end"):
        builder.add_integer_field(name, fast=True)
    builder.add_integer_field("day", indexed=True)
    return builder.build()


@lru_cache(maxsize=1)
def word_analyzer() -> tantivy.TextAnalyzer:
    """Words without case and accents, reduced to their English stem."""
    only = tantivy.Filter
    filters = only.lowercase(), only.ascii_fold(), only.remove_long(60), only.stemmer("english")
    return _analyzer(tantivy.Tokenizer.simple(), *filters)


@lru_cache(maxsize=1)
def name_analyzer() -> tantivy.TextAnalyzer:
    """Names as they are written, without case."""
    return _analyzer(tantivy.Tokenizer.regex(_NAME), tantivy.Filter.lowercase())


def _analyzer(tokenizer: tantivy.Tokenizer, *filters: tantivy.Filter) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tokenizer)
    for each in filters:
        builder = builder.filter(each)
    return builder.build()


@contextmanager
def no_panic() -> Iterator[None]:
    """Raises ValueError where reading a damaged index panics, which is no Exception."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # it can be imported from nowhere
            raise ValueError("the index is damaged") from error
        raise


def open_index(folder: Path) -> tantivy.Index:
    """The index in `folder`, created when there is none. Raises ValueError when it is damaged."""
    with no_panic():
        index = tantivy.Index(schema(), path=str(folder))
    index.register_tokenizer("words", word_analyzer())
    index.register_tokenizer("names", name_analyzer())
    signed = _analyzer(tantivy.Tokenizer.whitespace(), tantivy.Filter.lowercase())
    index.register_tokenizer("signed", signed)
    return index


def open_writer(index: tantivy.Index, heap_bytes: int) -> tantivy.IndexWriter:
    """The one writer of an index.

    A writer numbers its operations from the last commit's own number, and a merge that starts
    before its first commit takes a removal of that very number for one that the commit has done,
    and loses it (tantivy 0.27). So the first number goes to a removal of nothing.
    """
    writer = index.writer(heap_bytes, 1)
    writer.delete_documents_by_term("document", 0)  # documents are numbered from 1
    return writer


def space_signs(text: str) -> str:
    """Text with spaces around every sign of a script that has none between words."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def spread(text: str) -> str:
    """Text with the words inside its names apart too: AsyncClient is found as "async client"."""
    apart = _CAMEL.sub(r" \g<0>", text)
    return space_signs(text if apart == text else f"{text} {apart}")


def stems(text: str) -> set[str]:
    """The words of a text as `word_analyzer` has them, each once; faster for words seen before."""
    if not text.isascii():
        plain, odd = _split_ascii(text)
        return set(word_analyzer().analyze(space_signs(odd))) | stems(plain)
    return {stem for word in set(_WORD.findall(text.lower())) if (stem := _stem(word))}


class StemFinder:
    """Finds a few stems in many texts, looking only at words that begin like one of them."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = frozenset(wanted)
        self._words = [(stem, _beginning(stem)) for stem in self._wanted if stem.isascii()]

    def found(self, text: str) -> set[str]:
        """Those of the wanted stems that stand in a text: what `stems` gives, and is wanted."""
        if text.isascii():
            lower = text.lower()
            return {
                stem
                for stem, words in self._words
                if any(_stem(word) == stem for word in set(words.findall(lower)))
            }
        plain, odd = _split_ascii(text)
        return self.found(plain).union(
            self._wanted.intersection(word_analyzer().analyze(space_signs(odd)))
        )


def _split_ascii(text: str) -> tuple[str, str]:
    """The plain ASCII words of a text, and the few others, which take the slow way."""
    words = text.split()
    return " ".join(filter(str.isascii, words)), " ".join(itertools.filterfalse(str.isascii, words))


def _beginning(stem: str) -> re.Pattern[str]:
    """Words that may have a stem. Letters before the look behind are searched for first: fast."""
    letters = re.escape(stem[:1] if stem in _IRREGULAR else stem[: max(2, len(stem) - 1)])
    return re.compile(rf"{letters}(?<![a-z0-9]{letters})[a-z0-9]*")


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return "".join(word_analyzer().analyze(word))


@lru_cache(maxsize=10_000)
def subject(title: str) -> str:
    """What a document is about: the stems of its title, or of the title's part before a colon."""
    return " ".join(word_analyzer().analyze(space_signs(title.partition(": ")[0])))


def all_terms(text: str) -> list[str]:
    """The words of a text in their order, stemmed, also those inside names; then signed terms."""
    return [*word_analyzer().analyze(spread(text)), *signed_terms(text)]


def signed_terms(text: str) -> list[str]:
    """The terms of a text that must keep their signs, such as C++, in lower case."""
    found = _DOT_FIRST.findall(text)
    for pattern in _SIGNS_LAST:
        for sign in pattern.finditer(text):
            start = sign.start()
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            if start < sign.start():
                found.append(text[start : sign.end()])
    return [term.lower() for term in found]

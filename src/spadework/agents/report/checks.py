"""Check sentences against the pages they cite, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from keyword import kwlist

from spadework.tools.text.facts import (
    Figure,
    borne_out,
    figures,
    is_unit,
    months,
    names,
    numbers,
    spelled_numbers,
    stems,
)
from spadework.tools.text.language import language, language_of, spoken
from spadework.tools.text.markdown import plain
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.text.sentences import sentences
from spadework.tools.text.tokens import rather_a_name
from spadework.tools.web.urls import addresses
from spadework.values import Evidence, Sentence

_NAMES = re.compile(r"\b(?:[A-Z][^\W\d_]+(?: (?:of|and|the|for) | )){1,5}[A-Z][^\W\d_]+")
#: An ISO date. The group captures the month.
_ISO = re.compile(r"\b\d{4}-(0[1-9]|1[0-2])(?:-\d\d)?\b")
#: Numeric dates, with the year last (`_DATE`) or first (`_YEAR_FIRST`).
_DATE = re.compile(r"\b(\d{1,2})([./])(\d{1,2})\2(\d{4})\b")
_YEAR_FIRST = re.compile(r"\b(\d{4})([./])(\d{2})\2(\d{2})\b")
#: Numbers with grouped thousands, and afternoon times on the 24-hour clock.
_GROUPED = re.compile(r"(?<![\w.,'’])\d{1,3}(?:['’ \u00a0\u202f]\d{3})+(?!\d)")
_AFTERNOON = re.compile(r"\b(1[3-9]|2[0-3]):[0-5]\d\b")
#: A version number after a "v".
_MARKED_VERSION = re.compile(r"\b[vV](\d+(?:\.\d+)+)")
#: The first two parts of a longer version number.
_VERSION = re.compile(r"\b(\d+\.\d+)(?=\.\d)")
_SPACE = re.compile(r"\s+")
_MARKED = re.compile(r"[`*]")
#: The shell prompt before a command.
_PROMPT = re.compile(r"(?<!\S)\$ +(?=\S)")
_CODE_WORD = re.compile(r"[^\W\d]\w*")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


class Known:
    """A text, with cached values derived from it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems: dict[str, frozenset[str]] = {}

    @cached_property
    def code(self) -> str:
        """The text's language code."""
        return spoken(self.text)

    @cached_property
    def lower(self) -> str:
        """The text in lowercase."""
        return self.text.lower()

    @cached_property
    def bare(self) -> str:
        """The text without whitespace, backslashes and shell prompts."""
        return bare(self.text)

    @cached_property
    def unmarked(self) -> str:
        """The text without whitespace, backslashes, shell prompts, backticks and asterisks."""
        return strip_marks(self.text)

    @cached_property
    def addresses(self) -> set[str]:
        """The web and mail addresses in the text."""
        return addresses(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers and months in the text, in any notation. Version 3.2.17 also yields 3.2."""
        dates = {f"m{int(month)}" for month in _ISO.findall(self.text)}
        series = {match[1] for match in _VERSION.finditer(self.text)}
        versions = {match[1] for match in _MARKED_VERSION.finditer(self.text)}
        grouped = {re.sub(r"\D", "", match[0]) for match in _GROUPED.finditer(self.text)}
        afternoon = {str(int(hour) - 12) for hour in _AFTERNOON.findall(self.text)}
        known = frozenset(months(self.text, self.code)) | dates | series | versions
        found = (
            numbers(self.text, self.code),
            spelled_numbers(self.text, self.code),
            _dates_in_figures(self.text),
        )
        return known.union(grouped, afternoon, *found)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures in the text, with their scales and units."""
        return figures(self.text, self.code)

    @cached_property
    def initials(self) -> frozenset[str]:
        """The initials of multi-word names ("UK" for "United Kingdom")."""
        found = _NAMES.findall(self.text)
        return frozenset("".join(re.findall(r"\b[A-Z]", name)) for name in found)

    @cached_property
    def words(self) -> frozenset[str]:
        """Possible code identifiers, and command options such as `--all`."""
        return frozenset(_CODE_WORD.findall(self.text)) | frozenset(_OPTION.findall(self.text))

    def stems(self, code: str) -> frozenset[str]:
        """Return the text's word stems in the language `code`."""
        if code not in self._stems:
            self._stems[code] = frozenset(stems(self.text, code))
        return self._stems[code]


def spelled_out(text: str, there: Sequence[Known]) -> set[str]:
    """Return the lowercase words of names in `text` that `there` abbreviates (such as "UK")."""
    found = set()
    for name in _NAMES.findall(text):
        short = r"\.?".join(re.findall(r"\b[A-Z]", name))
        if any(re.search(rf"\b{short}\b", known.text) for known in there):
            found |= {word.lower() for word in re.findall(r"\w+", name)}
    return found


def _dates_in_figures(text: str) -> set[str]:
    """Return the days, months and years of numeric dates. 05/12/2024 gives both possible months."""
    found: set[str] = set()
    for first, sign, second, year in _DATE.findall(text):
        found |= {str(int(first)), str(int(second)), year}
        found |= {f"m{int(n)}" for n in ((second,) if sign == "." else (first, second))}
    for year, _, month, day in _YEAR_FIRST.findall(text):
        found |= {year, f"m{int(month)}", str(int(day))}
    return found


def strip_marks(text: str) -> str:
    """Remove all whitespace, backslashes, shell prompts, backticks and asterisks."""
    return _MARKED.sub("", bare(text))


def bare(text: str) -> str:
    """Remove all whitespace, backslashes and shell prompts."""
    return _SPACE.sub("", _PROMPT.sub("", text)).replace("\\", "")


#: Number words up to this value are not checked, because they may count items in the report.
COUNTED = 12

_CODE = re.compile(r"`([^`\n]+)`")
#: An ellipsis inside inline code.
_LEFT_OUT = re.compile(r"\s*(?:\.\.\.|…)\s*")
#: A proper name. Relations such as "mother" are checked only near a name.
_NAME = re.compile(r"[A-Z][^\W\d_A-Z]+")
_WORD = re.compile(r"[^\W_][\w-]+")
_INSIDE = re.compile(r"(?<=\w)[^\W_a-zß-öø-ÿ]|[A-Z].*\d")
#: Line comments and quoted strings in most languages.
_ASIDE = re.compile(r"(?:^|\s)(?:#|//|-- |;|/\*|<!--|%).*|\"[^\"\n]*\"|'[^'\n]*'", re.MULTILINE)
#: Patterns for the names that code uses: imports, first words of lines, attributes, calls and
#: options.
_TAKEN = re.compile(r"^\s*(?:from|import|use|using|require|include)\b(.*)", re.MULTILINE)
_BEGUN = re.compile(r"^\s*(?:\$\s+|@)?([A-Za-z_][\w-]*)(?=\s+[\w\"'$(\[{]|\s*$)", re.MULTILINE)
_REACHED = re.compile(r"\.([A-Za-z_]\w*)|\b([A-Za-z_]\w*)(?=\()")
_CHECKING_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
#: Patterns for the names that code defines, assigns to or takes as parameters.
_OWN = re.compile(
    r"\b(?:def|class|function|fn|func|let|const|var|as|for)\s+(\w+)|(\w+)\s*[-+*/|&]?=(?!=)"
)
_GIVEN = re.compile(r"\b(?:def|function|fn|func)\s*\w*\s*\(([^)]*)\)")
#: The maximum number of words between a name and a relation word such as "mother".
BESIDE = 3
#: In names of at most this many letters, a final s is not a plural ending.
LEAST_SINGULAR = 3
MOST_STRANGE = 5


def reason_to_refuse(
    sentence: Sentence,
    cited: Sequence[Evidence],
    pages: Sequence[Known],
    question: Known,
    code: str = "",
) -> str:
    """Return why a sentence must be removed, or "" if it may stay. A sentence must cite evidence.
    Its addresses and inline code must occur in the cited `pages` or the question. Inline code
    may also occur in `code`, the report's own code.
    """
    if not cited:
        return "It cites no evidence."
    if sentence.code:
        return _strange_code(sentence, pages, code)
    there = [*pages, about(cited), question]
    if foreign := addresses(plain(sentence.text)).difference(*(text.addresses for text in there)):
        return f"No source has the address {min(foreign)}."
    shown = [*there, Known(code)]
    for named in _CODE.findall(sentence.text):
        pieces = (part.strip().removesuffix("()") for part in _LEFT_OUT.split(named))
        parts = [strip_marks(part) for part in pieces]
        whole = any(all(part in text.unmarked for part in parts) for text in shown)
        if not whole and not _put_together(named, shown):
            return f"“{named}” is in none of its sources."
    return ""


def find_unfounded(
    sentence: Sentence, cited: Sequence[Evidence], there: Sequence[Known], home: str = ""
) -> str:
    """Return a note on the sentence's figures, dates and names that are not on the cited pages
    (`there`), or "" if there are none. `home` is the report's language.
    """
    if sentence.code:
        return ""
    found = strange(sentence.text, [*there, about(cited)], home)
    return f"{', '.join(found)}: in no page that is cited." if found else ""


def _put_together(named: str, shown: Sequence[Known]) -> bool:
    piece = Known(named)
    words = frozenset[str]().union(*(text.words for text in shown))
    figures = frozenset[str]().union(*(text.numbers for text in shown))
    return bool(piece.words) and piece.words <= words and numbers(named) <= figures


def strange(text: str, there: Sequence[Known], home: str = "") -> list[str]:
    """Return the figures, dates and names not found in `there`. `home` is the fallback language."""
    said = plain(text)
    own = language_of(said) or home or _spoken(there)
    return [*_strange_figures(said, own, there), *_strange_names(said, own, there)]


def keep_founded_heading(heading: str, there: Sequence[Known], home: str = "") -> str:
    """Return a heading on one line, or "" if it looks like a prompt injection or the texts `there`
    do not support it. `home` is the fallback language.
    """
    line = " ".join(heading.split())
    words = line.split()
    # Lowercase the first word, or all words of a heading in title case, so that they are not taken
    # for names. Keep words with inner capitals.
    titled = sum(word[:1].isupper() for word in words[1:]) > len(words[1:]) / 2
    said = " ".join(
        w.lower() if w[1:] == w[1:].lower() and (titled or not n) else w
        for n, w in enumerate(words)
    )
    return "" if is_injection(line) or strange(said, there, home) else line


def note_doubts(sentence: Sentence, cited: Sequence[Evidence], home: str = "") -> str:
    """Return a note for the judging model on the sentence's figures, names or relations that are
    not in the quotes, or "" if there are none. `home` is the report's language code.
    """
    if sentence.code:
        return ""
    said = plain(sentence.text)
    quotes = [plain(e.quote) for e in cited]
    around = [*quotes, *(plain(f"{e.before} {e.after}") for e in cited)]
    near = [*map(Known, around), about(cited)]
    if found := strange(sentence.text, near, home):
        return f"{', '.join(found)}: not in the quotes."
    if unrelated := _find_unquoted_relation(said, near):
        return f"“{unrelated}” is what nobody is called in the quotes."
    return ""


def _find_unquoted_relation(said: str, near: Sequence[Known]) -> str:
    """Return a relation (such as "mother") that no quote states, or "" if there is none."""
    code = _spoken(near)
    sides = language(code).other_side
    there = frozenset[str]().union(*(text.stems(code) for text in near))
    words = re.findall(r"[\w’']+", said)
    found = {
        stem
        for n, word in enumerate(words)
        for stem in stems(word, code) & sides.keys()
        if words[n + 1 : n + 2] == [language(code).of]
        or any(map(_NAME.match, [*words[max(0, n - BESIDE) : n], *words[n + 1 : n + 1 + BESIDE]]))
    }
    return min((stem for stem in found if not {stem, *sides[stem]} & there), default="")


def about(cited: Sequence[Evidence]) -> Known:
    """Combine the metadata and claims of evidence into one text, with dates in several forms."""
    dates = sorted({e.published_at for e in cited if e.published_at})
    told = [
        *dict.fromkeys(f"{e.title}\n{e.heading}\n{e.author}\n{e.url}\n{e.claim}" for e in cited),
        *(f"{date:%Y-%m-%d} {date.day} {date:%B} {date.year}" for date in dates),
    ]
    return Known("\n".join(told))


def _spoken(texts: Sequence[Known]) -> str:
    return spoken(*(text.text for text in texts))


def _strange_figures(said: str, own: str, there: Sequence[Known]) -> list[str]:
    stated = frozenset[str]().union(*(text.numbers for text in there))
    found = [
        figure.text
        for figure in figures(said, own)
        if not (figure.text[-1].isalpha() and figure.readings[0].value <= COUNTED)
        and not numbers(figure.text, own) & stated
        and not any(borne_out(figure, text.figures) for text in there)
    ]
    named = {f"m{number}": name.title() for name, number in [*language(own).months.items()][::-1]}
    new = [named.get(month, month) for month in sorted(months(said, own) - stated)]
    # Also look for the month's name in the source texts, because "May" without a number is not read
    # as a month there.
    return [*found, *(name for name in new if not any(name in text.words for text in there))]


def _strange_names(said: str, own: str, there: Sequence[Known]) -> list[str]:
    pages = _spoken(there)
    surely = own == pages and not language(own).nouns_in_capitals
    found = names(said) | _opening_words(said, own) if surely else _marked_words(said)
    # Do not check months and units as names, because they are checked together with numbers.
    checked = {part for name in found for part in name.split("-") if part}
    checked -= spelled_out(said, there)
    ordinary = language(own).months.keys() | language(pages).months.keys()
    return [
        name
        for name in sorted(checked - ordinary)
        if not is_unit(name)
        and not any(
            _singular(name) in text.lower
            or _singular(name) in text.lower.replace("-", "")
            or name.upper() in text.initials
            for text in there
        )
        and not any(stems(name, pages) <= text.stems(pages) for text in there)
    ]


def _singular(name: str) -> str:
    return name.removesuffix("s") if len(name) > LEAST_SINGULAR else name


def _opening_words(said: str, code: str) -> set[str]:
    """Return, in lowercase, the first words of sentences that might be names. Ignore words followed
    by a comma or colon ("Meanwhile,"), which are rarely names.
    """
    known = language(code)
    ordinary = known.stop | known.starters | known.leans
    found = (_WORD.search(said, *span) for span in sentences(said, code))
    first = {
        match.group()
        for match in found
        if match
        and match.group()[0].isupper()
        and said[match.end() : match.end() + 1] not in (*",:",)
    }
    return {
        word.lower()
        for word in first
        if word.lower() not in ordinary and rather_a_name(word.partition("-")[0])
    }


def _marked_words(said: str) -> set[str]:
    parts = {part for word in _WORD.findall(said) for part in word.split("-")}
    return {part.lower() for part in parts if _INSIDE.search(part)}


def _strange_code(sentence: Sentence, pages: Sequence[Known], beside: str) -> str:
    if any(bare(sentence.text) in text.bare for text in pages):
        return ""
    if not sentence.inferred:
        return "This code is in none of its sources."
    known = frozenset(kwlist).union(*(text.words for text in pages))
    code = _ASIDE.sub(" ", sentence.text)
    told = [*_TAKEN.findall(code), *_BEGUN.findall(code), *chain(*_REACHED.findall(code))]
    used = [*re.findall(r"\w+", " ".join(told)), *_CHECKING_OPTION.findall(code)]
    own = {
        *chain(*_OWN.findall(f"{beside}\n{code}")),
        *re.findall(r"\w+", " ".join(_GIVEN.findall(code))),
    }
    strange = [f"“{word}”" for word in dict.fromkeys(used) if word not in known | own]
    named = ", ".join(strange[:MOST_STRANGE])
    return f"No source has {named}, which the code uses." if strange else ""

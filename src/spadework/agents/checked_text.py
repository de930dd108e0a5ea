"""A text that sentences are checked against, and what code has to know of it, found once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import months, numbers, spelled_numbers, stems
from spadework.tools.text.quantities import Figure, figures
from spadework.tools.web.urls import addresses

_NAMES = re.compile(r"\b(?:[A-Z][^\W\d_]+(?: (?:of|and|the|for) | )){1,5}[A-Z][^\W\d_]+")
#: A date as machines write it, with its month.
_ISO = re.compile(r"\b\d{4}-(0[1-9]|1[0-2])(?:-\d\d)?\b")
#: Dates in figures.
_DATE = re.compile(r"\b(\d{1,2})([./])(\d{1,2})\2(\d{4})\b")
_YEAR_FIRST = re.compile(r"\b(\d{4})([./])(\d{2})\2(\d{2})\b")
#: Thousands set apart by signs that not every language uses, and hours after noon.
_GROUPED = re.compile(r"(?<![\w.,'’])\d{1,3}(?:['’ \u00a0\u202f]\d{3})+(?!\d)")
_AFTERNOON = re.compile(r"\b(1[3-9]|2[0-3]):[0-5]\d\b")
#: A version that is marked as one.
_MARKED_VERSION = re.compile(r"\b[vV](\d+(?:\.\d+)+)")
#: A version, and the series that it is of.
_VERSION = re.compile(r"\b(\d+\.\d+)(?=\.\d)")
_SPACE = re.compile(r"\s+")
_MARKED = re.compile(r"[`*]")
#: What stands before a command that is typed.
_PROMPT = re.compile(r"(?<!\S)\$ +(?=\S)")
_CODE_WORD = re.compile(r"[^\W\d]\w*")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


class Known:
    """A text; all that is found in it is kept as long as it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems: dict[str, frozenset[str]] = {}

    @cached_property
    def code(self) -> str:
        """The code of its language."""
        return spoken(self.text)

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @cached_property
    def bare(self) -> str:
        """The text as `bare` gives it."""
        return bare(self.text)

    @cached_property
    def unmarked(self) -> str:
        """The text as `unmarked` gives it."""
        return strip_marks(self.text)

    @cached_property
    def addresses(self) -> set[str]:
        """Its web and mail addresses."""
        return addresses(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers and months, in digits, in words and in dates; of 3.2.17 also 3.2."""
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
        """Its figures with their scales and units."""
        return figures(self.text, self.code)

    @cached_property
    def initials(self) -> frozenset[str]:
        """The initials of its names of several words ("United Kingdom")."""
        found = _NAMES.findall(self.text)
        return frozenset("".join(re.findall(r"\b[A-Z]", name)) for name in found)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words as code has them, and its options (`--all`)."""
        return frozenset(_CODE_WORD.findall(self.text)) | frozenset(_OPTION.findall(self.text))

    def stems(self, code: str) -> frozenset[str]:
        """The stems of its words, read in a language."""
        if code not in self._stems:
            self._stems[code] = frozenset(stems(self.text, code))
        return self._stems[code]


def spelled_out(text: str, there: Sequence[Known]) -> set[str]:
    """The words of the names of a text that others write with their initials, lower-case."""
    found = set()
    for name in _NAMES.findall(text):
        short = r"\.?".join(re.findall(r"\b[A-Z]", name))
        if any(re.search(rf"\b{short}\b", known.text) for known in there):
            found |= {word.lower() for word in re.findall(r"\w+", name)}
    return found


def _dates_in_figures(text: str) -> set[str]:
    """The days, months and years of dates in figures: 12.05.2024 has May, 05/12/2024 also December,
    since the parts of the world order it differently.
    """
    found: set[str] = set()
    for first, sign, second, year in _DATE.findall(text):
        found |= {str(int(first)), str(int(second)), year}
        found |= {f"m{int(n)}" for n in ((second,) if sign == "." else (first, second))}
    for year, _, month, day in _YEAR_FIRST.findall(text):
        found |= {year, f"m{int(month)}", str(int(day))}
    return found


def strip_marks(text: str) -> str:
    """The same without the marks of code and emphasis, which may stand within a name of code:
    ``pg_dumpall `--globals-only` ``, `error(*message*)`.
    """
    return _MARKED.sub("", bare(text))


def bare(text: str) -> str:
    """A text without white space, the backslashes of Markdown and the prompts of a shell."""
    return _SPACE.sub("", _PROMPT.sub("", text)).replace("\\", "")

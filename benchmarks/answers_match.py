"""Whether a fact stands in a text: the matcher of `answers.py`.

A fact has alternatives; an alternative is a list of strings that must all stand in one block of
the text (a paragraph, an item of a list, a row, a block of code). Case, white space and Markdown's
marks do not count. A string stands at the beginning of a word, and one that ends in a digit is not
followed by another. A string that begins with `re:` is a regular expression over such a block.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from spadework.tools.text.sentences import sentences

FIRST_SENTENCES = 3
#: Sections of a report that tell of the run, not of the question.
ABOUT_THE_RUN = (
    *("topics", "about this report", "not found", "limits", "disagreements", "problems"),
    *("sources", "open", "asked and not answered"),
)
_LINK = re.compile(r"\]\([^)]*\)")
_MARKS = re.compile(r"[*_`\\\[\]]")
_CITED = re.compile(r"(?<!\\)\[\d+\](?!\()")
_BETWEEN = re.compile(r"\n\s*\n|\n(?=\s*[-*|]\s|\s*\d+\.\s|\|)")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_LISTED = re.compile(r"\s*(?:[-*+|]\s|\d+[.)]\s)")
_APART = re.compile(
    r"(^```.*?^```\s*$)|\n\s*\n|(?<=[^\n])\n(?=\s*(?:[-*+|]\s|\d+[.)]\s))", re.MULTILINE | re.DOTALL
)
_SIGNS = str.maketrans({"’": "'", "–": "-", "—": "-", "‐": "-", "‑": "-", "“": '"', "”": '"'})


def body(report: str, about: Sequence[str] = ABOUT_THE_RUN) -> str:
    """A report without its headings and without the sections that tell of the run, those with a
    heading of `about`.
    """
    kept, inside = [], True
    for line in _CITED.sub("", report).split("\n"):
        if line.startswith("#") and (level := re.match(r"#{1,4} (.+)", line)):
            if not line.startswith("###"):
                inside = level.group(1).strip().lower() not in about
        elif inside:
            kept.append(line)
    return "\n".join(kept).strip()


def blocks(text: str) -> list[str]:
    """The blocks of a Markdown text as they are compared; a fenced one is one, and each line of it
    too.
    """
    found: list[str] = []

    def fenced(match: re.Match[str]) -> str:
        found.append(_normal(match.group(2)))
        return "\n\n"

    rest = _FENCE.sub(fenced, text)
    return [*found, *(made for part in _BETWEEN.split(rest) if (made := _normal(part)))]


def met(fact: Mapping[str, Any], found: Sequence[str]) -> bool:
    """Whether a fact stands in one of the blocks."""
    return any(
        all(_pattern(part).search(block) for part in alternative)
        for alternative in fact["any"]
        for block in found
    )


def opening(text: str, of_rows: bool = False) -> str:
    """The first three sentences of a body. A list or block of code counts as one, and so does a row
    of a table below its head, or the whole table where the answer is `of_rows`.
    """
    kept: list[str] = []
    for unit in _units(text):
        if unit.startswith("|") and not of_rows:
            kept += [line for line in unit.split("\n") if not re.fullmatch(r"[|\s:-]+", line)][1:]
        elif unit.startswith("```") or _LISTED.match(unit):
            kept.append(unit)
        else:
            kept += [unit[begin:end] for begin, end in sentences(unit)]
    return "\n\n".join(kept[:FIRST_SENTENCES])


def _units(text: str) -> list[str]:
    """The paragraphs, lists, tables and blocks of code of a text, without the marks of quotation.

    A list whose items stand apart is one, and a list below a line of prose is another unit.
    """
    plain = re.sub(r"^(?:> ?)+", "", text, flags=re.MULTILINE)
    units: list[str] = []
    for part in _APART.split(plain):
        unit = (part or "").strip()
        listed = units and _LISTED.match(unit) and _LISTED.match(units[-1])
        if listed and unit.startswith("|") == units[-1].startswith("|"):
            units[-1] += "\n" + unit
        elif unit:
            units.append(unit)
    return units


def in_order(facts: Sequence[Mapping[str, Any]], text: str) -> bool:
    """Whether all facts stand in the text, one after the other."""
    whole, at = _normal(text), 0
    for fact in facts:
        parts = [_pattern(alternative[0]) for alternative in fact["any"]]
        ends = [match.end() for part in parts if (match := part.search(whole, at))]
        if not ends:
            return False
        at = min(ends)
    return True


def _normal(text: str) -> str:
    text = unicodedata.normalize("NFKC", _MARKS.sub("", _LINK.sub("", text)))
    return " ".join(text.lower().translate(_SIGNS).split())


@lru_cache(maxsize=10_000)
def _pattern(part: str) -> re.Pattern[str]:
    if part.startswith("re:"):
        return re.compile(part.removeprefix("re:"))
    wanted = _normal(part) or _normal(f" {part}")
    spaced = wanted[0].isascii() and wanted[0].isalnum()
    before = r"(?<![A-Za-z0-9_])" if spaced else r"(?<!\w)" if _of_letters(wanted[0]) else ""
    after = r"(?!\d|[.,]\d)" if wanted[-1].isdigit() else ""
    return re.compile(before + re.escape(wanted) + after)


def _of_letters(char: str) -> bool:
    """Whether a character is of a script whose words stand between spaces."""
    return char.isalpha() and not "\u2e80" <= char <= "\U0010ffff"

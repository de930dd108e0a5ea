"""Whether a fact stands in a text: the matcher of `answers.py`.

A fact has alternatives; an alternative is a list of strings that must all stand in one block of
the text (a paragraph, an item of a list, a row, a block of code). Case, white space and Markdown's
marks do not count. A string stands at the beginning of a word, and one that ends in a digit is not
followed by another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

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
_SIGNS = str.maketrans({"’": "'", "–": "-", "—": "-", "‐": "-", "‑": "-", "“": '"', "”": '"'})


def body(report: str) -> str:
    """A report without its headings and without the sections that tell of the run."""
    kept, inside = [], True
    for line in _CITED.sub("", report).split("\n"):
        if line.startswith("#") and (level := re.match(r"#{1,4} (.+)", line)):
            if not line.startswith("###"):
                inside = level.group(1).strip().lower() not in ABOUT_THE_RUN
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


def _normal(text: str) -> str:
    text = unicodedata.normalize("NFKC", _MARKS.sub("", _LINK.sub("", text)))
    return " ".join(text.lower().translate(_SIGNS).split())


@lru_cache(maxsize=10_000)
def _pattern(part: str) -> re.Pattern[str]:
    wanted = _normal(part) or _normal(f" {part}")
    spaced = wanted[0].isascii() and wanted[0].isalnum()
    before = r"(?<![A-Za-z0-9_])" if spaced else r"(?<!\w)" if _of_letters(wanted[0]) else ""
    after = r"(?!\d|[.,]\d)" if wanted[-1].isdigit() else ""
    return re.compile(before + re.escape(wanted) + after)


def _of_letters(char: str) -> bool:
    """Whether a character is of a script whose words stand between spaces."""
    return char.isalpha() and not "\u2e80" <= char <= "\U0010ffff"

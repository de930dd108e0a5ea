"""What a page is about, told by its collection or site and by its title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spadework.tools.facts import stems
from spadework.tools.urls import domain_of
from spadework.values import Page

_VERSION = re.compile(r"-v?\d[\w.]*$")
_PARTS = re.compile(r"\s[-–—|]\s|:\s")
#: What titles hold beside what the page is about: numbers of chapters and versions, sections of
#: manuals, kinds of documents.
_BESIDE = re.compile(
    r"^\s*[\d.]+\s|\(\d\w?\)|\bv?\d+(?:\.\d+)+\b|"
    r"\b(?:documentation|docs?|manual(?: page)?|reference|guide|tutorial|introduction(?: to)?|home"
    r" ?page|readme|index)\b",
    re.IGNORECASE,
)


def heads(page: Page) -> Iterator[set[str]]:
    """The stems of each name that a page bears: its collection or site, and the parts of its
    title.
    """
    for name in [_VERSION.sub("", domain_of(page.url)), *_PARTS.split(page.title)]:
        if words := stems(_BESIDE.sub(" ", name).replace("-", " ").replace("_", " ")):
            yield words


def is_about(page: Page, subjects: Sequence[set[str]]) -> bool:
    """Whether one of the names of a page is one of the subjects, each given by its stems."""
    spread = [
        {part for word in words for part in re.split(r"[-_]", word) if part} for words in subjects
    ]
    return any(words in spread for words in heads(page))


def home(page: Page) -> set[str]:
    """The stems of the words in the name of a page's collection or site."""
    return stems(re.sub(r"[.-]", " ", _VERSION.sub("", domain_of(page.url))))

"""Generate example questions from a document's headings and keep those it answers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.judge import judge_passages
from spadework.tools.text.language import language_of
from spadework.tools.text.passages import cut, headings
from spadework.values import Page

#: Maximum characters examined of a document, and of each passage.
MOST_CHARS, PASSAGE_CHARS = 20_000, 1_500
MOST_HEADINGS = 6

_NAME = re.compile(r"[^\W\d_][\w.+#-]*(?: [\w.+#-]+){0,3}")
_NUMBER = re.compile(r"^(?:(?:chapter|appendix|part) )?(?:\d+|[A-Z])(?:\.\d+)*\.\s+", re.IGNORECASE)
_HOW = re.compile(r"how to (\w.+)", re.IGNORECASE)
#: Code blocks or numbered steps, which a how-to answer needs.
_STEPS = re.compile(r"^(?:```|\d+\. )", re.MULTILINE)


def questions(documents: Sequence[tuple[Page, str]], most: int, *, seconds: float) -> list[str]:
    """Return at most `most` questions that the documents answer, taking them from each in turn.
    Stop after `seconds`.
    """
    until, made = time.monotonic() + seconds, dict[str, None]()
    left = [_of(page, text[:MOST_CHARS]) for page, text in documents]
    while left and len(made) < most:
        for each in [*left]:
            question = next(each, "")
            if question:
                made[question] = None
            else:
                left.remove(each)
            if len(made) == most or time.monotonic() > until:
                return list(made)
    return list(made)


def _of(page: Page, text: str) -> Iterator[str]:
    if language_of(text) != "en":
        return
    shown = [PassageView(page, a, text[a:b], score=1.0) for a, b in cut(text, PASSAGE_CHARS)]
    for question in dict.fromkeys(_try_questions(page.title, text)):
        if judge_passages(question, shown).proven:
            yield question


def _try_questions(title: str, text: str) -> Iterator[str]:
    title = _bare(title)
    found = [_bare(heading) for _, _, heading in headings(text)][:MOST_HEADINGS]
    tried = [(name, r"\b[^.\n]{0,40}") for name in (title, *found[:1])]
    tried += [(name, "") for name in _beginnings(title)]
    for name, between in tried:
        # The document must define the name.
        if _NAME.fullmatch(name) and re.search(
            rf"^(?:The |An? )?{re.escape(name)}{between} is (?:an?|the) ", text, re.M | re.I
        ):
            yield f"What is {re.sub('^The ', 'the ', name)}?"
    for heading in found:
        if (how := _HOW.fullmatch(heading.rstrip("?"))) and _STEPS.search(text):
            yield f"How do I {how[1]}?"
        elif heading.endswith("?"):
            yield heading


def _beginnings(title: str) -> Iterator[str]:
    """Yield the possible subjects of a title, longest first: *Heron* for *Heron architecture*."""
    words = title.removeprefix("The ").split()
    yield from (" ".join(words[:n]) for n in range(len(words) - 1, 0, -1))


def _bare(heading: str) -> str:
    return _NUMBER.sub("", " ".join(heading.split()))

"""What a sentence names as the value of something: founder, licence, language, and so on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from spadework.tools.text.facts import stem, stems

_NAME = r"[A-ZÀ-Þ][\w.+#’'-]*(?:[ ,]+(?:(?:and|of|de|van|von|the) )*[A-ZÀ-Þ0-9][\w.+#’'-]*)*"
_DEEDS = (
    "founded|invented|designed|written|developed|created|discovered|directed|painted|composed|built|led|owned|acquired|bought|published|"
    "maintained|produced|sponsored|ruled|proved"
)
_TRAITS = (
    "licen[cs]e|capital|currency|founder|inventor|author|director|owner|ceo|mayor|president|king|queen|maintainer|publisher|"
    "headquarters|default|language|successor|predecessor|winner|maker"
)
_DONE = re.compile(rf"\b(?P<what>{_DEEDS}) (?P<how>by|in) (?:the )?(?P<value>{_NAME})")
_IS = re.compile(
    rf"\b(?P<what>{_TRAITS})(?: of (?P<of>[^,.;:]{{1,50}}?))? (?:is|was|are|were) (?:now )?(?:the"
    rf" |an? )?(?P<value>{_NAME})"
)
_LICENSED = re.compile(
    r"\b(?:licen[cs]ed|released|published|available|distributed) under (?:the )?(?:terms of the"
    rf" )?(?P<value>{_NAME})"
)
#: Characters of a sentence that are looked at, and of those before a relation, which name its
#: subject.
MOST_CHARS, SUBJECT_CHARS = 2_000, 300
#: What stands beside the name of a licence.
_GENERIC = frozenset({"license", "licence", "the", "and", "of"})


@dataclass(frozen=True)
class Relation:
    """Names `value` for `what` of a subject; `subject` are its stems, none for a pronoun."""

    what: str
    subject: frozenset[str]
    value: frozenset[str]


@lru_cache(maxsize=2_000)
def relations(sentence: str) -> tuple[Relation, ...]:
    """Return the relations that a plain sentence states."""
    sentence, found = sentence[:MOST_CHARS], []
    for match in _LICENSED.finditer(sentence):
        found.append(_make_relation("licens", sentence[: match.start()], match["value"]))
    for match in _IS.finditer(sentence):
        what = "licens" if match["what"].startswith("licen") else stem(match["what"])
        before = f"{sentence[: match.start()]} {match['of'] or ''}"
        found.append(_make_relation(what, before, match["value"]))
    for match in _DONE.finditer(sentence):
        what = f"{stem(match['what'])} {match['how']}"
        found.append(_make_relation(what, sentence[: match.start()], match["value"]))
    return tuple(relation for relation in found if relation.value)


def differ(one: str, other: str, asked: frozenset[str] = frozenset()) -> bool:
    """Whether two sentences name different values of one thing, by a pronoun if it is asked for."""
    return any(
        a.what == b.what and not a.value & b.value and _same_subject(a, b, asked)
        for a in relations(one)
        for b in relations(other)
    )


def _same_subject(a: Relation, b: Relation, asked: frozenset[str]) -> bool:
    if a.subject and b.subject:
        return 2 * len(a.subject & b.subject) >= min(len(a.subject), len(b.subject))
    return a.subject == b.subject or a.what.split()[0] in asked


def _make_relation(what: str, before: str, value: str) -> Relation:
    words = frozenset(word.strip(".,'’-").lower() for word in re.split(r"[ ,]+", value))
    return Relation(what, frozenset(stems(before[-SUBJECT_CHARS:])), words - _GENERIC - {""})

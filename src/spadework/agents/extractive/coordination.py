"""Coordinated things in a question: "symptoms, causes and treatments of gout"."""

from __future__ import annotations

import re
from typing import NamedTuple

from spadework.tools.text.language import Language

#: Maximum words of a thing in a list; more is a clause.
MOST_WORDS = 6
#: Maximum words of an aspect ("side effects of aspirin").
MOST_OF_ASPECT = 3
#: Minimum things of a list with commas: "nets, and say which is better" is not a list.
LEAST_LISTED = 3
_COMMA = re.compile(r"\s*,\s*")
#: "Vor- und Nachteile": a suspended compound continues after the next "and".
_SUSPENDED = re.compile(r"\w-$")


class Shared(NamedTuple):
    """What is asked of several things ("price"), the first of them, and the last."""

    what: str
    first: str
    last: str


def split_joined(text: str, spoken: Language) -> tuple[str, ...]:
    """Return the things joined by "and"; two halves of a compound are one."""
    made, start = list[str](), 0
    for found in spoken.joint.finditer(text):
        if not _SUSPENDED.search(text[start : found.start()]):
            made.append(text[start : found.start()].strip(" ,"))
            start = found.end()
    return (*made, text[start:].strip(" ,"))


def listed(text: str, spoken: Language) -> tuple[str, ...]:
    """Return the things of a list with commas and a final "and", or ()."""
    *first, last = _COMMA.split(text.strip(" ,"))
    joint = spoken.joint.match(f" {last}")  # "salt, sand, and silt"
    joined = (f" {last}"[joint.end() :],) if joint else split_joined(last, spoken)
    items = (*first, *joined)
    whole = len(items) >= LEAST_LISTED and (joint or len(joined) > 1)
    return items if whole and all(is_nominal(item, spoken) for item in items) else ()


def is_nominal(text: str, spoken: Language) -> bool:
    """Return whether a text may name one thing: short, and not starting with a function word."""
    words = without_article(text, spoken).split()
    if not 0 < len(words) <= MOST_WORDS:
        return False
    return words[0].casefold() not in spoken.stop or words[0].isupper()


def leading_nominal(text: str, spoken: Language) -> str:
    """Return the things at the beginning of a text, one or more."""
    kept = start = 0
    for found in (*re.finditer(rf"{spoken.joint.pattern}|\s*,\s*", text, re.IGNORECASE), None):
        end = found.start() if found else len(text)
        if not is_nominal(text[start:end], spoken):
            break
        kept, start = end, found.end() if found else end
    return text[:kept]


def without_article(text: str, spoken: Language) -> str:
    """Return a text without a leading article."""
    first, _, rest = text.strip().partition(" ")
    return rest.strip() if rest and first.casefold() in spoken.articles else text.strip()


def content_of(text: str, spoken: Language) -> str:
    """Return a text without leading function words."""
    words = text.split()
    while words and words[0].casefold() in spoken.stop:
        del words[0]
    return " ".join(words)


def aspects_of(text: str, spoken: Language) -> dict[str, str]:
    """Return the aspects asked about one thing, each with its search: "What are the causes and
    symptoms of gout?" gives `causes` with "causes of gout". Empty for fewer than two.
    """
    for found in spoken.belongs.finditer(text):
        before = text[: found.start()]
        words = re.finditer(r"\w+\s+", before)
        article = next((m for m in words if m[0].strip().casefold() in spoken.articles), None)
        said = before[article.end() :] if article else content_of(before, spoken)
        asks = before[: article.start()].casefold().split() if article else []
        if len([word for word in asks if word not in spoken.stop]) > 1:
            continue  # "… used in the diagnosis and treatment of" asks about what is used
        items = listed(said, spoken) or split_joined(said, spoken)
        if len(items) > 1 and all(_is_aspect(item, spoken) for item in items):
            of = text[found.start() :].strip(" ?.!")
            bare = [without_article(item, spoken) for item in items]
            return {item: f"{item} {of}" for item in bare}
    return {}


def _is_aspect(item: str, spoken: Language) -> bool:
    words = without_article(item, spoken).casefold().split()
    return 0 < len(words) <= MOST_OF_ASPECT and spoken.stop.isdisjoint(words)


def share_out(text: str, spoken: Language) -> Shared | None:
    """Return what is asked of each of several things, "the price of tea and coffee", or None; names
    may contain "of" too ("University of Oslo").
    """
    parts = spoken.belongs.split(text)
    if len(parts) != 2 or spoken.regarding.search(parts[0]):
        return None
    what = without_article(parts[0], spoken)
    named = what == parts[0] if spoken.nouns_in_capitals else what != what.casefold()
    joints = [
        found
        for found in spoken.joint.finditer(parts[1])
        if not _SUSPENDED.search(parts[1][: found.start()])
    ]
    if named or not joints or leading_nominal(parts[0], spoken) != parts[0]:
        return None
    return Shared(what, parts[1][: joints[0].start()], parts[1][joints[0].end() :])

"""Comparisons: "httpx and aiohttp for timeouts and retries" has two sides, each compared for
timeouts and retries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spadework.agents.extractive.coordination import (
    content_of,
    is_nominal,
    leading_nominal,
    listed,
    share_out,
    split_joined,
)
from spadework.tools.text.language import Language, language

#: Separators of sides, and of the criteria if the sides have commas.
_CUT = re.compile(r"[:;,?]|\s[-–—]\s")
_END = re.compile(r"[:;?]|\s[-–—]\s")


@dataclass(frozen=True)
class Compared:
    """The things compared, two or more, as named in the question; `by` are the criteria, "" if not
    given.
    """

    sides: tuple[str, ...]
    by: str = ""


def compared(text: str, code: str) -> Compared | None:
    """Return what a question compares, or None."""
    spoken, bare = language(code), text.strip(" ?.!")
    for pattern in spoken.sides:
        if found := pattern.search(bare):
            return _read(found, spoken)
    return None


def _read(found: re.Match[str], spoken: Language) -> Compared | None:
    """Return the comparison in a match: its last two groups are the sides; a third before them is
    the criteria.
    """
    count, text = len(found.groups()), found.string
    one, other = found[count - 1], found[count]
    by = [content_of(found[1], spoken)] if count > 2 else []
    joined = bool(spoken.joint.match(text[found.end(count - 1) :]))
    if joined and not by and (shared := share_out(text[found.start(1) : found.end(2)], spoken)):
        by, one, other = [shared.what], shared.first, shared.last
    other, tail = _end(other, one, spoken)
    by.append(tail or _tail(text[found.end() :], f"{one} {other}", spoken))
    sides = (*_first_sides(one, spoken, joined=joined), *_last_sides(other, spoken))
    return Compared(sides, " ".join(filter(None, by))) if all(sides) else None


def _first_sides(text: str, spoken: Language, *, joined: bool) -> tuple[str, ...]:
    """Return the sides before the last one; they may be a list only if "and" follows."""
    items = tuple(item for item in re.split(r"\s*,\s*", text) if item)
    if joined and not any(_CUT.search(i) or not is_nominal(i, spoken) for i in items):
        return items
    return (_CUT.split(text)[0].strip(),)


def _last_sides(text: str, spoken: Language) -> tuple[str, ...]:
    """Return the last side or sides: "Go, Zig and Swift"."""
    if items := listed(text, spoken):
        return items
    first = _CUT.split(text)[0].strip()
    items = split_joined(first, spoken)
    return items if all(is_nominal(item, spoken) for item in items) else (first,)


def _end(side: str, before: str, spoken: Language) -> tuple[str, str]:
    """Split the last side from the criteria after it."""
    for found in spoken.regarding.finditer(side):
        own, rest = side[: found.start()], side[found.start() :]
        if own and not _joins_within(rest, f"{before} {own}", spoken):
            tail = _tail(rest, f"{before} {own}", spoken)
            return (own.rstrip(" ,"), tail) if tail else (side, "")
    return side, ""


def _tail(text: str, before: str, spoken: Language) -> str:
    """Return the criteria if the text begins with them."""
    bare = text.lstrip(",")
    found = spoken.regarding.match(bare)
    if not found or _joins_within(text, before, spoken):
        return ""
    rest = _END.split(bare[found.end() :])[0]
    return leading_nominal(rest, spoken).strip(" ,")


def _joins_within(text: str, before: str, spoken: Language) -> bool:
    """Return whether a text's first word belongs to a side: another side has it too ("living in
    Oslo and working in Bergen"), or it is part of a name ("Death in Venice").
    """
    found = spoken.regarding.match(text.lstrip(","))
    word = found[0].strip() if found else ""
    beside = (*before.split()[-1:], *text.lstrip(",").strip().removeprefix(word).split()[:1])
    in_a_name = " " not in word and all(part[:1].isupper() for part in beside)
    again = re.search(rf"\b{re.escape(word)}\b", before, re.IGNORECASE)
    return bool(again) or (in_a_name and not spoken.nouns_in_capitals)

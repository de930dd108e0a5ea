"""Parse comparisons. "httpx and aiohttp for timeouts" compares two sides by one criterion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile

from spadework.tools.text.language import Language, language

#: The maximum number of words in the name of a compared item, and in an aspect such as "causes" in
#: "causes of gout". A longer text is treated as a clause.
MOST_WORDS, MOST_OF_ASPECT = 6, 3
#: A list separated by commas must have at least this many items, so "Nets, and say which is better"
#: is not a list.
LEAST_LISTED = 3
_COMMA = r"\s*,\s*"
#: Punctuation that ends the name of a compared item (`_CUT`) or the list of criteria (`_END`).
_CUT = re.compile(r"[:;,?]|\s[-–—]\s")
_END = re.compile(r"[:;?]|\s[-–—]\s")


@dataclass(frozen=True)
class Compared:
    """What a question compares, in its own words. `by` holds the criteria ("" if none)."""

    sides: tuple[str, ...]
    by: str = ""


def compared(text: str, code: str) -> Compared | None:
    """Return the comparison that a question asks for, or None."""
    spoken, bare = language(code), text.strip(" ?.!")
    for pattern in spoken.sides:
        if found := pattern.search(bare):
            return _read(found, spoken)
    return None


def aspects_of(text: str, spoken: Language) -> dict[str, str]:
    """Map each aspect named in a text to a search query, such as "causes" to "causes of gout".
    Return {} if the text names fewer than two aspects.
    """
    for found in spoken.belongs.finditer(text):
        words = text[: found.start()].split()
        first = next((n for n, w in enumerate(words) if w.casefold() in spoken.articles), 0)
        said = _content_of(words[first:], spoken)
        items = [without_article(item, spoken) for item in _joined(said, spoken)]
        if len(items) > 1 and all(_is_aspect(item.casefold().split(), spoken) for item in items):
            of = text[found.start() :].strip(" ?.!")
            return {item: f"{item} {of}" for item in items}
    return {}


def _content_of(words: Sequence[str], spoken: Language) -> str:
    return " ".join(dropwhile(lambda word: word.casefold() in spoken.stop, words))


def _is_aspect(words: Sequence[str], spoken: Language) -> bool:
    return 0 < len(words) <= MOST_OF_ASPECT and spoken.stop.isdisjoint(words)


def is_nominal(text: str, spoken: Language) -> bool:
    """Return whether a text can be the name of one thing, judging by its length and first word."""
    words = without_article(text, spoken).split()
    if not 0 < len(words) <= MOST_WORDS:
        return False
    return words[0].casefold() not in spoken.stop or words[0].isupper()


def without_article(text: str, spoken: Language) -> str:
    """Return a text without its leading article."""
    first, _, rest = text.strip().partition(" ")
    return rest.strip() if rest and first.casefold() in spoken.articles else text.strip()


def _joined(text: str, spoken: Language) -> list[str]:
    items = re.split(rf"{spoken.joint.pattern}|{_COMMA}", text, flags=re.IGNORECASE)
    last = spoken.joint.search(text, max(0, text.rfind(",")))
    if last and len(items) >= LEAST_LISTED:
        return [item.strip() for item in items]
    return [part.strip(" ,") for part in spoken.joint.split(text)]


def _read(found: re.Match[str], spoken: Language) -> Compared | None:
    count, text = len(found.groups()), found.string
    one, other, rest = found[count - 1], found[count], text[found.end() :]
    by = _content_of(found[1].split(), spoken) if count > 2 else ""
    joined = bool(spoken.joint.match(text[found.end(count - 1) :]))
    if joined and not by:
        by, one, other = _shared(text[found.start(1) : found.end(2)], spoken) or (by, one, other)
    other, criteria = _apart(other, one, spoken)
    criteria = criteria or _criteria(rest, spoken)
    sides = (*_first_sides(one, spoken, joined=joined), *_last_sides(other, spoken))
    return Compared(sides, " ".join(filter(None, (by, criteria)))) if all(sides) else None


def _shared(text: str, spoken: Language) -> tuple[str, str, str] | None:
    """Split "price of tea and milk" into "price", "tea" and "milk". Return None for a name, such as
    "Bank of Trinidad and Tobago", and for texts of any other form.
    """
    what, *things = spoken.belongs.split(text)
    joint = spoken.joint.search(things[0]) if len(things) == 1 else None
    bare = without_article(what, spoken)
    named = bare == what if spoken.nouns_in_capitals else bare != bare.casefold()
    if named or not joint:
        return None
    return bare, things[0][: joint.start()], things[0][joint.end() :]


def _first_sides(text: str, spoken: Language, *, joined: bool) -> list[str]:
    items = re.split(_COMMA, text.strip(" ,"))
    if not joined or not all(is_nominal(item, spoken) for item in items):
        items = [text]
    return [_CUT.split(item)[0].strip() for item in items]


def _last_sides(text: str, spoken: Language) -> list[str]:
    first = _CUT.split(text)[0].strip()
    listed, joined = _joined(text, spoken), _joined(first, spoken)
    items = listed if len(listed) >= LEAST_LISTED else joined
    return items if all(is_nominal(item, spoken) for item in items) else [first]


def _apart(side: str, before: str, spoken: Language) -> tuple[str, str]:
    """Split one side of a comparison from its criteria ("" if none), given the previous side."""
    for found in spoken.regarding.finditer(side):
        own, rest = side[: found.start()], side[found.start() :]
        if own and found[0].strip() not in before.split() and (by := _criteria(rest, spoken)):
            return own.rstrip(" ,"), by
    return side, ""


def _criteria(text: str, spoken: Language) -> str:
    found = spoken.regarding.match(text.lstrip(","))
    return _END.split(found.string[found.end() :])[0].strip(" ,") if found else ""

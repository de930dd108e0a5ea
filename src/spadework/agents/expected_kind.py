"""Whether quotes are of the kind that answers a topic: where code can check, no word is enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import months, names, numbers, spelled_numbers, stems
from spadework.values import Evidence, Expected, Topic

#: Entries that make steps or a list, and the commas of a sentence that lists things.
LEAST_STEPS, LEAST_ITEMS, LEAST_COMMAS = 2, 2, 1
#: Entries that make a table where none of them is a row, and the sides of a comparison.
LEAST_ROWS, SIDES = 3, 2
_YEAR = re.compile(r"(?<!\d)(?:1\d|20|21)\d\d(?!\d)|\d\d?[./-]\d\d?[./-]\d\d")
_LISTED = re.compile(r"[,;、，]|\s(?:and|or|und|oder|et|ou|y|o|и|или)\s")


def meets(topic: Topic, known: Sequence[Evidence]) -> bool:
    """Whether the quotes of a topic hold what it expects, as far as code can see."""
    check = _CHECKS.get(topic.expects)
    return check is None or check(topic, [e for e in known if e.kind != "columns"])


def _number(topic: Topic, known: Sequence[Evidence]) -> bool:
    asked = numbers(topic.question, spoken(topic.question))
    for quote in (e.quote for e in known):
        code = spoken(quote)
        if (numbers(quote, code) | spelled_numbers(quote, code)) - asked:
            return True
    return _items(topic, known)


def _date(topic: Topic, known: Sequence[Evidence]) -> bool:
    return any(_YEAR.search(e.quote) or months(e.quote, spoken(e.quote)) for e in known)


def _name(topic: Topic, known: Sequence[Evidence]) -> bool:
    asked = names(f"- {topic.question}")
    return any(_without_capitals(e.quote) or names(f"- {e.quote}") - asked for e in known)


def _without_capitals(text: str) -> bool:
    """Whether a text has letters of a script without capitals, which shows no names."""
    return any(sign.isalpha() and sign.upper() == sign.lower() for sign in text)


def _definition(topic: Topic, known: Sequence[Evidence]) -> bool:
    code = spoken(topic.question)
    asked = stems(topic.question, code)
    return any(asked & stems(f"{e.quote} {e.heading} {e.title}", code) for e in known)


def _steps(topic: Topic, known: Sequence[Evidence]) -> bool:
    steps = sum(e.kind in ("item", "text") for e in known)
    return steps >= LEAST_STEPS or any(e.kind == "code" for e in known)


def _code(topic: Topic, known: Sequence[Evidence]) -> bool:
    return any(e.kind == "code" or "`" in e.quote for e in known)


def _items(topic: Topic, known: Sequence[Evidence]) -> bool:
    listed = sum(e.kind in ("item", "row", "cells") for e in known)
    return (
        listed >= LEAST_ITEMS
        or len({e.url for e in known}) >= LEAST_ITEMS
        or any(len(_LISTED.findall(e.quote)) > LEAST_COMMAS for e in known if e.kind == "text")
    )


def _rows(topic: Topic, known: Sequence[Evidence]) -> bool:
    """A table may be put together from what several pages say, each of one row."""
    return any(e.kind in ("row", "cells") for e in known) or len(known) >= LEAST_ROWS


def _both(topic: Topic, known: Sequence[Evidence]) -> bool:
    """Each of the two sides to cover is named in a quote, above it or in its page's title, by a
    word that the other lacks. In another language they may be called otherwise.
    """
    code = spoken(topic.question)
    if len(topic.must_cover) != SIDES or all(spoken(e.quote) != code for e in known):
        return True
    shown = [stems(f"{e.quote} {e.heading} {e.title} {e.claim}", code) for e in known]
    one, other = (stems(side, code) for side in topic.must_cover)
    apart = (one - other or one, other - one or other)
    return all(any(side & held for held in shown) for side in apart)


_CHECKS: dict[Expected, Callable[[Topic, Sequence[Evidence]], bool]] = {
    "number": _number,
    "date": _date,
    "name": _name,
    "definition": _definition,
    "steps": _steps,
    "code": _code,
    "items": _items,
    "rows": _rows,
    "both sides": _both,
}

"""Which documented names the code of other documents uses: examples build on what matters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_FENCE = re.compile(r"^[ \t]*```(?:python|py|pycon|python3)?\n(.*?)^[ \t]*```", re.M | re.S)
_IMPORT = re.compile(r"from +([\w.]+) +import +(?:\(([^)]*)\)|([^\n(]*))")
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_DEFINED = re.compile(r"^## (?:class |async )?([A-Za-z_]\w*(?:\.\w+)+)", re.M)


def used_names(markdown: str) -> frozenset[str]:
    """The dotted names that the Python code of a document uses or imports."""
    return frozenset(
        name
        for match in _FENCE.finditer(markdown)
        for name in _names(match[1].replace(">>> ", "").replace("... ", ""))
    )


def _names(code: str) -> Iterator[str]:
    yield from _DOTTED.findall(code)
    for module, several, names in _IMPORT.findall(code):
        yield from (
            f"{module}.{name.split()[0]}" for name in (several or names).split(",") if name.split()
        )


def defined_names(markdown: str) -> list[str]:
    """The dotted names that a document's headings of level 2 define."""
    return _DEFINED.findall(markdown)


def count_uses(
    documents: Iterable[tuple[int, Sequence[str], frozenset[str]]],
) -> Iterator[tuple[int, int]]:
    """(number of other documents that use its names, document), from its number, the names that it
    defines and those that its code uses.
    """
    users: Counter[str] = Counter()
    defining = []
    for number, defined, used in documents:
        users.update(used)
        defining += [(number, defined, used)] if defined else []
    for number, defined, used in defining:
        if count := sum(users[name] - (name in used) for name in defined):
            yield count, number

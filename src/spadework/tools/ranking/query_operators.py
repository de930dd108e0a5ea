"""Query operators `site:`, `path:`, `kind:`, `after:` and `before:`, each also negated with a
minus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from spadework.errors import SearchError
from spadework.tools.web.urls import addresses

#: An operator starts a word; its value follows directly, in quotes if it has spaces.
_OPERATOR = re.compile(
    r"(?<!\S)(-?)(site|path|kind|after|before):(?:\"([^\"]+)\"|([^\s\"]\S*))", re.I
)
#: Site operators of other engines, anywhere in a query.
_OTHERS = re.compile(r"\b(?:site|inurl):\S", re.I)
_DATE = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")


@dataclass(frozen=True)
class Only:
    """Filters of results: in one of the `sites`, below one of the `paths`, of one of the `kinds`,
    from `after` on, before `before`; `not_` excludes.

    Empty means no filter. All are lower-case; paths start with a slash and do not end with one.
    """

    sites: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    not_sites: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    not_kinds: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None


def in_words(query: str) -> bool:
    """Return whether a query is only words. Anything else that a model writes comes from a page
    that wants to be visited.
    """
    said = query.strip()
    return bool(said) and not (addresses(said) or _OPERATOR.search(said) or _OTHERS.search(said))


def without_operators(query: str) -> str:
    """Return the words of a query."""
    return " ".join(_OPERATOR.sub(" ", query).split()) if ":" in query else query


def only(query: str) -> Only:
    """Return the filters in a query's operators. Raises SearchError for an invalid date."""
    found: dict[str, list[str]] = {}
    dates: dict[str, date] = {}
    for minus, name, quoted, plain in _OPERATOR.findall(query):
        name, value = name.lower(), (quoted or plain).strip().lower()
        if name in ("after", "before"):
            # Not after a day means before it, and vice versa.
            meant = {"after": "before", "before": "after"}[name] if minus else name
            dates[meant] = _day(name, value)
        else:
            value = "/" + value.strip("/") if name == "path" else value
            found.setdefault(f"{'not_' if minus else ''}{name}s", []).append(value)
    named = {kind: tuple(values) for kind, values in found.items()}
    return Only(**named, after=dates.get("after"), before=dates.get("before"))


def _day(name: str, value: str) -> date:
    """Return the first day of a year (2024) or month (2024-05), or that day."""
    parts = _DATE.fullmatch(value)
    try:
        if not parts:
            raise ValueError(value)
        return date(int(parts[1]), int(parts[2] or 1), int(parts[3] or 1))
    except ValueError:
        raise SearchError(
            f"{name}:{value[:40]} is no date.",
            hint=f"Write {name}:2024, {name}:2024-05 or {name}:2024-05-31.",
        ) from None

"""Which rows of a table of pages are meant, as SQL that SQLite and PostgreSQL understand."""

from __future__ import annotations

from spadework.tools.knowledge.entry import Which


def condition_of(which: Which, value: str = "?") -> tuple[str, list[object]]:
    """A condition on url, host and fetched_at, and its values; `value` marks each."""
    parts, values = [], list[object]()
    for url in which.urls:
        parts.append(f"url = {value}")
        values.append(url)
    for host in which.hosts:
        # Shorter than what it shall end with, it cannot end with it.
        end = f"substr(host, length(host) - length({value}) + 1)"
        parts.append(f"host = {value} OR {end} = {value}")
        values += [host, f".{host}", f".{host}"]
    condition = f"({' OR '.join(parts)})" if which.named else "TRUE"
    if which.before is not None:
        condition = f"{condition} AND fetched_at < {value}"
        values.append(which.before.timestamp())
    return condition, values

"""What is left out of a package's description: its history."""

from __future__ import annotations

import re

from spadework.tools.text.passages import headings

_HISTORY = re.compile(
    r"\W*(?:change ?logs?|changes(?: in .*)?|release (?:notes|history|information)|version"
    r" history|history|what.?s new.*|news|"
    r"recent changes|credits|contributors|backers|sponsors?)\W*",
    re.I,
)
_VERSION = re.compile(r"\W*(?:version |release )?v?\d+\.\d+|\W*unreleased|\W*\d{4}-\d\d-\d\d", re.I)


def without_history(markdown: str) -> str:
    """The text without sections on changes and credits, and those named after versions below."""
    kept: list[str] = []
    at = 0
    cutting = 0
    for start, level, title in headings(markdown):
        if cutting and level > cutting:
            continue
        if cutting and _VERSION.match(title):
            cutting = level
            continue
        if cutting:
            at, cutting = start, 0
        if _HISTORY.fullmatch(title):
            kept.append(markdown[at:start])
            cutting = level
    return "".join([*kept, "" if cutting else markdown[at:]]).rstrip() + "\n"

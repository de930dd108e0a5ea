"""Lines that only lead to what follows them: a list, code, a table."""

from __future__ import annotations

_COLONS = (":", "：")


def leads(text: str) -> bool:
    """Whether a line only leads to what follows it: it ends in a colon, bold or not."""
    return text.rstrip("*_ \n").endswith(_COLONS)

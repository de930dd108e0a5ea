"""The documents of a package before they are read, and what is left out of a library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spadework.tools.library.document import Document


@dataclass(frozen=True)
class Part:
    """A document that has still to be read. `read` gives it, or None where there is nothing to
    say; it may fail, and the others do not.
    """

    url: str
    read: Callable[[], Document | None]


@dataclass(frozen=True)
class Skipped:
    """A file, a document or a package that is not in the library, and why."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"

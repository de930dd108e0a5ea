"""A session's input: the question and everything supplied with it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from spadework.errors import SessionError
from spadework.sessions.storage.files import Kind, Metadata, exchanges_before


@dataclass(frozen=True)
class Brief:
    """The input of a session.

    `attachments` are paths of files to read first, and `follows` is the id of the session to
    follow up on, or "". `earlier` and `answers` are previous questions and answers, oldest first.
    `wishes` are requests about the report's form, and `most_words` limits its length (0: as in
    the settings).

    A session of kind "gather" reads at most `pages` pages for a query, and one of kind "read"
    reads one URL. Neither writes a report.
    """

    question: str
    attachments: tuple[str, ...] = ()
    follows: str = ""
    earlier: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    wishes: str = ""
    most_words: int = 0
    kind: Kind = "research"
    pages: int = 0

    @classmethod
    def after(
        cls,
        home: Path,
        question: str,
        attachments: tuple[str, ...] = (),
        follows: str = "",
        earlier: Sequence[str] = (),
    ) -> Self:
        """Return the brief of a new session. A follow-up inherits the questions and answers of the
        session `follows`, and ignores `earlier`. Raises SessionNotFound.
        """
        before = exchanges_before(home, follows) if follows else [(text, "") for text in earlier]
        return cls(question, attachments, follows, *_apart(before))

    @classmethod
    def reopen(cls, home: Path, metadata: Metadata) -> Self:
        """Return a stored session's brief, omitting unreadable earlier questions."""
        before: list[tuple[str, str]] = []
        with suppress(SessionError):
            before = exchanges_before(home, metadata.follows)
        asked = (metadata.query, metadata.attachments, metadata.follows)
        made = cls(*asked, *_apart(before), metadata.wishes, metadata.most_words)
        return replace(made, kind=metadata.kind, pages=metadata.pages)

    def as_json(self) -> dict[str, Any]:
        """Return all fields as a JSON object."""
        return asdict(self)

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Self:
        """Parse the output of `as_json`."""
        tuples = {name: tuple(fields[name]) for name in ("attachments", "earlier", "answers")}
        return cls(**{**fields, **tuples})

    def state(self) -> dict[str, Any]:
        """Return the input for the research graph."""
        fields = {
            name: value for name, value in vars(self).items() if name not in ("kind", "pages")
        }
        return {
            n: list(value) if isinstance(value, tuple) else value for n, value in fields.items()
        }


def _apart(exchanges: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(text for text, _ in exchanges), tuple(answer for _, answer in exchanges)

"""The request behind a session: the question with its files, and the session it follows up."""

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
    """The question, files to read first, the id of the followed-up session, and earlier questions,
    oldest first, with their answers. `wishes` are instructions about the report's form;
    `most_words` limits its length (0: as in the settings).

    For the `kind` "gather" the question is a query for which at most `pages` are read, for "read"
    it is a URL; neither writes a report.
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
        """Return the brief of a new session; one that follows another gets its questions and
        answers, else `earlier` questions without answers. Raises SessionNotFound.
        """
        before = exchanges_before(home, follows) if follows else [(text, "") for text in earlier]
        return cls(question, attachments, follows, *_apart(before))

    @classmethod
    def reopen(cls, home: Path, metadata: Metadata) -> Self:
        """Return the brief of a stored session. If the one it follows is gone or damaged, it has no
        earlier questions, since only pages and plan are copied.
        """
        before: list[tuple[str, str]] = []
        with suppress(SessionError):
            before = exchanges_before(home, metadata.follows)
        asked = (metadata.query, metadata.attachments, metadata.follows)
        made = cls(*asked, *_apart(before), metadata.wishes, metadata.most_words)
        return replace(made, kind=metadata.kind, pages=metadata.pages)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return asdict(self)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """Return the brief of what `told` returned."""
        tuples = {name: tuple(told[name]) for name in ("attachments", "earlier", "answers")}
        return cls(**{**told, **tuples})

    def state(self) -> dict[str, Any]:
        """Return the graph's input."""
        told = {name: value for name, value in vars(self).items() if name not in ("kind", "pages")}
        return {n: list(value) if isinstance(value, tuple) else value for n, value in told.items()}


def _apart(exchanges: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(text for text, _ in exchanges), tuple(answer for _, answer in exchanges)

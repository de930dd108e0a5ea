"""What a session was asked to do: the question with its files, and the session it follows up."""

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
    """The question, paths of files to read first, the id of the session followed up, and the
    questions before, oldest first, with what was answered to them. `wishes` are for the form of the
    report, beside the question; `most_words` bounds its length (0: as the settings say).

    Of the `kind` "gather" the question is a query for which at most so many `pages` are read, of
    "read" the address of one; nothing is written of either.
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
        """The brief of a new session; one that follows another is told what that was asked and has
        answered, else `earlier` questions without answers. Raises SessionNotFound.
        """
        before = exchanges_before(home, follows) if follows else [(text, "") for text in earlier]
        return cls(question, attachments, follows, *_apart(before))

    @classmethod
    def again(cls, home: Path, metadata: Metadata) -> Self:
        """The brief of a session that was begun. Where the one it follows is gone by now or broken,
        it has no questions before it: on that one's pages and plan, not its words, it was built.
        """
        before: list[tuple[str, str]] = []
        with suppress(SessionError):
            before = exchanges_before(home, metadata.follows)
        asked = (metadata.query, metadata.attachments, metadata.follows)
        made = cls(*asked, *_apart(before), metadata.wishes, metadata.most_words)
        return replace(made, kind=metadata.kind, pages=metadata.pages)

    def told(self) -> dict[str, Any]:
        """All of it as JSON."""
        return asdict(self)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """The brief that was told."""
        tuples = {name: tuple(told[name]) for name in ("attachments", "earlier", "answers")}
        return cls(**{**told, **tuples})

    def state(self) -> dict[str, Any]:
        """What the graph is given."""
        told = {name: value for name, value in vars(self).items() if name not in ("kind", "pages")}
        return {n: list(value) if isinstance(value, tuple) else value for n, value in told.items()}


def _apart(exchanges: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Questions and answers, each for themselves."""
    return tuple(text for text, _ in exchanges), tuple(answer for _, answer in exchanges)

"""The errors that spadework raises on purpose. All except BudgetSpent are SpadeworkErrors.

A run normally continues after a SearchError, FetchError, ModelError or KnowledgeError.
"""

from __future__ import annotations

from typing import Any

from spadework.visible import visible


def must_be(name: str, wanted: str, value: object) -> str:
    """Return a message such as "minutes must be greater than 0, not -1."."""
    return f"{name} must be {wanted}, not {value!r:.80}."


class SpadeworkError(RuntimeError):
    """An error raised on purpose, with a `hint` on how to fix it. It is a RuntimeError because
    LangGraph servers pass on only the messages of RuntimeErrors.
    """

    #: True if a retry would fail too.
    final = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(visible(message))
        self.hint = hint


class SettingsError(SpadeworkError):
    """A missing or invalid setting or argument."""


class SearchError(SpadeworkError):
    """A search provider failed."""


class QuotaSpent(SearchError):
    """A provider's quota or rate limit is exceeded. `retry_after` is in seconds. `busy` means that
    requests would succeed at a slower pace.
    """

    def __init__(
        self, message: str, *, hint: str = "", retry_after: float | None = None, busy: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after, self.busy = retry_after, busy


class Throttled(SearchError):
    """A call was not made in time, because the provider's rate limit made it wait."""


class FetchError(SpadeworkError):
    """A page could not be fetched."""

    final = True

    #: True if the server refused the request because the client does not look like a browser.
    turned_away = False

    #: The HTTP status if the page does not exist, else 0.
    status = 0

    #: All attempts to fetch the page (`values.Attempt`), including the last one, which failed.
    attempts: tuple[Any, ...] = ()


class Blocked(FetchError):
    """The server refused the page."""


class TooLarge(FetchError):
    """The page exceeds a size limit."""


class Unreadable(FetchError):
    """The page was fetched, but no text could be extracted."""


class NotAllowed(FetchError):
    """The page's address is not allowed, so no request was made to it."""


class TooSlow(FetchError):
    """The page did not arrive by its deadline."""

    final = False


class Unreachable(FetchError):
    """No connection, a broken response, or a server error."""

    final = False


class ModelError(SpadeworkError):
    """A model failed to answer."""


class BadReply(ModelError):
    """The model's answer has the wrong type. `partial` is the text received if it was cut off."""

    partial = ""


class TooLong(ModelError):
    """The request exceeds the model's context window by `over` tokens (0 if unknown)."""

    def __init__(self, message: str, *, hint: str = "", over: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.over = over


class NotRecorded(ModelError):
    """The recording that is being replayed has no answer to the request."""


class KnowledgeError(SpadeworkError):
    """The page store, which holds pages read in earlier runs, cannot be used."""


class SessionError(SpadeworkError):
    """A session cannot be used."""


class SessionNotFound(SessionError):
    """There is no such session."""


class SessionUnreadable(SessionError):
    """A session's files are damaged. `why` describes the damage."""

    why = ""


class SessionBusy(SessionError):
    """Another process is running this session."""


class DaySpent(SessionError):
    """The user's daily limit is reached."""


class Stopping(SessionError):
    """The server is stopping and accepts no new questions."""


class DiskFailed(SessionError):
    """A session's disk is full, read-only or gone."""


class BudgetSpent(Exception):
    """The limit `what` is reached, so the run must write its report."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the budget for {what} is used up")
        self.what = what


def how_to_install(extra: str) -> str:
    """Return the command that installs an optional extra from spadework's folder, because the name
    `spadework` on a package index may belong to another project.
    """
    return f'`pip install ".[{extra}]"` in the spadework folder'

"""Every error spadework raises on purpose.

SpadeworkError              `.hint` says how to fix it
  SettingsError             a missing or wrong setting or argument (exit code 2)
  SearchError               a search provider failed; others continue
    QuotaSpent              its quota is exhausted
    Throttled               it was not called, to respect its rate limit
  FetchError                a page could not be fetched; the next candidate is tried
    Blocked                 the server refused it (status, robots.txt, block page)
    TooLarge                over a size limit
    Unreadable              no text could be extracted
    NotAllowed              the address guard refused it
    TooSlow                 its deadline passed
    Unreachable             no connection, a broken answer or a server error
  ModelError                a model failed; retry, repair, then the extractive role
    BadReply                the answer does not have the requested shape
    TooLong                 the request does not fit the model
    NotRecorded             the replayed recording has no answer to it
  KnowledgeError            the knowledge store failed; the web is searched
  SessionError
    SessionNotFound
    SessionUnreadable       its files are damaged
    SessionBusy             another process works on it
    DaySpent                the user's daily limit is exhausted
    Stopping                the server is stopping and accepts no new question
    DiskFailed              its files cannot be accessed now; what was gathered is kept
BudgetSpent                 not a failure: the signal to write with the evidence so far
"""

from __future__ import annotations

from typing import Any

from spadework.visible import visible


def must_be(name: str, wanted: str, value: object) -> str:
    """Return the message for an invalid value, as in "minutes must be greater than 0, not -1."."""
    return f"{name} must be {wanted}, not {value!r:.80}."


class SpadeworkError(RuntimeError):
    """An error raised on purpose. `str(error)` is one sentence, and `hint` says how to fix it.
    LangGraph servers pass on the message of an error only if it is a RuntimeError.
    """

    #: True if a retry would fail too. A resumed run then does not retry.
    final = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(visible(message))
        self.hint = hint


class SettingsError(SpadeworkError):
    """A missing or invalid setting or argument."""


class SearchError(SpadeworkError):
    """A search provider failed."""


class QuotaSpent(SearchError):
    """The quota or rate limit of a provider is exceeded. `retry_after` is in seconds, if known.
    `busy` means that only the rate was too high, and that slower requests would succeed.
    """

    def __init__(
        self, message: str, *, hint: str = "", retry_after: float | None = None, busy: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after, self.busy = retry_after, busy


class Throttled(SearchError):
    """The provider was not called, because its rate limit left no slot in time."""


class FetchError(SpadeworkError):
    """A page could not be fetched."""

    final = True

    #: True if the server refused the request because the client does not look like a browser.
    turned_away = False

    #: The HTTP status if it means that the page does not exist, else 0.
    status = 0

    #: All attempts (`values.Attempt`). The last attempt ended in this error.
    attempts: tuple[Any, ...] = ()


class Blocked(FetchError):
    """The server refused the page."""


class TooLarge(FetchError):
    """The page is over a size limit."""


class Unreadable(FetchError):
    """The page was fetched, but no text could be extracted."""


class NotAllowed(FetchError):
    """The address guard refused to fetch the page."""


class TooSlow(FetchError):
    """The page did not arrive by its deadline."""

    final = False


class Unreachable(FetchError):
    """No connection, a broken response, or a server error."""

    final = False


class ModelError(SpadeworkError):
    """A model failed to answer."""


class BadReply(ModelError):
    """The answer does not have the requested shape. `partial` is its beginning, if any."""

    partial = ""


class TooLong(ModelError):
    """The request exceeds the model's context by `over` tokens (0: unknown)."""

    def __init__(self, message: str, *, hint: str = "", over: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.over = over


class NotRecorded(ModelError):
    """The replayed recording has no answer to the request."""


class KnowledgeError(SpadeworkError):
    """The knowledge store cannot be used."""


class SessionError(SpadeworkError):
    """A session cannot be used."""


class SessionNotFound(SessionError):
    """There is no such session."""


class SessionUnreadable(SessionError):
    """A session's files are damaged, truncated or invalid. `why` explains one such fault."""

    why = ""


class SessionBusy(SessionError):
    """Another process is running this session."""


class DaySpent(SessionError):
    """The user's daily limit is reached."""


class Stopping(SessionError):
    """The server is stopping. It accepts no new questions and ends the running sessions."""


class DiskFailed(SessionError):
    """The disk of a session is full, read-only or gone. What the run gathered is kept."""


class BudgetSpent(Exception):
    """The limit `what` is reached: not a failure, but the signal to write the report."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the budget for {what} is used up")
        self.what = what


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra from spadework's own folder. The package called
    spadework in a package index may belong to another project.
    """
    return f'`pip install ".[{extra}]"` in the spadework folder'

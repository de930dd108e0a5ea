"""Every error spadework raises on purpose.

SpadeworkError              `.hint` says the mend
  SettingsError             a missing or wrong setting or argument (exit code 2)
  SearchError               a search provider failed; another one goes on
    QuotaSpent              it answered that the quota is used up
    Throttled               it was not asked, since that would have been too soon
  FetchError                a page could not be had; the next candidate is tried
    Blocked                 the server refused it (status, robots.txt, block page)
    TooLarge                over a size limit
    Unreadable              no text could be taken from it
    NotAllowed              the address guard refused it
    TooSlow                 its deadline passed
    Unreachable             no connection, a broken answer or a server error
  ModelError                a model failed; retry, repair, then the extractive role
    BadReply                the answer does not have the asked shape
    TooLong                 the request does not fit the model
    NotRecorded             a replay has no answer to it
  KnowledgeError            the knowledge store failed; the web is searched
  SessionError
    SessionNotFound
    SessionUnreadable       its files are broken
    SessionBusy             another process works on it
    DaySpent                what its user may use in a day is used up
    Stopping                the server takes no new question, since it is being stopped
    DiskFailed              its files cannot be written or read now: what it has gathered stays
BudgetSpent                 not a failure: the signal to write with what there is
"""

from __future__ import annotations

from typing import Any

from spadework.visible import visible


class SpadeworkError(RuntimeError):
    """Something spadework refuses or could not do. `str(error)` is one sentence; `hint` says the
    mend.

    A RuntimeError, since LangGraph servers tell their clients what such an error says, and of
    others only that there was one.
    """

    #: True when asking again would give the same answer, so that a resumed run need not ask.
    final = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        # What a server or a page says of itself may stand in it.
        super().__init__(visible(message))
        self.hint = hint


class SettingsError(SpadeworkError):
    """A setting or an argument is missing or wrong."""


class SearchError(SpadeworkError):
    """A search provider failed."""


class QuotaSpent(SearchError):
    """The provider answered that the quota is used up or the rate is too high.

    `retry_after` is how many seconds it asks to be left alone, None where it does not say. `busy`:
    the rate was too high, so that asking more slowly helps.
    """

    def __init__(
        self, message: str, *, hint: str = "", retry_after: float | None = None, busy: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after, self.busy = retry_after, busy


class Throttled(SearchError):
    """The provider was not asked: its rate limit left no turn in time."""


class FetchError(SpadeworkError):
    """A page could not be had."""

    final = True

    #: True when the server turned away what does not look like a browser, and named no time to come
    #: back.
    turned_away = False

    #: What the server answered, where it has answered with a status that means that there is no
    #: page; else 0.
    status = 0

    #: The attempts that were made (`values.Attempt`), the last of which ended in this.
    attempts: tuple[Any, ...] = ()


class Blocked(FetchError):
    """The server refused the page."""


class TooLarge(FetchError):
    """The page is over a size limit."""


class Unreadable(FetchError):
    """The page came, but no text could be taken from it."""


class NotAllowed(FetchError):
    """The guard refused the address."""


class TooSlow(FetchError):
    """The page did not come before its deadline."""

    final = False


class Unreachable(FetchError):
    """No connection, a broken answer, or a server error."""

    final = False


class ModelError(SpadeworkError):
    """A model failed to answer."""


class BadReply(ModelError):
    """The answer has not the asked shape. `said` is what came where that was not all of it."""

    said = ""


class TooLong(ModelError):
    """The request is `over` tokens too long for the model's context, 0 where that is unknown."""

    def __init__(self, message: str, *, hint: str = "", over: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.over = over


class NotRecorded(ModelError):
    """A replay has no recorded answer to the request."""


class KnowledgeError(SpadeworkError):
    """The knowledge store cannot be used."""


class SessionError(SpadeworkError):
    """A session cannot be used."""


class SessionNotFound(SessionError):
    """There is no such session."""


class SessionUnreadable(SessionError):
    """A session's files are broken, cut off or wrong; `why` says what is wrong with one."""

    why = ""


class SessionBusy(SessionError):
    """Another process works on this session."""


class DaySpent(SessionError):
    """What the user may use in a day is used up."""


class Stopping(SessionError):
    """The server is being stopped: it takes no new question, and ends those it has."""


class DiskFailed(SessionError):
    """The disk failed under a session: it is full, read-only or gone. What was gathered stays."""


class BudgetSpent(Exception):
    """The ceiling `what` is reached: no failure, but the signal to write with what there is."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the budget of {what} is spent")
        self.what = what

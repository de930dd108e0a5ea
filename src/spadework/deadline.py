"""Divide a run's time among its phases, and compute timeouts from the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import datetime
from typing import Literal

Phase = Literal["plan", "search", "read", "assess", "write"]
Shares = Mapping[Phase, float]
#: A function that returns whether a step's time is up.
Late = Callable[[], bool]
#: A point in a run, given as the time left: a fraction of the run time and a number of seconds. The
#: smaller of the two applies.
Mark = tuple[float, float]

#: Each phase's share of the run time. Unused time passes to later phases. The writing phase's
#: share of the calls, tokens and money is reserved too.
BY_CODE: Shares = {"plan": 0.05, "search": 0.10, "read": 0.60, "assess": 0.20, "write": 0.05}
WITH_MODEL: Shares = {"plan": 0.05, "search": 0.10, "read": 0.35, "assess": 0.20, "write": 0.30}
#: The shares at quick effort. Planning gets more time, because a small model on two cores needs 14
#: to 45 s for it.
QUICK: Shares = {"plan": 0.15, "search": 0.10, "read": 0.50, "assess": 0.20, "write": 0.05}

#: When less time than this (fraction of the run time, seconds) is left, only the best pages are
#: read.
BEST_ONLY = (0.50, 300.0)
#: When less time than this (fraction of the run time, seconds) is left, fewer passages are judged
#: and no further round begins.
ACCELERATE = (0.40, 240.0)
#: When less time than this (fraction of the run time, seconds) is left, searching, reading and
#: judging end.
WRITE_NOW = (0.20, 120.0)
#: When less time than this (fraction of the run time, seconds) is left, a run that is not yet
#: writing stops, and its report is composed without a model.
CLOSE_NOW = (0.10, 60.0)

#: Number of steps in a round: search, read, judge.
STEPS = 3
#: Other model calls are assumed to take at most this many times as long as the planning call.
SLOWER = 1.5

#: Time reserved for rewriting weak parts of the report, as a fraction of the time that writing and
#: checking the whole report took.
AGAIN = 0.5

#: Minimum seconds to reserve for finishing a report and exiting, until enough earlier runs have
#: been timed.
CLOSING_SECONDS = 2.0
CLOSING_SHARE = 0.2
#: Finishing a report and exiting is assumed to take as long as composing this many drafts. More
#: evidence makes a draft slower: with 5,806 entries, one took 2.9 s of CPU time instead of 0.8 s.
CLOSING_DRAFTS = 4.0


def shares_of(effort: str, *, model: bool) -> Shares:
    """Return each phase's share of the run time."""
    if not model:
        return BY_CODE
    return QUICK if effort == "quick" else WITH_MODEL


class Deadline:
    """The deadline of a run. Its time starts when the object is created."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.started = time.monotonic()
        self.reserve = CLOSING_SECONDS
        self.shares: Shares = BY_CODE
        #: In a replay, the elapsed seconds at which the original run recorded the latest replayed
        #: answer, else None.
        self.replayed: float | None = None
        #: Seconds that writing and checking the report took.
        self.written: float | None = None
        self.writing = False
        self._paused_at: float | None = None

    def pause(self) -> None:
        """Stop the clock while the user decides."""
        self._paused_at = self._paused_at or time.monotonic()

    def go_on(self) -> None:
        """Restart the clock if it was stopped."""
        if self._paused_at is not None:
            self.started += time.monotonic() - self._paused_at
            self._paused_at = None

    def elapsed(self) -> float:
        """Return the seconds since the start, excluding pauses."""
        if self.replayed is not None:
            return self.replayed
        return (self._paused_at or time.monotonic()) - self.started

    def seconds_left(self) -> float:
        """Return the seconds until the deadline, at least 0."""
        return max(0.0, self.seconds - self.elapsed())

    def until_closing(self) -> float:
        """Return the seconds left before the run must begin to finish its report."""
        return max(0.0, self.seconds_left() - self._reserve_seconds)

    def closing_seconds(self) -> float:
        """Return how many seconds ago the run had to start finishing its report (0 if not yet)."""
        return max(0.0, self.elapsed() - (self.seconds - self._reserve_seconds))

    @property
    def _reserve_seconds(self) -> float:
        return min(self.reserve, CLOSING_SHARE * self.seconds)

    @property
    def _writing_seconds(self) -> float:
        share = self.shares["write"] * self.seconds
        return share if self.written is None else min(share, AGAIN * self.written)

    def phase(self, *phases: Phase) -> float:
        """Return how many seconds these phases may take, leaving later phases their shares."""
        return self.seconds if self.replayed is not None else self.reckoned(*phases)

    def step(self, *phases: Phase, least: float) -> float:
        """Return how many seconds one step of these phases may take. If that is less than `least`,
        add some of the time for reading. The result can still be less than `least`.
        """
        return max(self.phase(*phases), min(least, self.phase(*phases, "read") / 2))

    def judging_seconds(self, call: float) -> float:
        """Return the seconds for judging a round whose model calls take `call` seconds each. If too
        little time is left for judging, borrow some from writing.
        """
        return max(self.phase("assess"), min(SLOWER * call, self.phase("assess", "write") / 2))

    def fits(self, call: float) -> bool:
        """Return whether there is time for a round in which each step takes `call` seconds."""
        return self.reckoned("search", "read", "assess") >= STEPS * call

    def may_rewrite(self) -> bool:
        """Return whether there is time to rewrite weak parts of the report."""
        return self.until_closing() >= self._writing_seconds

    def reckoned(self, *phases: Phase) -> float:
        """Return the seconds left for these phases. A replay uses the recorded time."""
        left = self.until_closing()
        order = list(self.shares)
        coming: list[Phase] = [name for name in order[order.index(phases[0]) :] if name != "write"]
        if not coming:
            return left
        kept = min(left, self._writing_seconds)
        part = sum(self.shares[name] for name in phases if name != "write")
        before = (left - kept) * part / sum(self.shares[name] for name in coming)
        if "write" in phases:
            return before + kept
        return before if self.written is not None else min(before, self.until(WRITE_NOW))

    def until(self, mark: Mark) -> float:
        """Return the seconds until the time left falls below `mark`."""
        share, most = mark
        return max(0.0, self.seconds_left() - min(share * self.seconds, most))

    def under(self, mark: Mark) -> bool:
        """Return whether the time left is below `mark`."""
        return self.until(mark) <= 0


_began: ContextVar[datetime | None] = ContextVar("began", default=None)


def set_today(moment: datetime) -> None:
    """Set the moment that `today` returns in the current task and its children."""
    _began.set(moment)


def today() -> datetime:
    """Return when the session started, or the current local time outside a session."""
    return _began.get() or datetime.now().astimezone()

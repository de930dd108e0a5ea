"""Divide the time of a run into phases; every wait outside the process gets its timeout here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Literal

Phase = Literal["plan", "search", "read", "assess", "write"]
Shares = Mapping[Phase, float]
#: Tells whether the time of a step is over.
Late = Callable[[], bool]
#: A share of the whole time, and its maximum seconds.
Mark = tuple[float, float]

#: Unused time passes to later phases. The share of writing is reserved, also of calls, tokens and
#: money.
BY_CODE: Shares = {"plan": 0.05, "search": 0.10, "read": 0.60, "assess": 0.20, "write": 0.05}
WITH_MODEL: Shares = {"plan": 0.05, "search": 0.10, "read": 0.35, "assess": 0.20, "write": 0.30}
#: A small model on two cores takes 14 to 45 s for the plan, the longest call at quick effort.
QUICK: Shares = {"plan": 0.15, "search": 0.10, "read": 0.50, "assess": 0.20, "write": 0.05}

#: With less time left than this mark, only the best pages are read.
BEST_ONLY = (0.50, 300.0)
#: Below this mark, fewer passages are judged and no round begins.
ACCELERATE = (0.40, 240.0)
#: Below this mark, searching, reading and judging end.
WRITE_NOW = (0.20, 120.0)
#: Below this mark, a run that has not begun writing stops, and code reports its evidence.
CLOSE_NOW = (0.10, 60.0)

#: The steps of a round: searching, reading, judging.
STEPS = 3
#: How much longer than the plan's call other calls may take.
SLOWER = 1.5

#: Reserve for rewriting weak parts, as a share of the time for the whole report.
AGAIN = 0.5

#: Seconds for composing, verifying, saving and exiting by code, unless known from earlier runs.
CLOSING_SECONDS = 2.0
CLOSING_SHARE = 0.2
#: Closing takes about as long as so many drafts by code, which grow with evidence and load: with
#: 5,806 entries, 2.9 s of the processor instead of 0.8 s.
CLOSING_DRAFTS = 4.0


def shares_of(effort: str, *, model: bool) -> Shares:
    """Return the shares of the phases; writing needs most if a model does it in several steps."""
    if not model:
        return BY_CODE
    return QUICK if effort == "quick" else WITH_MODEL


class Deadline:
    """The deadline of a run of `seconds` that begins now (`time.monotonic`)."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.started = time.monotonic()
        self.reserve = CLOSING_SECONDS
        self.shares: Shares = BY_CODE
        #: In a replay, the seconds recorded with the last answer.
        self.replayed: float | None = None
        #: Seconds that writing and checking took; AGAIN of these are reserved for rewriting.
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
        """Return the seconds since the start, without pauses."""
        if self.replayed is not None:
            return self.replayed
        return (self._paused_at or time.monotonic()) - self.started

    def seconds_left(self) -> float:
        """Return the seconds until the deadline, never below 0."""
        return max(0.0, self.seconds - self.elapsed())

    def until_closing(self) -> float:
        """Return the seconds until there is only time for closing by code."""
        return max(0.0, self.seconds_left() - self._reserve_seconds)

    def closing_seconds(self) -> float:
        """Return the seconds that closing has taken so far, including those beyond its reserve."""
        return max(0.0, self.elapsed() - (self.seconds - self._reserve_seconds))

    @property
    def _reserve_seconds(self) -> float:
        return min(self.reserve, CLOSING_SHARE * self.seconds)

    @property
    def _writing_seconds(self) -> float:
        share = self.shares["write"] * self.seconds
        return share if self.written is None else min(share, AGAIN * self.written)

    def phase(self, *phases: Phase) -> float:
        """Return the seconds for these phases together.
        Later phases keep their shares, and writing its share of the whole. Until there is a report,
        only writing may use the time under WRITE_NOW.
        """
        return self.seconds if self.replayed is not None else self.reckoned(*phases)

    def step(self, *phases: Phase, least: float) -> float:
        """Return the seconds for one step of these phases.
        In a short run it is at least `least`, up to half the time of these phases and reading.
        """
        return max(self.phase(*phases), min(least, self.phase(*phases, "read") / 2))

    def judging_seconds(self, call: float) -> float:
        """Return the seconds for judging a round: enough for at least a few calls.
        They may be half the time of judging and writing, since unjudged evidence is not worth
        writing up.
        """
        return max(self.phase("assess"), min(SLOWER * call, self.phase("assess", "write") / 2))

    def fits(self, call: float) -> bool:
        """Return whether a round still fits: to search, read and judge, each within one `call`."""
        return self.reckoned("search", "read", "assess") >= STEPS * call

    def may_rewrite(self) -> bool:
        """Return whether there is time to rewrite weak parts of the report."""
        return self.until_closing() >= self._writing_seconds

    def reckoned(self, *phases: Phase) -> float:
        """Return the seconds of the phases by the clock, also in a replay, which never waits."""
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
        """Return the seconds until less time is left than `mark`."""
        share, most = mark
        return max(0.0, self.seconds_left() - min(share * self.seconds, most))

    def under(self, mark: Mark) -> bool:
        """Return whether less time is left than `mark`."""
        return self.until(mark) <= 0

"""The deadline of a run, and its division into phases: every wait that leaves the process takes its
timeout from here. A share is reserved for closing the run: writing, checking and repair.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal

Phase = Literal["plan", "search", "read", "assess", "write"]
Shares = Mapping[Phase, float]
#: Share of the whole time, maximum seconds.
Mark = tuple[float, float]

#: Shares of the whole time (S10). Unused time passes to later phases; the share of writing is
#: reserved, in calls, tokens and money too.
BY_CODE: Shares = {"plan": 0.05, "search": 0.10, "read": 0.60, "assess": 0.20, "write": 0.05}
WITH_MODEL: Shares = {"plan": 0.05, "search": 0.10, "read": 0.35, "assess": 0.20, "write": 0.30}
#: The plan is the longest call at quick effort: a small model on two cores takes 14 to 45 s for it,
#: and timed out at 54 of 360 s.
QUICK: Shares = {"plan": 0.15, "search": 0.10, "read": 0.50, "assess": 0.20, "write": 0.05}

#: Marks at which the run narrows, once less than the share (or the seconds, if fewer) is left: only
#: the best pages are read; fewer passages are judged and no round begins; searching, reading and
#: judging end.
BEST_ONLY = (0.50, 300.0)
ACCELERATE = (0.40, 240.0)
WRITE_NOW = (0.20, 120.0)
#: Below this, a run that has not begun writing stops, and code reports its evidence.
CLOSE_NOW = (0.10, 60.0)

#: Sequential steps of a round: searching, reading, judging.
STEPS = 3
#: How much longer than the plan's call other calls may take.
SLOWER = 1.5

#: Reserve for rewriting weak parts, as a share of the time for the whole report.
AGAIN = 0.5

#: Seconds reserved for composing, verifying, saving and exiting by code alone, if no times are
#: known; and the maximum share of the whole.
CLOSING_SECONDS = 2.0
CLOSING_SHARE = 0.2


def shares_of(effort: str, *, model: bool) -> Shares:
    """Return the shares of the phases: with a model, writing and checking take several steps,
    except at quick effort.
    """
    if not model:
        return BY_CODE
    return QUICK if effort == "quick" else WITH_MODEL


class Deadline:
    """The deadline of a run of `seconds` that begins now (`time.monotonic`)."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.started = time.monotonic()
        #: Estimated seconds for the end of the run.
        self.reserve = CLOSING_SECONDS
        self.shares: Shares = BY_CODE
        #: In a replay, the recorded seconds up to the last replayed answer.
        self.replayed: float | None = None
        #: Seconds spent writing and checking the report, once written: AGAIN of these are reserved
        #: for a second time, and nothing more for the first report.
        self.written: float | None = None
        #: Whether the report is being written or checked.
        self.writing = False
        self._paused_at: float | None = None

    def pause(self) -> None:
        """Stop the clock while the user decides."""
        self._paused_at = self._paused_at or time.monotonic()

    def go_on(self) -> None:
        """Restart a stopped clock."""
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
        """Return the seconds that closing has taken so far from its reserve and in addition."""
        return max(0.0, self.elapsed() - (self.seconds - self._reserve_seconds))

    @property
    def _reserve_seconds(self) -> float:
        return min(self.reserve, CLOSING_SHARE * self.seconds)

    @property
    def _writing_seconds(self) -> float:
        share = self.shares["write"] * self.seconds
        return share if self.written is None else min(share, AGAIN * self.written)

    def phase(self, *phases: Phase) -> float:
        """Return the seconds available to the given phases together. Phases between them and
        writing keep their shares, and writing its share of the whole. Only writing may use the time
        under WRITE_NOW, until there is a report.
        """
        return self.seconds if self.replayed is not None else self.reckoned(*phases)

    def step(self, *phases: Phase, least: float) -> float:
        """Return the seconds for one step of the given phases. In a short run a step gets the
        `least` it takes, up to half of their time and that for reading.
        """
        return max(self.phase(*phases), min(least, self.phase(*phases, "read") / 2))

    def judging_seconds(self, call: float) -> float:
        """Return the seconds for judging a round: at least a few calls' time, up to half the time
        of judging and writing, since unjudged evidence deserves little care in writing.
        """
        return max(self.phase("assess"), min(SLOWER * call, self.phase("assess", "write") / 2))

    def fits(self, call: float) -> bool:
        """Return whether there is time to search, read and judge once more, each taking at most one
        `call` of the model: a round that cannot be judged should not begin.
        """
        return self.reckoned("search", "read", "assess") >= STEPS * call

    def may_rewrite(self) -> bool:
        """Return whether there is time to rewrite weak parts of the report."""
        return self.until_closing() >= self._writing_seconds

    def reckoned(self, *phases: Phase) -> float:
        """Return the phases' seconds by the clock, even in a replay, which never waits."""
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

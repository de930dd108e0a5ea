"""One deadline for a run, and how its time is shared out: every wait that leaves the process takes
its time limit from here. A share is held back for those who close the run: they write, check and
mend.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal

Phase = Literal["plan", "search", "read", "assess", "write"]
Shares = Mapping[Phase, float]
#: Share of the whole time, most seconds.
Mark = tuple[float, float]

#: Shares of the whole time (S10). What a phase does not use passes on to those after it; that of
#: writing is held back whatever those before it use, in calls, tokens and money, too.
BY_CODE: Shares = {"plan": 0.05, "search": 0.10, "read": 0.60, "assess": 0.20, "write": 0.05}
WITH_MODEL: Shares = {"plan": 0.05, "search": 0.10, "read": 0.35, "assess": 0.20, "write": 0.30}
#: The plan is the longest of the few calls in quick effort: a small model on two cores takes 14 to
#: 45 s for one, and its first has been given up at 54 of 360 s.
QUICK: Shares = {"plan": 0.15, "search": 0.10, "read": 0.50, "assess": 0.20, "write": 0.05}

#: Below this share of the time (or these seconds, whichever is less) the run narrows: (share, most
#: seconds). Only the best pages are read; fewer passages judged and no new round begun; nothing is
#: searched, read or judged any more.
BEST_ONLY = (0.50, 300.0)
ACCELERATE = (0.40, 240.0)
WRITE_NOW = (0.20, 120.0)
#: Below this a run that has not begun to write is stopped, and what it has read reported by code.
CLOSE_NOW = (0.10, 60.0)

#: Steps one after the other in which a run looks for more: searching, reading, judging.
STEPS = 3
#: So many times as long as the call of the plan another may take that it is compared with.
SLOWER = 1.5

#: What is kept to write again what is weak in a report, as a share of what all of it has taken.
AGAIN = 0.5

#: Seconds kept at the very end for composing, verifying and saving by code alone, for closing and
#: leaving, where nothing is known of what these take; and the most, as a share of the whole.
CLOSING_SECONDS = 2.0
CLOSING_SHARE = 0.2


def shares_of(effort: str, *, model: bool) -> Shares:
    """The shares of the phases: a model writes and checks in several steps, but not in haste."""
    if not model:
        return BY_CODE
    return QUICK if effort == "quick" else WITH_MODEL


class Deadline:
    """The deadline of a run of so many `seconds` that begins now, by `time.monotonic`."""

    def __init__(self, seconds: float) -> None:
        #: The whole time, in seconds.
        self.seconds = seconds
        self.started = time.monotonic()
        #: Seconds that the end of the run is reckoned to take.
        self.reserve = CLOSING_SECONDS
        self.shares: Shares = BY_CODE
        #: In a replay, the seconds that the recorded run had used by its last answer replayed.
        self.replayed: float | None = None
        #: Seconds that writing and checking the report has taken, once it is written: of these
        #: AGAIN are kept for doing so anew, and nothing more for having a report at all.
        self.written: float | None = None
        #: Whether the report is being written, checked or told otherwise by now.
        self.writing = False
        self._paused_at: float | None = None

    def pause(self) -> None:
        """Stop the clock while the user is thinking."""
        self._paused_at = self._paused_at or time.monotonic()

    def go_on(self) -> None:
        """Let a paused clock run on."""
        if self._paused_at is not None:
            self.started += time.monotonic() - self._paused_at
            self._paused_at = None

    def elapsed(self) -> float:
        """Seconds since the start, without those of pauses."""
        if self.replayed is not None:
            return self.replayed
        return (self._paused_at or time.monotonic()) - self.started

    def left(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self.seconds - self.elapsed())

    def until_closing(self) -> float:
        """Seconds until only closing by code has time."""
        return max(0.0, self.left() - self._kept)

    def closing(self) -> float:
        """Seconds that closing has taken by now of what is kept for it, and beyond."""
        return max(0.0, self.elapsed() - (self.seconds - self._kept))

    @property
    def _kept(self) -> float:
        return min(self.reserve, CLOSING_SHARE * self.seconds)

    @property
    def _writing(self) -> float:
        share = self.shares["write"] * self.seconds
        return share if self.written is None else min(share, AGAIN * self.written)

    def phase(self, *phases: Phase) -> float:
        """Seconds that the given phases together may take from now on, those between them and
        writing keeping their shares, and writing its share of the whole. Nothing but writing takes
        of the time under WRITE_NOW, until there is a report.
        """
        return self.seconds if self.replayed is not None else self.reckoned(*phases)

    def step(self, *phases: Phase, least: float) -> float:
        """Seconds that one step of the given phases may take. In a short run it is not the share
        of these that counts but what such a step takes at `least`: up to half of what they and
        reading have together.
        """
        return max(self.phase(*phases), min(least, self.phase(*phases, "read") / 2))

    def judging(self, call: float) -> float:
        """Seconds that judging a round may take: where its share is less than a call of the model
        takes, up to half of what it and writing have, since what nobody has judged is not worth
        much care in writing.
        """
        return max(self.phase("assess"), min(SLOWER * call, self.phase("assess", "write") / 2))

    def fits(self, call: float) -> bool:
        """Whether there is time to search, to read and to judge once more, each of which takes no
        longer than a `call` of the model: what cannot be judged in the end need not begin.
        """
        return self.reckoned("search", "read", "assess") >= STEPS * call

    def may_rewrite(self) -> bool:
        """Whether there is time to write again what is weak in the report."""
        return self.until_closing() >= self._writing

    def reckoned(self, *phases: Phase) -> float:
        """The same by the clock, also in a replay, which itself waits for nobody."""
        left = self.until_closing()
        order = list(self.shares)
        coming: list[Phase] = [name for name in order[order.index(phases[0]) :] if name != "write"]
        if not coming:
            return left
        kept = min(left, self._writing)
        part = sum(self.shares[name] for name in phases if name != "write")
        before = (left - kept) * part / sum(self.shares[name] for name in coming)
        if "write" in phases:
            return before + kept
        return before if self.written is not None else min(before, self.until(WRITE_NOW))

    def until(self, mark: Mark) -> float:
        """Seconds until less time is left than `mark`."""
        share, most = mark
        return max(0.0, self.left() - min(share * self.seconds, most))

    def under(self, mark: Mark) -> bool:
        """True when less time is left than `mark`."""
        return self.until(mark) <= 0

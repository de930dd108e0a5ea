"""Learn and keep the limits of a model's server: the parameters it takes, its context and speed,
how long its answers are, and how many calls it takes at once.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spadework.settings import Role
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.shared_rooms import shared_place
from spadework.tools.web.slots import Room

#: Tokens of a long answer of a role, until its model is known, and for the forecast.
ANSWERS: dict[Role, int] = {
    "lead": 1_200,
    "assessor": 900,
    "judge": 600,
    "cleaner": 600,
    "writer": 900,
    "verifier": 600,
}
#: Tokens that a model which reasons thinks before such an answer.
THOUGHTS = 2_000
#: So many of the last answers are remembered, and the next is reckoned to be no longer than the
#: longest of them by this factor. Of lengths whose standard deviation is half their mean one in 40
#: is (drawn log-normally; without the factor one in 9), and that is asked again with more room.
REMEMBERED, MARGIN = 8, 1.5
#: The roles that close a run.
CLOSING: tuple[Role, ...] = ("writer", "verifier")


def usual(role: Role, answers: Sequence[int], *, thinks: bool) -> int:
    """Tokens that an answer of a role, thoughts included, has at most by those of its last ones."""
    longest = int(MARGIN * max(answers, default=0))
    if len(answers) >= REMEMBERED:
        return longest
    return max(longest, ANSWERS[role] + (THOUGHTS if thinks else 0))


RoomName = Literal["max_tokens", "max_completion_tokens"]

#: What was learned is believed so long: a server may start anew with another model or context.
KEPT_SECONDS = 7 * 86_400
#: A token written counts for so many read: it takes longer.
WRITTEN = 6
#: Work, in tokens, below which an answer says more about the way to the server than about it.
LEAST_WORK = 100
#: No context is believed to be smaller. A server that counts less than this share of what it was
#: sent has dropped the rest: tokenizers differ by less.
LEAST_CONTEXT, CUT_SHARE = 1_000, 0.6
#: Tokens of a request that says how the server counts; the most it may count for one of ours.
TELLING_REQUEST, MOST_COUNTED = 500, 3.0


class Learned(BaseModel):
    """What is known of a model at its server. `room` is the parameter that limits an answer ("" as
    long as none was refused), `context` the tokens of a request and its answer together (0 while
    not known), `speed` the tokens that it reads in a second (0 while not measured), `counted` how
    many tokens of a request it counts for one of ours, `answers` the tokens of the last answers by
    role; it `thinks` when it was seen to reason before it answers; it `streams` where it refused
    to answer otherwise, and not where it refused that (None as long as it refused neither).
    """

    model_config = ConfigDict(frozen=True)

    room: RoomName | Literal[""] = ""
    temperature: bool = True
    context: int = 0
    speed: float = 0.0
    counted: float = Field(default=1.0, ge=1, le=MOST_COUNTED)
    answers: dict[Role, tuple[int, ...]] = {}
    thinks: bool = False
    streams: bool | None = None


class Lessons:
    """What is known of one model, which is told apart by `key`; loaded before it is used."""

    def __init__(self, home: Path, key: str) -> None:
        digest = hashlib.sha256(key.encode(errors="replace")).hexdigest()[:40]
        self._path = home / "servers" / f"{digest}.json"
        self._kept: Learned | None = None
        self._work, self._seconds, self._most = 0.0, 0.0, 0
        self.known = Learned()

    async def load(self) -> None:
        """Take up what earlier runs have learned, once."""
        if self._kept is None:
            found = await on_disk(self._read)
            if self._kept is None:  # nobody else was faster
                self._kept = self.known = found

    async def save(self) -> None:
        """Keep what is new. What cannot be kept is only learned again."""
        if self._kept is not None and self.known != self._kept:
            data = self.known.model_dump_json().encode()
            with suppress(OSError):
                await on_disk(write_atomically, self._path, data)

    def learn(self, **changes: Any) -> None:
        """Know better from now on, by the field names of Learned."""
        self.known = self.known.model_copy(update=changes)

    def took(self, tokens_in: int, tokens_out: int, seconds: float) -> None:
        """An answer came after so many seconds: the speed is that of all answers of this run."""
        self._work += tokens_in + WRITTEN * tokens_out
        self._seconds += seconds
        if self._work >= LEAST_WORK:
            self.learn(speed=round(self._work / max(self._seconds, 0.001), 1))

    def answered(self, role: Role, length: int, *, thought: bool) -> None:
        """An answer of a role had so many tokens, thoughts included."""
        answers = self.known.answers
        last = (*answers.get(role, ()), length)[-REMEMBERED:]
        self.learn(answers=answers | {role: last}, thinks=self.known.thinks or thought)

    def cuts_in_silence(self, ours: int, theirs: int) -> bool:
        """Return whether a server that counts so many tokens in a request has dropped some of ours:
        far fewer than were sent, no fewer than it has counted before, and not so few that they may
        be those that it had not read before.
        """
        before, self._most = self._most, max(self._most, theirs)
        return theirs < CUT_SHARE * ours and theirs >= max(before, LEAST_CONTEXT)

    def counts(self, ours: int, theirs: int) -> None:
        """A request of so many tokens as counted here had so many for the server."""
        if ours >= TELLING_REQUEST:
            counted = min(MOST_COUNTED, round(theirs / ours, 2))
            self.learn(counted=max(self.known.counted, counted))

    def _read(self) -> Learned:
        try:
            if time.time() - self._path.stat().st_mtime > KEPT_SECONDS:
                return Learned()
            return Learned.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return Learned()


class Gate:
    """Lets at most `limit` calls through. A 429 halves it; as many answers in a row add one."""

    def __init__(self, address: str) -> None:
        self._address = address
        #: Infinite before the endpoint has said that anything is too much.
        self.limit = float("inf")
        self._lock = threading.Lock()
        self._room = Room()
        self._answers = 0
        self._lowered_at = self._closed_until = time.monotonic()

    @asynccontextmanager
    async def through(self, party: Hashable, most: int) -> AsyncIterator[float]:
        """Room for one call of a party, waited for as long as `most` are under way; gives the
        moment it began, on the clock of `time.monotonic`.
        """

        def allowed() -> int:
            closed = time.monotonic() < self._closed_until
            return 0 if closed else int(min(most, self.limit))

        async with shared_place(self._address, allowed) as visit, self._room.place(party, allowed):
            try:
                yield time.monotonic()
            finally:
                visit.shut = max(0.0, self._closed_until - time.monotonic())

    def answered(self, most: int) -> None:
        """A call was answered, of one who may make so many."""
        with self._lock:
            self._answers += 1
            if more := self._answers >= self.limit < most:
                self.limit, self._answers = self.limit + 1, 0
        if more:
            self._room.look_again()

    def limited(self, began: float, seconds: float, most: int) -> None:
        """A call that `began` then was told to come back in so many seconds; until then nobody goes
        through. Of calls under way together only the first lowers the limit.
        """
        with self._lock:
            now = time.monotonic()
            self._closed_until = max(self._closed_until, now + seconds)
            opens = self._closed_until - now
            self._answers = 0
            if began >= self._lowered_at:
                self.limit, self._lowered_at = max(1, min(most, self.limit) // 2), now
        # A thread, since the event loop of this call may end before those of others who wait. It
        # may strike a moment early.
        timer = threading.Timer(opens + 0.001, self._room.look_again)
        timer.daemon = True
        timer.start()


#: The gates of this process, by the addresses of their endpoints.
GATES: dict[str, Gate] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=GATES.clear)  # who was inside is not copied


def gate_at(address: str) -> Gate:
    """The gate of an endpoint, for all of the process."""
    return GATES.setdefault(address, Gate(address))

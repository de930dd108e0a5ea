"""Learn a model server's properties, such as accepted parameters, context size and speed."""

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
from spadework.tools.stores.private_files import write_atomically
from spadework.tools.web.fair_queue import Room, shared_place

#: The assumed number of tokens in a long answer, by role, until real lengths are known.
ANSWERS: dict[Role, int] = {
    "lead": 1_200,
    "assessor": 900,
    "judge": 600,
    "cleaner": 600,
    "writer": 900,
    "verifier": 600,
}
#: The number of tokens to expect for reasoning before a long answer.
THOUGHTS = 2_000
#: The number of answer lengths to remember per role.
REMEMBERED = 8
#: The expected length of an answer is at most this many times the longest remembered one. If
#: lengths are log-normal with a standard deviation of half the mean, one answer in 40 exceeds this
#: length (one in 9 without the factor).
MARGIN = 1.5
CLOSING: tuple[Role, ...] = ("writer", "verifier")


def usual(role: Role, answers: Sequence[int], *, thinks: bool) -> int:
    """Return the maximum tokens to expect in a role's answer, including reasoning."""
    longest = int(MARGIN * max(answers, default=0))
    if len(answers) >= REMEMBERED:
        return longest
    return max(longest, ANSWERS[role] + (THOUGHTS if thinks else 0))


RoomName = Literal["max_tokens", "max_completion_tokens"]

#: The number of seconds that stored knowledge about a model server stays valid. After that, the
#: server might run another model.
KEPT_SECONDS = 7 * 86_400
#: The assumed time to write a token, as a multiple of the time to read one.
WRITTEN = 6
#: The minimum number of tokens from which a model's speed is calculated. With fewer, latency
#: dominates.
LEAST_WORK = 100
#: The minimum plausible context size, in tokens.
LEAST_CONTEXT = 1_000
#: If the server's token count is below this fraction of ours, assume that the server dropped part
#: of the text, because tokenizers do not differ that much.
CUT_SHARE = 0.6
#: Our token count is compared with the server's only for requests of at least TELLING_REQUEST
#: tokens. The ratio of the server's count to ours is capped at MOST_COUNTED.
TELLING_REQUEST, MOST_COUNTED = 500, 3.0


class Learned(BaseModel):
    """What was learned about a model at its server.
    - `room`: the parameter that limits the answer's length, or "" for the default.
    - `context` (tokens) and `speed` (tokens read per second): 0 if unknown.
    - `counted`: the server's token count divided by ours.
    - `answers`: the latest answer lengths by role.
    - `streams`: whether to stream replies, or None while both ways work.
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
    """What was learned about the model that `key` names, kept on disk. Call `load` before use."""

    def __init__(self, home: Path, key: str) -> None:
        digest = hashlib.sha256(key.encode(errors="replace")).hexdigest()[:40]
        self._path = home / "servers" / f"{digest}.json"
        self._kept: Learned | None = None
        self._work, self._seconds, self._most = 0.0, 0.0, 0
        self.known = Learned()

    async def load(self) -> None:
        """Load what earlier runs learned, unless it is already loaded."""
        if self._kept is None:
            found = await on_disk(self._read)
            if self._kept is None:  # another call may have loaded it meanwhile
                self._kept = self.known = found

    async def save(self) -> None:
        """Store what was newly learned. Failures are ignored, because it can be learned again."""
        if self._kept is not None and self.known != self._kept:
            data = self.known.model_dump_json().encode()
            with suppress(OSError):
                await on_disk(write_atomically, self._path, data)

    def learn(self, **changes: Any) -> None:
        """Update fields of `known`."""
        self.known = self.known.model_copy(update=changes)

    def took(self, tokens_in: int, tokens_out: int, seconds: float) -> None:
        """Record how long an answer took, and update the speed."""
        self._work += tokens_in + WRITTEN * tokens_out
        self._seconds += seconds
        if self._work >= LEAST_WORK:
            self.learn(speed=round(self._work / max(self._seconds, 0.001), 1))

    def answered(self, role: Role, length: int, *, thought: bool) -> None:
        """Record the number of tokens in a role's answer, including its reasoning."""
        answers = self.known.answers
        last = (*answers.get(role, ()), length)[-REMEMBERED:]
        self.learn(answers=answers | {role: last}, thinks=self.known.thinks or thought)

    def cuts_in_silence(self, ours: int, theirs: int) -> bool:
        """Return whether the server silently dropped part of a request, given our token count and
        the server's. A count below the server's highest so far is ignored, because it may
        exclude cached text.
        """
        before, self._most = self._most, max(self._most, theirs)
        return theirs < CUT_SHARE * ours and theirs >= max(before, LEAST_CONTEXT)

    def counts(self, ours: int, theirs: int) -> None:
        """Learn how the server's token count of a request differs from ours."""
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
    """A limit on an endpoint's concurrent calls. Refusals halve it, and answers slowly raise it."""

    def __init__(self, address: str) -> None:
        self._address = address
        #: The maximum number of concurrent calls. It is infinite until the endpoint refuses a call.
        self.limit = float("inf")
        self._lock = threading.Lock()
        self._room = Room()
        self._answers = 0
        self._lowered_at = self._closed_until = time.monotonic()

    @asynccontextmanager
    async def through(self, party: Hashable, most: int) -> AsyncIterator[float]:
        """Wait until `party`, such as a run, may start a call, and yield the start time
        (`time.monotonic`). At most `most` calls run at once, and none starts during a pause.
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
        """Record an answered call. `most` is the caller's own limit on concurrent calls."""
        with self._lock:
            self._answers += 1
            if more := self._answers >= self.limit < most:
                self.limit, self._answers = self.limit + 1, 0
        if more:
            self._room.look_again()

    def limited(self, began: float, seconds: float, most: int) -> None:
        """Record a refused call that started at `began`, and pause all calls for `seconds`.

        If concurrent calls are refused, only the first refusal lowers the limit.
        """
        with self._lock:
            now = time.monotonic()
            self._closed_until = max(self._closed_until, now + seconds)
            opens = self._closed_until - now
            self._answers = 0
            if began >= self._lowered_at:
                self.limit, self._lowered_at = max(1, min(most, self.limit) // 2), now
        # Use a thread for the timer, because other callers' event loops may outlive this one. Add a
        # millisecond, because timers can fire early.
        timer = threading.Timer(opens + 0.001, self._room.look_again)
        timer.daemon = True
        timer.start()


GATES: dict[str, Gate] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=GATES.clear)  # a child process has no running calls


def gate_at(address: str) -> Gate:
    """Return the process-wide gate of an endpoint."""
    return GATES.setdefault(address, Gate(address))

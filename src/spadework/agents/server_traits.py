"""What a run learns about a model's server, kept for some days, one small file a model."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spadework.agents.answer_length import REMEMBERED
from spadework.settings import Role
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.page_store import write_atomically

Room = Literal["max_tokens", "max_completion_tokens"]

#: What was learned is believed so long: a server may start anew with another model or context.
KEPT_SECONDS = 7 * 86_400
#: A token written counts for so many read: it takes longer.
WRITTEN = 6
#: Work, in tokens, below which an answer says more about the way to the server than about it.
LEAST_WORK = 100
#: Tokens of a request that says how the server counts; the most it may count for one of ours.
TELLING_REQUEST, MOST_COUNTED = 500, 3.0


class Learned(BaseModel):
    """What is known of a model at its server. `room` is the parameter that limits an answer ("" as
    long as none was refused), `context` the tokens of a request and its answer together (0 while
    not known), `speed` the tokens that it reads in a second (0 while not measured), `counted` how
    many tokens of a request it counts for one of ours, `answers` the tokens of the last answers by
    role; it `thinks` when it was seen to reason before it answers.
    """

    model_config = ConfigDict(frozen=True)

    room: Room | Literal[""] = ""
    temperature: bool = True
    context: int = 0
    speed: float = 0.0
    counted: float = Field(default=1.0, ge=1, le=MOST_COUNTED)
    answers: dict[Role, tuple[int, ...]] = {}
    thinks: bool = False


class Lessons:
    """What is known of one model, which is told apart by `key`; loaded before it is used."""

    def __init__(self, home: Path, key: str) -> None:
        digest = hashlib.sha256(key.encode(errors="replace")).hexdigest()[:40]
        self._path = home / "servers" / f"{digest}.json"
        self._kept: Learned | None = None
        self._work, self._seconds = 0.0, 0.0
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

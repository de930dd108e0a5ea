"""Common fields of events: time, duration, and identity.

A resumed run repeats events since its last checkpoint. `settled` returns each once, as an
undisturbed run would have recorded them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, TypeVar

from spadework.values import Value

#: Version of the record's format. 0 has no times.
VERSION = 1


class Timed(Value):
    """`v` is the record's version, `at` the time of the event, and `after` the second of the run,
    on a clock that stops while nobody works on it; `seconds` is the duration, None if instant.

    In version 0 none of them is known.
    """

    #: Fields that identify what an event is about: events equal in them describe the same thing.
    #: Empty: each event stands alone.
    about: ClassVar[tuple[str, ...]] = ()
    #: Kind of that thing; "": the event's own type.
    thing: ClassVar[str] = ""

    v: int = 0
    at: datetime | None = None
    after: float | None = None
    seconds: float | None = None

    @property
    def failed(self) -> bool:
        """Whether it reports a failure that a retry may fix."""
        return False

    @property
    def key(self) -> str:
        """The identity of what it is about, "" if it stands alone."""
        if not self.about:
            return ""
        told = self.model_dump(mode="json", include={"type", *self.about})
        told["type"] = self.thing or told["type"]
        return json.dumps(told, sort_keys=True, ensure_ascii=False)


E = TypeVar("E", bound=Timed)


def settle_events(events: Iterable[E]) -> list[E]:
    """Return the events with each thing once, in order of first appearance: its first success, else
    its last failure.
    """
    known: dict[str, E] = {}
    for n, event in enumerate(events):
        key = event.key or str(n)
        before = known.get(key)
        if before is None or before.failed:
            known[key] = event
    return list(known.values())

"""What every event carries beside what it tells: when that was, how long it took, and with what it
is one.

A run that was killed and taken up tells again what it had told since its last checkpoint.
`settled` gives each thing once, as an undisturbed run would have told it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, TypeVar

from spadework.values import Value

#: The version of the record: of its lines, and of what they mean. 0 is the one without times.
VERSION = 1


class Timed(Value):
    """`v` is the version of the record it stands in, `at` the moment it was told and `after` the
    second of the run, on a clock that stands still while nobody works on it; `seconds` is how long
    it took what it tells of, None where it took no time.

    In a record of version 0 none of them is known.
    """

    #: The fields that say what an event is about: events alike in them tell of the same thing. One
    #: that has none stands for itself.
    about: ClassVar[tuple[str, ...]] = ()
    #: What kind of thing that is; "": that of the event's own type.
    thing: ClassVar[str] = ""

    v: int = 0
    at: datetime | None = None
    after: float | None = None
    seconds: float | None = None

    @property
    def failed(self) -> bool:
        """Whether it tells that something could not be done, which may be done yet."""
        return False

    @property
    def key(self) -> str:
        """What it is about, "" for what stands for itself."""
        if not self.about:
            return ""
        told = self.model_dump(mode="json", include={"type", *self.about})
        told["type"] = self.thing or told["type"]
        return json.dumps(told, sort_keys=True, ensure_ascii=False)


E = TypeVar("E", bound=Timed)


def settle_events(events: Iterable[E]) -> list[E]:
    """The events, each thing once, in first order: as told first, or as it failed last."""
    known: dict[str, E] = {}
    for n, event in enumerate(events):
        key = event.key or str(n)
        before = known.get(key)
        if before is None or before.failed:
            known[key] = event
    return list(known.values())

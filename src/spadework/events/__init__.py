"""What happens in a run, as it happens: a tagged union that every front door words in its own way.
Written down in this order, events are the record of the run, from which its other files are drawn.

The graph writes events to LangGraph's custom stream as JSON objects; `parse_event` gives them back
typed.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from spadework.events.judgement_events import Assessed, Called, Distilled, Proven, Scored, Verdict
from spadework.events.run_events import (
    APPROVE,
    Answered,
    Asked,
    Ended,
    Finished,
    Notice,
    Planned,
    Started,
    Troubled,
    Wrote,
)
from spadework.events.search_events import (
    Checked,
    Cleaned,
    Read,
    Reading,
    Searched,
    Selected,
    Unanswered,
)
from spadework.events.timed import VERSION, Timed, settle_events

__all__ = [
    "APPROVE",
    "VERSION",
    "Answered",
    "Asked",
    "Assessed",
    "Called",
    "Checked",
    "Cleaned",
    "Distilled",
    "Ended",
    "Event",
    "Finished",
    "Notice",
    "Planned",
    "Proven",
    "Read",
    "Reading",
    "Scored",
    "Searched",
    "Selected",
    "Started",
    "Timed",
    "Troubled",
    "Unanswered",
    "Verdict",
    "Wrote",
    "parse_event",
    "read_event",
    "settle_events",
]

Event = Annotated[
    Started
    | Notice
    | Asked
    | Answered
    | Planned
    | Searched
    | Unanswered
    | Checked
    | Selected
    | Reading
    | Read
    | Cleaned
    | Called
    | Distilled
    | Proven
    | Scored
    | Assessed
    | Troubled
    | Wrote
    | Finished
    | Ended,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def parse_event(data: dict[str, Any]) -> Event:
    """The typed event of a JSON object."""
    return _EVENT.validate_python(data)


def read_event(line: bytes) -> Event:
    """The typed event of a line of JSON."""
    return _EVENT.validate_json(line)

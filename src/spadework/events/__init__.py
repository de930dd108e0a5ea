"""Events of a run: a tagged union that each interface words in its own way. Recorded in order, they
are the run's record, from which its other files are drawn.

The graph writes events to LangGraph's custom stream as JSON objects; `parse_event` returns them
typed.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from spadework.events.judgement_events import Assessed as Assessed
from spadework.events.judgement_events import Called as Called
from spadework.events.judgement_events import Distilled as Distilled
from spadework.events.judgement_events import Proven as Proven
from spadework.events.judgement_events import Scored as Scored
from spadework.events.judgement_events import Verdict as Verdict
from spadework.events.run_events import APPROVE as APPROVE
from spadework.events.run_events import Answered as Answered
from spadework.events.run_events import Asked as Asked
from spadework.events.run_events import Ended as Ended
from spadework.events.run_events import Finished as Finished
from spadework.events.run_events import Notice as Notice
from spadework.events.run_events import Planned as Planned
from spadework.events.run_events import Started as Started
from spadework.events.run_events import Troubled as Troubled
from spadework.events.run_events import Wrote as Wrote
from spadework.events.search_events import Checked as Checked
from spadework.events.search_events import Cleaned as Cleaned
from spadework.events.search_events import Read as Read
from spadework.events.search_events import Reading as Reading
from spadework.events.search_events import Searched as Searched
from spadework.events.search_events import Selected as Selected
from spadework.events.search_events import Unanswered as Unanswered
from spadework.events.timed import VERSION as VERSION
from spadework.events.timed import Timed as Timed
from spadework.events.timed import settle_events as settle_events

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
    """Return the typed event of a JSON object."""
    return _EVENT.validate_python(data)


def read_event(line: bytes) -> Event:
    """Return the typed event of a JSON line."""
    return _EVENT.validate_json(line)

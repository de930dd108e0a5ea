"""Logging of a run, and its export to OpenTelemetry."""

from __future__ import annotations

from typing import get_args

from pydantic import BaseModel, field_validator

from spadework.settings.environment import Concern, LogLevel

CONCERNS: tuple[Concern, ...] = get_args(Concern)
LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


class Observing(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Logging of a run, and its export to OpenTelemetry."""

    # Logs
    log: str = ""
    """What to log in `logs/` of a session, one file per concern: a level (debug, info, warning,
    error) for all, or for some (`search=debug,model=info`) of search, crawl, clean, model and
    orchestrator. Unset: nothing. Queries and reasons appear at debug only.
    """
    log_json: bool = False
    """Write log lines as JSON."""
    otel: bool = False
    """Export every run to OpenTelemetry as spans and metrics, by its conventions for generative AI.
    Needs the extra `otel`; OpenTelemetry's own variables set the destination.
    """

    @field_validator("log", mode="after")
    @classmethod
    def _of_known_words(cls, value: str) -> str:
        levels_of(value)
        return value


def levels_of(log: str) -> dict[Concern, LogLevel]:
    """Return the level of each topic that is logged. Raises ValueError for an unknown word."""
    found: dict[Concern, LogLevel] = {}
    for word in filter(None, (word.strip() for word in log.split(","))):
        name, _, level = word.rpartition("=")
        known: LogLevel | None = next((o for o in LEVELS if o == level.strip().lower()), None)
        named: tuple[Concern, ...] = tuple(o for o in CONCERNS if o == name.strip().lower())
        asked = named if name else CONCERNS
        if known is None or not asked:
            raise ValueError(
                f"{word!r} is no level ({', '.join(LEVELS)}) and no concern"
                f" ({', '.join(CONCERNS)}) with one, such as search=debug"
            )
        found |= dict.fromkeys(asked, known)
    return found

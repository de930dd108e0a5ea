"""What all values are: frozen and small."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value; an unknown field is an error, so that a typing slip cannot pass silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")

"""Bounds of what stands in an answer, said to the model and kept to by code."""

from __future__ import annotations

from typing import Any

from pydantic import Field


def at_most(count: int) -> Any:
    """A list in an answer, of so many items at most: said to the model, which may else ramble on; a
    longer one is taken.
    """
    return Field(json_schema_extra={"maxItems": count})


def within(low: float, high: float) -> Any:
    """A number in an answer, with bounds that are said to the model; one beyond them is taken."""
    return Field(json_schema_extra={"minimum": low, "maximum": high})

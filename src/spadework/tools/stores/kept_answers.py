"""Answers and failures as the journal keeps them."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from spadework import errors
from spadework.errors import SpadeworkError

T = TypeVar("T")


def answer_in(row: tuple[str | None, str | None], shape: type[T]) -> tuple[T] | None:
    """The answer in a row, None where it is damaged. Raises the failure that was kept."""
    answer, error = row
    if error is not None:
        try:
            name, message, hint = json.loads(error)
            kept: type[SpadeworkError] = getattr(errors, name)
            failure = kept(message, hint=hint)
        except (ValueError, TypeError, AttributeError):
            return None
        raise failure
    try:
        return (TypeAdapter(shape).validate_json(answer or "null"),)
    except ValidationError:
        return None

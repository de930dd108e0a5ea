"""The base of all values: frozen, small, with visible text only."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from spadework.visible import visible


class Visible(BaseModel):
    """A model whose texts are stripped of invisible characters.

    Titles, snippets, quotes and model output pass through one on their way to every file and
    screen.
    """

    def model_post_init(self, context: Any) -> None:
        """Make the texts visible. Validators would run for every field."""
        for name, value in self.__dict__.items():
            vars(self)[name] = _visible_value(value)


class Value(Visible):
    """A frozen value; an unknown field is an error, so that typos are noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _visible_value(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if type(value) in (tuple, list) and value and not isinstance(value[0], BaseModel):
        return type(value)(_visible_value(one) for one in value)
    if type(value) is dict:
        return {_visible_value(name): _visible_value(one) for name, one in value.items()}
    return value

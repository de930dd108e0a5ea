"""Define the base class of all values, which are frozen and contain only visible text."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from spadework.visible import visible

#: Values used instead of a model's name for the maker or judge of a sentence.
CODE, NOBODY = "code", "nobody"


class Visible(BaseModel):
    """A pydantic model whose texts contain no invisible characters."""

    def model_post_init(self, context: Any) -> None:
        """Remove invisible characters from all text fields."""
        for name, value in self.__dict__.items():
            vars(self)[name] = _visible_value(value)


class Value(Visible):
    """A frozen value. Unknown fields are errors, to expose typos."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _visible_value(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if type(value) in (tuple, list) and value and not isinstance(value[0], BaseModel):
        return type(value)(_visible_value(one) for one in value)
    if type(value) is dict:
        return {_visible_value(name): _visible_value(one) for name, one in value.items()}
    return value

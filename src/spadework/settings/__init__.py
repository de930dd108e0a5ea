"""Define all settings. They are read from environment variables such as `SPADEWORK_MINUTES`, or
passed as keyword arguments. `docs/settings.md` and Studio's form show the fields' docstrings and
bounds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import (
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError as UnreadableVariable

from spadework.errors import SettingsError, must_be
from spadework.form import as_form, sentence
from spadework.home import absolute
from spadework.settings.sources import (
    Budgets,
    Cleaning,
    Effort,
    Judging,
    Models,
    Observing,
    Reading,
    Role,
    Searching,
    Serving,
    Users,
    tell_unread,
)

__all__ = ["DEFAULT_MODEL", "DEFAULT_SMALL_MODEL", "Cleaning", "Effort", "Role", "Settings"]

DEFAULT_MODEL = "openai:gpt-5-mini"
DEFAULT_SMALL_MODEL = "openai:gpt-5-nano"


class Settings(  # pyright: ignore[reportIncompatibleVariableOverride]  # its own is below
    Users, Observing, Serving, Judging, Reading, Searching, Budgets, Models, BaseSettings
):
    """The settings of a run. `settings.with_(minutes=5)` returns a changed copy."""

    model_config = SettingsConfigDict(
        env_prefix="SPADEWORK_",
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        json_schema_extra=as_form,
    )

    _given: frozenset[str] = PrivateAttr(default=frozenset())
    #: The server's home folder if these settings belong to one of the server's users, else None.
    _common: Path | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _in_one_sentence(cls, data: Any, checked: ModelWrapValidatorHandler[Self]) -> Self:
        # Shorten errors here, because settings passed as a graph's context bypass `load`.
        try:
            return checked(data)
        except ValidationError as error:
            raise SettingsError(sentence(error, cls.model_fields)) from None

    @field_validator("home", "library", mode="after")
    @classmethod
    def _absolute(cls, value: Any) -> Any:
        if isinstance(value, Path):
            return absolute(value)
        return value and tuple(absolute(path) for path in value)

    @field_validator("search_until", mode="after")
    @classmethod
    def _in_order(cls, value: Any, info: ValidationInfo) -> Any:
        first = info.data.get("search_since")
        if value and first and value < first:
            raise ValueError(f"it should be no earlier than search_since ({first})")
        return value

    @classmethod
    def load(cls, **given: Any) -> Self:
        """Return settings from the environment and `given`, ignoring None. Raises SettingsError."""
        asked = {name: value for name, value in given.items() if value is not None}
        try:
            made = cls(**asked)
        except UnreadableVariable as error:
            raise SettingsError(f"An environment variable cannot be read: {error}.") from None
        made._given = frozenset(asked)
        tell_unread(cls.model_fields)
        return made

    @property
    def given(self) -> frozenset[str]:
        """The fields that were set explicitly."""
        return self._given

    def with_(self, **changes: Any) -> Self:
        """Return a validated copy with `changes`. None means "unchanged"."""
        kept = {name: getattr(self, name) for name in self.model_fields_set}
        asked = {name: value for name, value in changes.items() if value is not None}
        made = self.load(**kept | asked)
        made._given = self._given | frozenset(asked)
        made._common = self._common
        return made

    def within(self, common: Path) -> Self:
        """Return a copy for a user of a server. `common` is the server's home."""
        made = self.model_copy()
        made._common = absolute(common)
        return made

    @property
    def common(self) -> Path:
        """The home for data shared by all users, such as library indexes."""
        return self._common or self.home

    @property
    def owner(self) -> str:
        """The user's home as a path relative to the common home, or "" for the server's owner.
        Raises SettingsError if the user's home is outside the common home.
        """
        if not self.home.is_relative_to(self.common):
            wanted = f"in {self.common} if machines share a database"
            raise SettingsError(must_be("home", wanted, str(self.home)))
        return "" if self.home == self.common else self.home.relative_to(self.common).as_posix()

    def model_for(self, role: Role) -> str:
        """Return a role's model as PROVIDER:NAME, or "" if the role has none."""
        own = {"lead": "", "writer": self.writer_model}.get(role, self.judge_model)
        named = own or self.model
        if named or not self.openai_api_key or self.openai_base_url:
            return named
        return DEFAULT_SMALL_MODEL if role in ("judge", "cleaner") else DEFAULT_MODEL

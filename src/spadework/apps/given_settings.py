"""The settings that the options of a command give."""

from __future__ import annotations

from typing import Any

import typer


def settings_of(context: typer.Context, **more: Any) -> Any:
    """The settings of a command: those of its options that are named like one, and `more`."""
    from spadework.settings import Settings

    given = {name: told for name, told in context.params.items() if name in Settings.model_fields}
    return settings_from(**given | {"library": tuple(given["library"] or ()) or None} | more)


def settings_from(**given: Any) -> Any:
    """The settings with what was given; None is "not given"."""
    # Importing them takes longer than a help text.
    from spadework.settings import Settings

    return Settings.load(**given)

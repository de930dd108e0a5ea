"""What the commands say, as lines of text: on a terminal as in a pipe or a file, nothing in them is
a command to a terminal.
"""

from __future__ import annotations

import typer

from spadework.visible import visible


def say(text: str, *, err: bool = False) -> None:
    """Write a text on standard output, or on standard error."""
    typer.echo(visible(text), err=err)

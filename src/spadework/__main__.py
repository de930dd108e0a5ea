"""Run `python -m spadework`."""

from spadework.apps.cli import console

console()

"""`python -m spadework`."""

from spadework.apps.cli import main

main()

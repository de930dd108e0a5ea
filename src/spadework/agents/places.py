"""Where a model is asked."""

from __future__ import annotations

from typing import NamedTuple

from spadework.agents.providers import label_of


class Place(NamedTuple):
    """A model PROVIDER:NAME, and the address of the compatible server behind which it is ("" for
    the provider's own).
    """

    name: str
    base_url: str

    @property
    def label(self) -> str:
        """Its name in reports."""
        return label_of(self.name)
